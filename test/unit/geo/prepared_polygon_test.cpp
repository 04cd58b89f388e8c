// Points in prepared polygons, against a plain loop over the rings, and by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "geo/prepare_polygon.hpp"
#include "geometry_bytes.hpp"

using namespace strom::geo;
using namespace strom::geo::test;

namespace {

Rings rings_of(const std::vector<Polygon>& polygons) {
  const std::string bytes = serialized(polygons);
  return read_rings(bytes.data(), static_cast<int64_t>(bytes.size()));
}

Answer plain_answer(const Rings& rings, Point p) {
  if (p.x > rings.box.max_x) return Answer::kOutside;  // whatever rounding says
  RingTally tally;
  for (const PreparedRing& ring : rings.rings) {
    RingWinding winding;
    for (uint32_t i = 0; i + 1 < ring.count; ++i)
      winding.add_edge(rings.points[ring.first_point + i], rings.points[ring.first_point + i + 1], p);
    tally.add(ring.part, ring.shell != 0, winding);
  }
  return tally.answer();
}

Answer locate(const std::vector<Polygon>& polygons, Point p) {
  const Rings rings = rings_of(polygons);
  const std::vector<char> with = prepare_polygon(rings, Raster::kWith), none = prepare_polygon(rings, Raster::kNone);
  const Answer answer = PreparedPolygon(with.data()).locate(p);
  EXPECT_EQ(PreparedPolygon(none.data()).locate(p), answer);
  return answer;
}

TEST(PreparedPolygon, KnowsInsideBoundaryAndHoles) {
  const std::vector<Polygon> polygon{{rectangle(0, 0, 10, 10), rectangle(2, 2, 4, 4)}};
  EXPECT_EQ(locate(polygon, {1, 1}), Answer::kInside);
  EXPECT_EQ(locate(polygon, {3, 3}), Answer::kOutside);
  EXPECT_EQ(locate(polygon, {2, 3}), Answer::kBoundary);
  EXPECT_EQ(locate(polygon, {4, 4}), Answer::kBoundary);
  EXPECT_EQ(locate(polygon, {0, 0}), Answer::kBoundary);
  EXPECT_EQ(locate(polygon, {10, 3.3}), Answer::kBoundary);
  EXPECT_EQ(locate(polygon, {5, 10}), Answer::kBoundary);
  EXPECT_EQ(locate(polygon, {std::nextafter(10, 11), 3}), Answer::kOutside);
  EXPECT_EQ(locate(polygon, {std::nextafter(10, 9), 3}), Answer::kInside);
  EXPECT_EQ(locate(polygon, {NAN, 3}), Answer::kUncertain);
  EXPECT_EQ(locate(polygon, {3, INFINITY}), Answer::kUncertain);
}

// No number lies in the middle of a cell that is narrower than the distance of neighbouring numbers.
TEST(PreparedPolygon, HasNoCellsThatAreTooNarrow) {
  constexpr double kFar = 1e15;
  const Ring ring{{kFar + 0.625, 2.0 / 3}, {kFar + 1, 7.0 / 3},     {kFar + 2, 5.0 / 3},    {kFar + 1, 0},
                  {kFar, 4.0 / 3},         {kFar + 2.625, 8.0 / 3}, {kFar + 0.625, 2.0 / 3}};
  const Rings rings = rings_of({{ring}});
  for (int x = -2; x < 25; ++x)
    for (int y = -4; y < 100; ++y) {
      const Point p{kFar + x / 8.0, y / 33.0};
      EXPECT_EQ(locate({{ring}}, p), plain_answer(rings, p)) << x << " " << y;
    }
}

TEST(PreparedPolygon, LeavesWhatIsNotValidToPostgis) {
  // Two parts overlap.
  const std::vector<Polygon> overlap{{rectangle(0, 0, 10, 10)}, {rectangle(5, 0, 15, 10)}};
  EXPECT_EQ(locate(overlap, {7, 5}), Answer::kUncertain);
  EXPECT_EQ(locate(overlap, {2, 5}), Answer::kInside);
  EXPECT_EQ(locate(overlap, {5, 5}), Answer::kUncertain);
  EXPECT_EQ(locate(overlap, {12, 5}), Answer::kInside);
  // A hole that leaves its shell.
  const std::vector<Polygon> hole{{rectangle(0, 0, 10, 10), rectangle(8, 4, 12, 6)}};
  EXPECT_EQ(locate(hole, {9, 5}), Answer::kOutside);
  EXPECT_EQ(locate(hole, {11, 5}), Answer::kUncertain);
  EXPECT_EQ(locate(hole, {12, 5}), Answer::kUncertain);
  // A ring that goes around twice.
  Ring twice = rectangle(0, 0, 10, 10);
  const Ring again = rectangle(0, 0, 5, 5);
  twice.insert(twice.end(), again.begin() + 1, again.end());
  EXPECT_EQ(locate({{twice}}, {3, 3}), Answer::kUncertain);
  EXPECT_EQ(locate({{twice}}, {7, 3}), Answer::kInside);
  // A bow tie has no doubtful points.
  const std::vector<Polygon> bow{{{{0, 0}, {10, 10}, {10, 0}, {0, 10}, {0, 0}}}};
  EXPECT_EQ(locate(bow, {9, 5}), Answer::kInside);
  EXPECT_EQ(locate(bow, {1, 5}), Answer::kInside);
  EXPECT_EQ(locate(bow, {5, 9}), Answer::kOutside);
  EXPECT_EQ(locate(bow, {5, 5}), Answer::kBoundary);
}

TEST(PreparedPolygon, HasTouchingPartsAndEmptyOnes) {
  const std::vector<Polygon> parts{{rectangle(0, 0, 5, 5)}, {}, {rectangle(5, 5, 9, 9)}};
  EXPECT_EQ(locate(parts, {5, 5}), Answer::kBoundary);
  EXPECT_EQ(locate(parts, {6, 6}), Answer::kInside);
  EXPECT_EQ(locate({}, {0, 0}), Answer::kOutside);
  EXPECT_EQ(locate({{}}, {0, 0}), Answer::kOutside);
}

TEST(PreparedPolygon, HasPolygonsWithoutExtent) {
  const std::vector<Polygon> level{{{{0, 0}, {5, 0}, {9, 0}, {0, 0}}}};
  EXPECT_EQ(locate(level, {3, 0}), Answer::kBoundary);
  EXPECT_EQ(locate(level, {3, 1}), Answer::kOutside);
  const std::vector<Polygon> spot{{{{1, 1}, {1, 1}, {1, 1}, {1, 1}}}};
  EXPECT_EQ(locate(spot, {1, 1}), Answer::kUncertain);
  EXPECT_EQ(locate(spot, {1, 2}), Answer::kOutside);
}

/// Coordinates of a coarse grid, so that edges meet, overlap and run through vertices.
Ring random_ring(std::mt19937_64* random, int points, double unit, Point offset) {
  Ring ring;
  for (int i = 0; i < points; ++i)
    ring.push_back({offset.x + unit * static_cast<double>((*random)() % 8),
                    offset.y + unit * static_cast<double>((*random)() % 8)});
  ring.push_back(ring[0]);
  return ring;
}

TEST(PreparedPolygon, IsThePlainLoop) {
  std::mt19937_64 random(7);
  int answers[4] = {};
  for (int i = 0; i < 3000; ++i) {
    const double unit = std::ldexp(1.0 + 0.1 * static_cast<double>(i % 3), i % 5 == 0 ? -40 : i % 5 == 1 ? 30 : 0);
    const Point offset{i % 4 == 0 ? 1e6 : 0, i % 8 == 0 ? -1e3 : 0};
    std::vector<Polygon> polygons;
    for (uint64_t part = 0; part <= random() % 3; ++part) {
      Polygon polygon;
      for (uint64_t ring = 0; ring <= random() % 3; ++ring)
        polygon.push_back(random_ring(&random, 3 + static_cast<int>(random() % 12), unit, offset));
      polygons.push_back(std::move(polygon));
    }
    const Rings rings = rings_of(polygons);
    ASSERT_TRUE(rings.decidable);
    const std::vector<char> with = prepare_polygon(rings, Raster::kWith);
    const std::vector<char> none = prepare_polygon(rings, Raster::kNone);
    for (int k = 0; k < 100; ++k) {
      Point p{offset.x + unit * static_cast<double>(random() % 33) / 4,
              offset.y + unit * static_cast<double>(random() % 33) / 4};
      if (k % 3 == 0) p.x = std::nextafter(p.x, k % 2 == 0 ? 1e9 : -1e9);
      if (k % 7 == 0) p.x += unit * static_cast<double>(random() % 1000) / 1000;
      const Answer expected = plain_answer(rings, p);
      ++answers[static_cast<int>(expected)];
      ASSERT_EQ(PreparedPolygon(with.data()).locate(p), expected) << i << " " << k;
      ASSERT_EQ(PreparedPolygon(none.data()).locate(p), expected) << i << " " << k;
    }
  }
  for (const int count : answers) EXPECT_GT(count, 1000);
}

TEST(PreparedPolygon, HasLongEdgesInFewRuns) {
  Ring comb;  // each edge is as high as the polygon
  for (int i = 0; i < 2000; ++i) comb.push_back({static_cast<double>(i), i % 2 == 0 ? 0.0 : 100.0});
  comb.push_back({1000, -5});
  comb.push_back(comb[0]);
  const Rings rings = rings_of({{comb}});
  const std::vector<char> image = prepare_polygon(rings, Raster::kWith);
  EXPECT_LT(image.size(), 400000u);
  std::mt19937_64 random(3);
  for (int i = 0; i < 3000; ++i) {
    const Point p{static_cast<double>(random() % 200000) / 100, static_cast<double>(random() % 10600) / 100 - 5};
    ASSERT_EQ(PreparedPolygon(image.data()).locate(p), plain_answer(rings, p));
  }
}

/// Those who make many images reserve that much.
TEST(PreparedPolygon, HasARoughSize) {
  for (const int points : {4, 5, 17, 300, 505, 5000}) {
    Ring level, ragged;
    for (int i = 0; i < points; ++i) {
      level.push_back({static_cast<double>(i), i % 2 == 0 ? 0.0 : 1e-3});
      ragged.push_back({static_cast<double>(i), i % 2 == 0 ? 0.0 : 1e3});  // all edges reach all stripes
    }
    for (Ring* ring : {&level, &ragged}) {
      ring->back() = ring->front();
      const std::string bytes = serialized({{*ring}, {rectangle(0, 0, 1, 1), rectangle(0.2, 0.2, 0.4, 0.4)}});
      const Rings rings = read_rings(bytes.data(), static_cast<int64_t>(bytes.size()));
      ASSERT_TRUE(rings.decidable);
      const RingCounts counts =
          count_rings(bytes.data(), static_cast<int64_t>(bytes.size()), GeometryForm::kSerialized);
      EXPECT_EQ(counts.points, rings.points.size());
      EXPECT_EQ(counts.rings, rings.rings.size());
      EXPECT_LE(prepare_polygon(rings, Raster::kNone).size(), most_prepared_bytes(counts.points, counts.rings));
    }
  }
  EXPECT_LE(prepare_polygon(Rings(), Raster::kNone).size(), most_prepared_bytes(0, 0));
}

}  // namespace
