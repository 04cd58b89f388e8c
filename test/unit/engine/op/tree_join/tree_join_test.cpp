// Joins by distance and by overlapping boxes, on every target, against tries of all pairs: points on whole numbers, so
// that many are exactly so far away; rows that PostGIS decides about.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "../../../geo/geometry_bytes.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using geo::Point;
using plan::JoinKind;
using plan::SpatialMatch;
using plan::ValueType;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kFloat8{TypeId::kFloat8, 0}, kBytes{TypeId::kBytea, 0};
constexpr int32_t kSrid = 4326;

struct Site {
  std::optional<Point> point;  // nullopt: a NULL
  double reach;
  int32_t number;
};

std::string bytes_of(Point point, int32_t srid = kSrid) {
  geo::test::Form form;
  form.srid = srid;
  return geo::test::serialized_point(point, form);
}

std::string rectangle_of(Point corner, double size) {
  geo::test::Form form;
  form.srid = kSrid;
  return geo::test::serialized({{geo::test::rectangle(corner.x, corner.y, corner.x + size, corner.y + size)}}, form);
}

/// Where the distance comes from.
enum class Distance { kConstant, kOuter, kInner };

/// A side has x, y, the point as a geometry, a distance, the square of that size as a polygon, and a number.
class Side {
 public:
  std::vector<Site> places;
  Table table{{field(columnar::Layout::kFloat64), field(columnar::Layout::kFloat64), field(columnar::Layout::kBinary),
               field(columnar::Layout::kFloat64), field(columnar::Layout::kBinary), field(columnar::Layout::kInt32)}};

  Side(int count, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int32_t i = 0; i < count; ++i) {
      if (i > 0 && i % 1700 == 0) table.new_chunk();
      Site place{Point{static_cast<double>(random() % 80), static_cast<double>(random() % 80)},
                 static_cast<double>(random() % 4), i};
      if (i % 19 == 7) place.point.reset();
      add(place);
    }
    table.name_columns();
  }

  void add(const Site& place) {
    places.push_back(place);
    if (place.point) {
      table.column(0).append(place.point->x);
      table.column(1).append(place.point->y);
      EXPECT_TRUE(table.column(2).append_bytes(bytes_of(*place.point)));
      EXPECT_TRUE(table.column(4).append_bytes(rectangle_of(*place.point, place.reach)));
    } else {
      for (const size_t column : {0, 1, 2, 4}) table.column(column).append_null();
    }
    table.column(3).append(place.reach);
    table.column(5).append(place.number);
  }
};

struct Variant {
  JoinKind kind;
  SpatialMatch match;
  Distance distance;
  bool outer_by_coordinates, inner_by_coordinates, with_quals;
};

constexpr double kConstant = 2;

plan::Program program(const Variant& v) {
  plan::Program p;
  plan::Builder b(p);
  const std::vector<ValueType> types = {kFloat8, kFloat8, kBytes, kFloat8, kBytes, kInt4};
  p.sources = {{types}, {types}};
  plan::Join join;
  join.kind = v.kind;
  join.spatial = v.match;
  join.srid = kSrid;
  const auto place = [&](bool by_coordinates) {
    if (by_coordinates) return std::vector<plan::NodeId>{b.column(0, kFloat8), b.column(1, kFloat8)};
    return std::vector<plan::NodeId>{b.column(v.match == SpatialMatch::kNear ? 2 : 4, kBytes)};
  };
  join.outer_keys = place(v.outer_by_coordinates);
  join.inner_keys = place(v.inner_by_coordinates);
  if (v.match == SpatialMatch::kNear) {
    const std::string bytes(reinterpret_cast<const char*>(&kConstant), sizeof kConstant);
    if (v.distance == Distance::kInner)
      join.inner_keys.push_back(b.column(3, kFloat8));
    else
      join.outer_keys.push_back(v.distance == Distance::kOuter ? b.column(3, kFloat8)
                                                               : b.constant(kFloat8, false, bytes));
  }
  join.payload = {b.column(5, kInt4)};
  if (v.with_quals) join.quals = {b.call("int4lt", {b.payload(0, 0, kInt4), b.column(5, kInt4)}).value()};
  p.joins.push_back(join);
  p.pipelines.resize(2);
  p.pipelines[0].sink = plan::SinkKind::kBuild;
  p.pipelines[1].source = 1;
  p.pipelines[1].joins = {0};
  p.pipelines[1].outputs = {b.column(5, kInt4)};
  if (v.kind != JoinKind::kSemi && v.kind != JoinKind::kAnti) p.pipelines[1].outputs.push_back(b.payload(0, 0, kInt4));
  return p;
}

bool matches(const Site& outer, const Site& inner, const Variant& v) {
  if (!outer.point || !inner.point) return false;
  const double dx = outer.point->x - inner.point->x, dy = outer.point->y - inner.point->y;
  if (v.match == SpatialMatch::kNear) {
    const double most = v.distance == Distance::kConstant ? kConstant
                        : v.distance == Distance::kOuter  ? outer.reach
                                                          : inner.reach;
    return std::sqrt(dx * dx + dy * dy) <= most;
  }
  const double of_outer = v.outer_by_coordinates ? 0 : outer.reach, of_inner = v.inner_by_coordinates ? 0 : inner.reach;
  return dx <= of_inner && -dx <= of_outer && dy <= of_inner && -dy <= of_outer;
}

Rows expected(const Side& inner, const Side& outer, const Variant& v) {
  const bool has_payload = v.kind != JoinKind::kSemi && v.kind != JoinKind::kAnti;
  Rows rows;
  std::vector<bool> matched(inner.places.size(), false);
  for (const Site& probe : outer.places) {
    const std::string number = std::to_string(probe.number);
    bool found = false;
    for (size_t i = 0; i < inner.places.size(); ++i) {
      const Site& build = inner.places[i];
      if (!matches(probe, build, v) || (v.with_quals && build.number >= probe.number)) continue;
      if (has_payload) rows.push_back(number + "|" + std::to_string(build.number));
      if (v.kind == JoinKind::kSemi && !found) rows.push_back(number);
      matched[i] = found = true;
    }
    if (!found && plan::may_miss(v.kind)) rows.push_back(number + "|NULL");
    if (!found && v.kind == JoinKind::kAnti) rows.push_back(number);
  }
  for (size_t i = 0; i < inner.places.size(); ++i)
    if (!matched[i] && plan::keeps_unmatched(v.kind)) rows.push_back("NULL|" + std::to_string(inner.places[i].number));
  std::sort(rows.begin(), rows.end());
  return rows;
}

constexpr JoinKind kKinds[] = {JoinKind::kInner, JoinKind::kLeft,  JoinKind::kSemi,
                               JoinKind::kAnti,  JoinKind::kRight, JoinKind::kFull};

void try_all(SpatialMatch match, int distances) {
  for (const Target& target : targets()) {
    const Side inner(target.slow ? 150 : 500, 1), outer(target.slow ? 150 : 1800, 2);
    for (const JoinKind kind : kKinds)
      for (int number = 0; number < 8 * distances; ++number) {
        const Variant v{
            kind, match, static_cast<Distance>(number / 8), number % 2 == 1, number / 2 % 2 == 1, number / 4 % 2 == 1};
        const plan::Program p = program(v);
        exec::Options options;
        options.threads = target.slow ? 1 : 2;
        options.morsel_rows = 1500;
        const Outcome outcome = run(p, {&inner.table, &outer.table}, target, options);
        EXPECT_EQ(outcome.rows, expected(inner, outer, v))
            << target.name << " kind " << static_cast<int>(kind) << " variant " << number;
        EXPECT_TRUE(outcome.fallback.empty());
      }
  }
}

TEST(TreeJoin, ByDistance) { try_all(SpatialMatch::kNear, 3); }

TEST(TreeJoin, ByBoxes) { try_all(SpatialMatch::kOverlaps, 1); }

/// As SpatialJoin.InParts.
TEST(TreeJoin, InParts) {
  for (const Target& target : targets()) {
    Side inner(target.slow ? 150 : 500, 1);
    const Side outer(target.slow ? 150 : 1800, 2);
    for (const JoinKind kind : kKinds)
      for (int number = 0; number < 6; ++number) {
        const auto match = number < 4 ? SpatialMatch::kNear : SpatialMatch::kOverlaps;
        const Variant v{kind, match, static_cast<Distance>(number % 3), false, number % 2 == 1, number / 2 == 1};
        exec::Options options;
        options.threads = target.slow ? 1 : 2;
        options.morsel_rows = 1500;
        options.join_memory_budget = target.slow ? 20'000 : 40'000;
        inner.table.name_columns();  // devices have no whole table of it
        const Outcome outcome = run(program(v), {&inner.table, &outer.table}, target, options);
        EXPECT_EQ(outcome.rows, expected(inner, outer, v))
            << target.name << " kind " << static_cast<int>(kind) << " variant " << number;
        const bool divided = kind == JoinKind::kInner || kind == JoinKind::kRight;
        EXPECT_EQ(outcome.stats.passes > 1, divided) << target.name << " kind " << static_cast<int>(kind);
      }
  }
}

/// Rows near to something that is no point, other systems, and what is no distance.
TEST(TreeJoin, LeavesDoubtfulRows) {
  for (const Target& target : targets()) {
    Side inner(60, 1), outer(10, 2);
    const size_t sure = outer.places.size();
    for (Table* table : {&inner.table, &outer.table}) {
      const auto add = [table](const std::string& bytes, double reach) {
        table->column(0).append(500.0);
        table->column(1).append(500.0);
        EXPECT_TRUE(table->column(2).append_bytes(bytes));
        table->column(3).append(reach);
        EXPECT_TRUE(table->column(4).append_bytes(bytes));
        table->column(5).append(int32_t{0});
      };
      if (table == &inner.table) {
        add(rectangle_of({500, 500}, 10), 1);
        continue;
      }
      add(bytes_of({498, 500}), 2);
      add(bytes_of({497, 500}), 2);  // too far away
      add(bytes_of({50, 50}), -1);
      add(bytes_of({50, 50}), NAN);
      add(bytes_of({50, 50}, 3857), 1);
      add(rectangle_of({50, 50}, 1), 1);
      add("damaged", 1);
      add(bytes_of({NAN, 50}), 1);
    }
    const Variant v{JoinKind::kInner, SpatialMatch::kNear, Distance::kOuter, false, false, false};
    const Outcome outcome = run(program(v), {&inner.table, &outer.table}, target, {});
    std::vector<std::pair<int64_t, int64_t>> fallback;
    for (const size_t i : {0, 2, 3, 4, 5, 6, 7}) fallback.emplace_back(0, sure + i);
    EXPECT_EQ(outcome.fallback, fallback) << target.name;
  }
}

/// Fallback rows find all build rows that may match them, and not all rows.
TEST(TreeJoin, LooksCandidatesUp) {
  const Side inner(600, 1), outer(200, 2);
  for (const Distance distance : {Distance::kOuter, Distance::kInner}) {
    const Variant v{JoinKind::kInner, SpatialMatch::kNear, distance, false, false, false};
    const plan::Program p = program(v);
    exec::Options options;
    cpu_target().use_by(&options);
    auto execution = exec::Execution::create(p, {&inner.table, &outer.table}, {}, options).value();
    ASSERT_TRUE(execution->next([] {}).is_ok());
    for (const Site& probe : outer.places) {
      if (!probe.point) continue;
      std::string reach(sizeof(double), '\0');
      std::memcpy(reach.data(), &probe.reach, sizeof(double));
      std::vector<plan::Constant> keys = {{kBytes, false, -1, bytes_of(*probe.point)}};
      if (distance == Distance::kOuter) keys.push_back({kFloat8, false, -1, reach});
      std::vector<int64_t> found;
      ASSERT_TRUE(execution->lookup(0, keys, &found).is_ok());
      EXPECT_LT(found.size(), 60u);
      for (size_t i = 0; i < inner.places.size(); ++i) {
        if (!matches(probe, inner.places[i], v)) continue;
        EXPECT_EQ(std::count(found.begin(), found.end(), static_cast<int64_t>(i)), 1);
      }
      keys[0].bytes = bytes_of(*probe.point, 3857);
      found.clear();
      ASSERT_TRUE(execution->lookup(0, keys, &found).is_ok());
      EXPECT_EQ(found.size(), 600 - 600 / 19 - 1);
    }
  }
}

std::unique_ptr<exec::Execution> built(const Variant& v, const Side& inner, const Side& outer) {
  exec::Options options;
  cpu_target().use_by(&options);
  auto execution = exec::Execution::create(program(v), {&inner.table, &outer.table}, {}, options).value();
  EXPECT_TRUE(execution->next([] {}).is_ok());
  return execution;
}

size_t candidates(exec::Execution* execution, const std::string& geometry) {
  std::vector<int64_t> found;
  const std::string reach(sizeof(double), '\0');
  EXPECT_TRUE(execution->lookup(0, {{kBytes, false, -1, geometry}, {kFloat8, false, -1, reach}}, &found).is_ok());
  return found.size();
}

constexpr Variant kByOuterDistance{JoinKind::kInner, SpatialMatch::kNear, Distance::kOuter, false, false, false};
constexpr double kFar = 1e160;

/// Boxes of polygons are clamped to floats, so that points beside a far polygon may lie outside of its box.
TEST(TreeJoin, LooksAllUpForWhatIsBeyondFloats) {
  Side inner(60, 1);
  const Side outer(10, 2);
  const size_t rows = 60 - 60 / 19;
  const std::string far = rectangle_of({kFar, kFar}, kFar), near = rectangle_of({500, 500}, 1);
  const std::unique_ptr<exec::Execution> of_floats = built(kByOuterDistance, inner, outer);
  EXPECT_EQ(candidates(of_floats.get(), far), rows);
  EXPECT_EQ(candidates(of_floats.get(), near), 0u);
  // One of them not being a float, they may all be near to a polygon.
  inner.add({Point{kFar, kFar}, 0, 60});
  inner.table.name_columns();
  const std::unique_ptr<exec::Execution> of_others = built(kByOuterDistance, inner, outer);
  EXPECT_EQ(candidates(of_others.get(), far), rows + 1);
  EXPECT_EQ(candidates(of_others.get(), near), rows + 1);
}

/// PostGIS decides about what is beyond floats where there is something that is no point.
TEST(TreeJoin, LeavesFarPointsBesidePolygons) {
  for (const Target& target : targets()) {
    const Side points(60, 1);
    Side with_polygon(60, 1), outer(10, 2);
    outer.add({Point{kFar, 0}, 2, 10});
    Table& inner = with_polygon.table;
    for (const size_t column : {0, 1, 3}) inner.column(column).append(500.0);
    for (const size_t column : {2, 4}) EXPECT_TRUE(inner.column(column).append_bytes(rectangle_of({500, 500}, 1)));
    inner.column(5).append(int32_t{60});
    const std::vector<std::pair<int64_t, int64_t>> fallback = {{0, 10}};
    const plan::Program p = program(kByOuterDistance);
    EXPECT_TRUE(run(p, {&points.table, &outer.table}, target, {}).fallback.empty()) << target.name;
    EXPECT_EQ(run(p, {&inner, &outer.table}, target, {}).fallback, fallback) << target.name;
  }
}

}  // namespace
}  // namespace strom::engine::test
