// Polygons and lines compared edge by edge.
#include "geo/shape_relation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "geo/relate.hpp"
#include "geometry_bytes.hpp"

using namespace strom::geo;
using namespace strom::geo::test;

namespace {

constexpr PairPredicate kAll[] = {PairPredicate::kContains, PairPredicate::kCovers,  PairPredicate::kIntersects,
                                  PairPredicate::kTouches,  PairPredicate::kCrosses, PairPredicate::kOverlaps,
                                  PairPredicate::kEquals};

/// A letter for each of kAll: y, n, or ? for PostGIS.
std::string answers(const std::string& a, const std::string& b) {
  std::string out;
  for (const PairPredicate predicate : kAll) out += "ny?"[static_cast<int>(decide(predicate, opened(a), opened(b)))];
  return out;
}

std::string matrix(const std::string& a, const std::string& b) {
  IntersectionMatrix out;
  return relate(opened(a), opened(b), &out) ? std::string(out.cells, sizeof out.cells) : "unknown";
}

std::string area(const std::vector<Polygon>& polygons) { return serialized(polygons); }

const std::string kSquare = area({{rectangle(0, 0, 8, 8)}});
const std::string kRing = area({{rectangle(0, 0, 8, 8), rectangle(2, 2, 6, 6)}});

TEST(Shapes, PolygonsWithoutContact) {
  const std::string small = area({{rectangle(3, 3, 5, 5)}});
  EXPECT_EQ(answers(kSquare, small), "yyynnnn");
  EXPECT_EQ(answers(small, kSquare), "nnynnnn");
  EXPECT_EQ(matrix(kSquare, small), "212FF1FF2");
  // In the hole, and around it.
  EXPECT_EQ(answers(kRing, small), "nnnnnnn");
  EXPECT_EQ(matrix(kRing, small), "FF2FF1212");
  EXPECT_EQ(answers(kRing, area({{rectangle(1, 1, 7, 7)}})), "nnynnyn");
  // One part within, the other outside.
  EXPECT_EQ(answers(area({{rectangle(3, 3, 5, 5)}, {rectangle(7, 9, 9, 11)}}), area({{rectangle(0, 0, 8, 12)}})),
            "nnynnyn");
  EXPECT_EQ(answers(area({{rectangle(3, 3, 5, 5)}, {rectangle(0, 7, 1, 9)}}), area({{rectangle(2, 2, 9, 9)}})),
            "nnynnyn");
}

TEST(Shapes, PolygonsThatCross) {
  const std::string other = area({{rectangle(4, 4, 12, 12)}});
  EXPECT_EQ(answers(kSquare, other), "nnynnyn");
  EXPECT_EQ(matrix(kSquare, other), "212101212");
  EXPECT_EQ(answers(kRing, other), "nnynnyn");
}

TEST(Shapes, PolygonsThatTouch) {
  const std::string beside = area({{rectangle(8, 2, 12, 6)}}), corner = area({{rectangle(8, 8, 9, 9)}});
  EXPECT_EQ(answers(kSquare, beside), "nnyynnn");
  EXPECT_EQ(matrix(kSquare, beside), "FF2F11212");
  EXPECT_EQ(answers(kSquare, corner), "nnyynnn");
  EXPECT_EQ(matrix(kSquare, corner), "FF2F01212");
  EXPECT_EQ(answers(kSquare, area({{rectangle(0, 0, 4, 8)}})), "yyynnnn");
  EXPECT_EQ(matrix(kSquare, area({{rectangle(0, 0, 4, 8)}})), "212F11FF2");
  EXPECT_EQ(answers(kSquare, area({{{{0, 0}, {8, 0}, {8, 4}, {8, 8}, {0, 8}, {0, 0}}}})), "yyynnny");
  EXPECT_EQ(matrix(kSquare, kSquare), "2FFF1FFF2");
  // Fills the hole; reaches out along a border.
  EXPECT_EQ(matrix(kRing, area({{rectangle(2, 2, 6, 6)}})), "FF2F112F2");
  EXPECT_EQ(matrix(kSquare, area({{{{0, 0}, {8, 0}, {12, -4}, {0, -4}, {0, 0}}}})), "FF2F11212");
  EXPECT_EQ(answers(kSquare, area({{{{8, 0}, {8, 8}, {12, 12}, {0, 8}, {8, 0}}}})), "nnynnyn");
}

TEST(Shapes, InvalidPolygons) {
  const Ring bow = {{0, 0}, {8, 8}, {8, 0}, {0, 8}, {0, 0}};
  EXPECT_EQ(answers(area({{bow}}), area({{rectangle(8, 0, 10, 8)}})), "nny???n");
  EXPECT_EQ(matrix(area({{bow}}), area({{rectangle(4, 4, 12, 12)}})), "unknown");
  // A spike reaches out of the square. It is no area.
  const Ring spike = {{1, 1}, {4, 1}, {4, 12}, {4, 1}, {6, 1}, {6, 6}, {1, 6}, {1, 1}};
  EXPECT_EQ(answers(area({{rectangle(0, 0, 8, 14)}}), area({{spike}})), "yyynnnn");
  EXPECT_EQ(decide(PairPredicate::kOverlaps, opened(area({{rectangle(0, 0, 8, 13)}, {rectangle(0, 14, 8, 15)}})),
                   opened(area({{{{1, 1}, {4, 1}, {4, 13.5}, {4, 1}, {6, 1}, {6, 6}, {1, 1}}}}))),
            Verdict::kUncertain);
  // A hole outside of its shell, a ring that is not closed, a number that is none.
  EXPECT_EQ(answers(kSquare, area({{rectangle(1, 1, 2, 2), rectangle(4, 4, 12, 12)}}))[2], '?');
  EXPECT_EQ(answers(kSquare, area({{{{1, 1}, {2, 1}, {2, 2}, {1, 2}}}}))[2], '?');
  EXPECT_EQ(answers(kSquare, area({{{{1, 1}, {2, 1}, {NAN, 2}, {1, 1}}}}))[2], '?');
  EXPECT_EQ(answers(area({{{{8, 3}, {8, 3}, {8, 3}, {8, 3}}}}), lines({{{8, 0}, {4, 3}, {8, 3}}}))[2], '?');
}

// GEOS leaves them out, so they meet nothing.
TEST(Shapes, PolygonsWithoutArea) {
  constexpr size_t kMeets = 2;
  const std::string flat = area({{{{2, 2}, {6, 2}, {4, 2}, {2, 2}}}});
  EXPECT_EQ(answers(flat, lines({{{4, 0}, {4, 4}}}))[kMeets], '?');
  EXPECT_EQ(answers(flat, area({{rectangle(2, 2, 3, 3)}}))[kMeets], '?');
  EXPECT_EQ(answers(kSquare, flat)[kMeets], '?');
  // Another part has one.
  EXPECT_EQ(
      answers(area({{{{2, 2}, {6, 2}, {4, 2}, {2, 2}}}, {rectangle(3, 3, 5, 5)}}), lines({{{4, 0}, {4, 4}}}))[kMeets],
      'y');
}

TEST(Shapes, NumbersWhoseProductsAreNone) {
  const std::string tiny = area({{rectangle(0, 0, 8e-160, 8e-160)}});
  EXPECT_EQ(answers(tiny, tiny), "??????y");  // the same bytes
  const std::string least = area({{rectangle(0, 0, 8e-120, 8e-120)}});
  EXPECT_EQ(answers(least, least), "yyynnny");
}

TEST(Shapes, Lines) {
  EXPECT_EQ(answers(kSquare, lines({{{1, 1}, {2, 3}, {7, 5}}})), "yyynnnn");
  EXPECT_EQ(answers(lines({{{1, 1}, {2, 3}, {7, 5}}}), kSquare), "nnynnnn");
  EXPECT_EQ(answers(kSquare, lines({{{1, 1}, {12, 4}}})), "nnynynn");
  EXPECT_EQ(answers(kRing, lines({{{3, 3}, {5, 5}}})), "nnnnnnn");
  EXPECT_EQ(answers(kRing, lines({{{1, 1}, {1, 3}}, {{3, 3}, {5, 5}}})), "nnynynn");
  EXPECT_EQ(answers(kSquare, lines({{{1, 1}, {8, 4}}})), "??y???n");
  EXPECT_EQ(answers(lines({{{0, 0}, {4, 4}}}), lines({{{0, 4}, {4, 0}}})), "??yn???");
  EXPECT_EQ(answers(lines({{{0, 0}, {4, 4}}}), lines({{{1, 0}, {4, 3}}})), "nnnnnnn");
  EXPECT_EQ(answers(lines({{{0, 0}, {4, 4}}}), lines({{{2, 2}, {4, 0}}})), "??y???n");
}

TEST(Shapes, ManyEdges) {
  // More blocks than there is room for one by one, and rings up to the limit.
  const auto round = [](double x, double y, double radius, int points) {
    Ring ring;
    for (int i = 0; i < points; ++i)
      ring.push_back({x + radius * std::cos(2 * M_PI * i / points), y + radius * std::sin(2 * M_PI * i / points)});
    ring.push_back(ring[0]);
    return ring;
  };
  const std::string large = area({{round(0, 0, 10, 5000), round(0, 0, 5, 3000)}});
  EXPECT_EQ(answers(large, area({{round(10, 0, 1, 2000)}})), "nnynnyn");
  EXPECT_EQ(answers(large, area({{round(7, 0, 1, 2000)}})), "yyynnnn");
  EXPECT_EQ(answers(large, area({{round(0, 0, 1, 2000)}})), "nnnnnnn");
  EXPECT_EQ(matrix(large, large), "2FFF1FFF2");
  EXPECT_EQ(answers(area({{round(0, 0, 10, 200'000)}}), large)[2], '?');
  std::vector<Polygon> many;
  many.reserve(33);
  for (int i = 0; i < 32; ++i) many.push_back({rectangle(i, 0, i + 0.5, 1)});
  EXPECT_EQ(answers(area(many), area({{rectangle(31.1, 0.1, 31.2, 0.2)}})), "yyynnnn");
  many.push_back({rectangle(40, 0, 41, 1)});
  EXPECT_EQ(answers(area(many), area({{rectangle(31.1, 0.1, 31.2, 0.2)}}))[2], '?');
}

}  // namespace
