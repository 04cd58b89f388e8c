// Points of a tile against a prepared polygon, on every target, against the polygon asked point by point: inside,
// outside, on edges, and what PostGIS decides about.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../../../geo/geometry_bytes.hpp"
#include "geo/prepare_polygon.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using geo::Answer;
using geo::Point;
using plan::ValueType;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kFloat8{TypeId::kFloat8, 0}, kBytes{TypeId::kBytea, 0};

/// Points on whole and half numbers about a polygon, with their numbers; some are not finite.
struct Points {
  std::vector<Point> all;
  Table table{{field(columnar::Layout::kFloat64), field(columnar::Layout::kFloat64), field(columnar::Layout::kInt32)}};

  Points(int32_t count, bool with_nulls) {
    std::mt19937_64 random(3);
    const auto coordinate = [&random] { return static_cast<double>(random() % 60) / 2 - 5; };
    const double odd[] = {NAN, INFINITY, -INFINITY};
    for (int32_t i = 0; i < count; ++i) {
      if (i > 0 && i % 2500 == 0) table.new_chunk();
      Point point{coordinate(), coordinate()};
      if (i % 101 == 7) point.x = odd[i % 3];
      if (i % 103 == 8) point.y = odd[i % 3];
      all.push_back(point);
      table.column(0).append(point.x);
      if (with_nulls && i % 17 == 4) {
        all.back().y = kNull;
        table.column(1).append_null();
      } else {
        table.column(1).append(point.y);
      }
      table.column(2).append(i);
    }
  }

  static constexpr double kNull = 1e9;
};

plan::Program program(const std::string& function, const std::vector<char>& image) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kFloat8, kFloat8, kInt4}}};
  const plan::NodeId prepared = b.constant(kBytes, false, std::string(image.data(), image.size()));
  p.pipelines.resize(1);
  p.pipelines[0].quals = {b.call(function, {prepared, b.column(0, kFloat8), b.column(1, kFloat8)}).value()};
  p.pipelines[0].outputs = {b.column(2, kInt4)};
  return p;
}

void expect_answers(const Outcome& outcome, const Points& points, const std::vector<char>& image, bool covers,
                    const std::string& what) {
  const geo::PreparedPolygon polygon(image.data());
  Rows rows;
  std::vector<std::pair<int64_t, int64_t>> fallback;
  for (size_t i = 0; i < points.all.size(); ++i) {
    if (points.all[i].y == Points::kNull) continue;
    const Answer answer = polygon.locate(points.all[i]);
    if (answer == Answer::kUncertain) fallback.emplace_back(i / 2500, i % 2500);
    if (answer == Answer::kInside || (covers && answer == Answer::kBoundary)) rows.push_back(std::to_string(i));
  }
  std::sort(rows.begin(), rows.end());
  EXPECT_FALSE(rows.empty());
  EXPECT_FALSE(fallback.empty());
  EXPECT_EQ(outcome.rows, rows) << what;
  EXPECT_EQ(outcome.fallback, fallback) << what;
}

TEST(CallsOfGeometry, PointsOfTilesInAPolygon) {
  const std::string bytes =
      geo::test::serialized({{geo::test::rectangle(2, 2, 20, 12), geo::test::rectangle(5, 5, 10, 10)},
                             {{{21, 3}, {24, 9}, {21, 15}, {21, 3}}}});
  for (const geo::Raster raster : {geo::Raster::kWith, geo::Raster::kNone}) {
    const std::vector<char> image =
        geo::prepare_polygon(geo::read_rings(bytes.data(), static_cast<int64_t>(bytes.size())), raster);
    for (const Target& target : targets())
      for (const bool with_nulls : {false, true}) {
        const Points points(target.slow ? 900 : 6000, with_nulls);
        for (const bool covers : {false, true}) {
          const std::string function = covers ? "geometry covers prepared xy" : "geometry contains prepared xy";
          const Outcome outcome = run(program(function, image), {&points.table}, target);
          expect_answers(outcome, points, image, covers, std::string(target.name) + " " + function);
        }
      }
  }
}

}  // namespace
}  // namespace strom::engine::test
