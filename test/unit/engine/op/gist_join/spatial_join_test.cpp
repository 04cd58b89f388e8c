// Joins by where points lie in polygons, on every target, against comparisons of coordinates: overlapping rectangles
// on whole numbers, points inside, on edges and corners, and outside; rows that PostGIS decides about.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
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

struct Area {
  std::optional<geo::Box> box;  // nullopt: a NULL
  int32_t number;
};

struct Probe {
  std::optional<Point> point;
  int32_t number;
};

std::string bytes_of(const geo::Box& box, int32_t srid) {
  geo::test::Form form;
  form.srid = srid;
  return geo::test::serialized({{geo::test::rectangle(box.min_x, box.min_y, box.max_x, box.max_y)}}, form);
}

std::string bytes_of(Point point, int32_t srid) {
  geo::test::Form form;
  form.srid = srid;
  return geo::test::serialized_point(point, form);
}

bool matches(const Area& area, const Probe& probe, SpatialMatch match) {
  if (!area.box || !probe.point || !area.box->contains(*probe.point)) return false;
  const Point p = *probe.point;
  const bool on_edge =
      p.x == area.box->min_x || p.x == area.box->max_x || p.y == area.box->min_y || p.y == area.box->max_y;
  return match == SpatialMatch::kInsideOrOn || (match == SpatialMatch::kOn) == on_edge;
}

/// Areas of (polygon, number), points of (x, y, geometry, number).
struct Sides {
  static constexpr int32_t kSrid = 4326;
  std::vector<Area> areas;
  std::vector<Probe> probes;
  Table inner{{field(columnar::Layout::kBinary), field(columnar::Layout::kInt32)}};
  Table outer{{field(columnar::Layout::kFloat64), field(columnar::Layout::kFloat64), field(columnar::Layout::kBinary),
               field(columnar::Layout::kInt32)}};

  Sides(int area_count, int probe_count) {
    std::mt19937_64 random(5);
    const auto whole = [&random](int below) { return static_cast<double>(random() % static_cast<uint64_t>(below)); };
    for (int32_t i = 0; i < area_count; ++i) {
      const double x = whole(90), y = whole(90);
      areas.push_back({geo::Box{x, y, x + 1 + whole(9), y + 1 + whole(9)}, i});
      if (i % 17 == 3) areas.back().box.reset();
      add_area(areas.back());
    }
    for (int32_t i = 0; i < probe_count; ++i) {
      if (i > 0 && i % 1700 == 0) outer.new_chunk();
      probes.push_back({Point{whole(220) / 2 - 4, whole(220) / 2 - 4}, i});
      if (i % 23 == 5) probes.back().point.reset();
      add_probe(probes.back());
    }
    inner.name_columns();
  }

  void add_area(const Area& area) {
    if (area.box)
      EXPECT_TRUE(inner.column(0).append_bytes(bytes_of(*area.box, kSrid)));
    else
      inner.column(0).append_null();
    inner.column(1).append(area.number);
  }

  void add_probe(const Probe& probe) {
    if (probe.point) {
      outer.column(0).append(probe.point->x);
      outer.column(1).append(probe.point->y);
      EXPECT_TRUE(outer.column(2).append_bytes(bytes_of(*probe.point, kSrid)));
    } else {
      for (size_t i = 0; i < 3; ++i) outer.column(i).append_null();
    }
    outer.column(3).append(probe.number);
  }

  plan::Program program(JoinKind kind, SpatialMatch match, bool by_coordinates, bool with_quals) const {
    plan::Program p;
    plan::Builder b(p);
    p.sources = {{{kBytes, kInt4}}, {{kFloat8, kFloat8, kBytes, kInt4}}};
    plan::Join join;
    join.kind = kind;
    join.spatial = match;
    join.srid = kSrid;
    join.inner_keys = {b.column(0, kBytes)};
    if (by_coordinates)
      join.outer_keys = {b.column(0, kFloat8), b.column(1, kFloat8)};
    else
      join.outer_keys = {b.column(2, kBytes)};
    join.payload = {b.column(1, kInt4)};
    if (with_quals) join.quals = {b.call("int4lt", {b.payload(0, 0, kInt4), b.column(3, kInt4)}).value()};
    p.joins.push_back(join);
    p.pipelines.resize(2);
    p.pipelines[0].sink = plan::SinkKind::kBuild;
    p.pipelines[1].source = 1;
    p.pipelines[1].joins = {0};
    p.pipelines[1].outputs = {b.column(3, kInt4)};
    if (kind != JoinKind::kSemi && kind != JoinKind::kAnti) p.pipelines[1].outputs.push_back(b.payload(0, 0, kInt4));
    return p;
  }

  Rows expected(JoinKind kind, SpatialMatch match, bool with_quals) const {
    const bool has_payload = kind != JoinKind::kSemi && kind != JoinKind::kAnti;
    Rows rows;
    std::vector<bool> matched(areas.size(), false);
    for (const Probe& probe : probes) {
      const std::string number = std::to_string(probe.number);
      bool found = false;
      for (size_t i = 0; i < areas.size(); ++i) {
        if (!matches(areas[i], probe, match) || (with_quals && areas[i].number >= probe.number)) continue;
        if (has_payload) rows.push_back(number + "|" + std::to_string(areas[i].number));
        if (kind == JoinKind::kSemi && !found) rows.push_back(number);
        matched[i] = found = true;
      }
      if (!found && plan::may_miss(kind)) rows.push_back(number + "|NULL");
      if (!found && kind == JoinKind::kAnti) rows.push_back(number);
    }
    for (size_t i = 0; i < areas.size(); ++i)
      if (!matched[i] && plan::keeps_unmatched(kind)) rows.push_back("NULL|" + std::to_string(areas[i].number));
    std::sort(rows.begin(), rows.end());
    return rows;
  }
};

constexpr JoinKind kKinds[] = {JoinKind::kInner, JoinKind::kLeft,  JoinKind::kSemi,
                               JoinKind::kAnti,  JoinKind::kRight, JoinKind::kFull};

TEST(SpatialJoin, AllKinds) {
  for (const Target& target : targets()) {
    const Sides sides(target.slow ? 60 : 400, target.slow ? 400 : 5000);
    for (const JoinKind kind : kKinds)
      for (int variant = 0; variant < 12; ++variant) {
        const auto match = static_cast<SpatialMatch>(1 + variant % 3);
        const bool by_coordinates = variant / 3 % 2 == 0, with_quals = variant / 6 == 1;
        const plan::Program p = sides.program(kind, match, by_coordinates, with_quals);
        exec::Options options;
        options.threads = target.slow ? 1 : 2;
        options.morsel_rows = 1500;
        const Outcome outcome = run(p, {&sides.inner, &sides.outer}, target, options);
        EXPECT_EQ(outcome.rows, sides.expected(kind, match, with_quals))
            << target.name << " kind " << static_cast<int>(kind) << " variant " << variant;
        EXPECT_TRUE(outcome.fallback.empty());
      }
  }
}

/// Joins of pairs go over the outer side once for each part of the inner one; the others need all of it at once.
TEST(SpatialJoin, InParts) {
  for (const Target& target : targets()) {
    Sides sides(target.slow ? 60 : 400, target.slow ? 400 : 5000);
    for (const JoinKind kind : kKinds)
      for (const bool with_quals : {false, true}) {
        const plan::Program p = sides.program(kind, SpatialMatch::kInsideOrOn, true, with_quals);
        exec::Options options;
        options.threads = target.slow ? 1 : 2;
        options.morsel_rows = 1500;
        options.join_memory_budget = target.slow ? 30'000 : 100'000;
        sides.inner.name_columns();  // devices have no whole table of it
        const Outcome outcome = run(p, {&sides.inner, &sides.outer}, target, options);
        EXPECT_EQ(outcome.rows, sides.expected(kind, SpatialMatch::kInsideOrOn, with_quals))
            << target.name << " kind " << static_cast<int>(kind);
        const bool divided = kind == JoinKind::kInner || kind == JoinKind::kRight;
        EXPECT_EQ(outcome.stats.passes > 1, divided) << target.name << " kind " << static_cast<int>(kind);
        // Each part with its index stays within the budget.
        if (divided && !target.slow) EXPECT_GT(outcome.stats.passes, 3);
      }
  }
}

TEST(SpatialJoin, GroupsByCodes) {
  for (const Target& target : targets()) {
    const Sides sides(target.slow ? 60 : 400, target.slow ? 400 : 5000);
    plan::Program p = sides.program(JoinKind::kInner, SpatialMatch::kInsideOrOn, true, false);
    plan::Builder b(p);
    p.pipelines[1].sink = plan::SinkKind::kAggregate;
    p.pipelines[1].outputs.clear();
    p.pipelines[1].group_keys = {b.payload(0, 0, kInt4)};
    p.pipelines[1].aggregates = {{registry::AggregateId::kCountStar, plan::kNoNode, plan::kNoNode}};
    std::map<int32_t, int> counts;
    for (const Probe& probe : sides.probes)
      for (const Area& area : sides.areas)
        if (matches(area, probe, SpatialMatch::kInsideOrOn)) ++counts[area.number];
    Rows expected;
    for (const auto& [number, count] : counts) expected.push_back(std::to_string(number) + "|" + std::to_string(count));
    std::sort(expected.begin(), expected.end());
    for (int i = 0; i < (target.keeps() ? 2 : 1); ++i) {  // once more where the device has kept the table
      const Outcome outcome = run(p, {&sides.inner, &sides.outer}, target, {});
      EXPECT_EQ(outcome.rows, expected) << target.name;
      if (i == 1) EXPECT_EQ(outcome.stats.device_joins.cached, 1);
    }
  }
}

/// The time of an inner side is that of reading it and of making its index.
TEST(SpatialJoin, CountsTheTimeOfTheIndex) {
  Sides sides(0, 100);
  geo::test::Form form;
  form.srid = Sides::kSrid;
  for (int32_t area = 0; area < 300; ++area) {
    geo::test::Ring ring;
    const int row = area / 20;
    for (int i = 0; i <= 500; ++i) {
      const double angle = i % 500 * M_PI / 250;
      ring.push_back({area % 20 + 0.4 * std::cos(angle), row + 0.4 * std::sin(angle)});
    }
    EXPECT_TRUE(sides.inner.column(0).append_bytes(geo::test::serialized({{ring}}, form)));
    sides.inner.column(1).append(area);
  }
  const plan::Program p = sides.program(JoinKind::kSemi, SpatialMatch::kInside, true, false);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = run(p, {&sides.inner, &sides.outer}, targets().front(), {});
  const double whole = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GT(outcome.stats.milliseconds[0] + outcome.stats.milliseconds[1], whole / 2);
}

/// Rows of which the engine does not know whether they match: damaged geometries, lines, other systems, infinities.
TEST(SpatialJoin, LeavesDoubtfulRows) {
  for (const Target& target : targets()) {
    Sides sides(40, 10);
    const Area odd{geo::Box{-3, -3, -2, -2}, 1000};
    std::string line = bytes_of(*odd.box, Sides::kSrid);
    line[20] = 2;  // behind header and box: the type
    EXPECT_TRUE(sides.inner.column(0).append_bytes(line));
    sides.inner.column(1).append(odd.number);
    const size_t sure = sides.probes.size();
    const auto add = [&sides](double x, double y, const std::string& bytes) {
      sides.outer.column(0).append(x);
      sides.outer.column(1).append(y);
      EXPECT_TRUE(sides.outer.column(2).append_bytes(bytes));
      sides.outer.column(3).append(int32_t{0});
    };
    add(-2.5, -2.5, bytes_of(Point{-2.5, -2.5}, Sides::kSrid));
    add(INFINITY, 0, "damaged");
    add(NAN, 0, bytes_of(Point{50, 50}, 3857));
    for (const bool by_coordinates : {true, false}) {
      const plan::Program p = sides.program(JoinKind::kInner, SpatialMatch::kInsideOrOn, by_coordinates, false);
      exec::Options options;
      const Outcome outcome = run(p, {&sides.inner, &sides.outer}, target, options);
      std::vector<std::pair<int64_t, int64_t>> fallback;
      fallback.reserve(3);
      for (size_t i = 0; i < 3; ++i) fallback.emplace_back(0, sure + i);
      EXPECT_EQ(outcome.fallback, fallback) << target.name << " by coordinates " << by_coordinates;
    }
  }
}

/// Fallback rows find all build rows that may match them.
TEST(SpatialJoin, LooksCandidatesUp) {
  const Sides sides(300, 500);
  const plan::Program p = sides.program(JoinKind::kInner, SpatialMatch::kInsideOrOn, true, false);
  exec::Options options;
  cpu_target().use_by(&options);
  auto execution = exec::Execution::create(p, {&sides.inner, &sides.outer}, {}, options).value();
  ASSERT_TRUE(execution->next([] {}).is_ok());
  const auto constant = [](double value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return plan::Constant{kFloat8, false, -1, bytes};
  };
  for (const Probe& probe : sides.probes) {
    if (!probe.point) continue;
    std::vector<int64_t> found, by_geometry;
    ASSERT_TRUE(execution->lookup(0, {constant(probe.point->x), constant(probe.point->y)}, &found).is_ok());
    const plan::Constant geometry{kBytes, false, -1, bytes_of(*probe.point, Sides::kSrid)};
    ASSERT_TRUE(execution->lookup(0, {geometry}, &by_geometry).is_ok());
    EXPECT_EQ(found, by_geometry);
    EXPECT_LT(found.size(), 60u);
    for (size_t i = 0; i < sides.areas.size(); ++i) {
      if (!matches(sides.areas[i], probe, SpatialMatch::kInsideOrOn)) continue;
      EXPECT_EQ(std::count(found.begin(), found.end(), static_cast<int64_t>(i)), 1);
    }
  }
  std::vector<int64_t> all;
  ASSERT_TRUE(execution->lookup(0, {constant(NAN), constant(1)}, &all).is_ok());
  EXPECT_EQ(all.size(), 300 - 300 / 17 - 1);
  // The stored box of this is clamped to floats.
  all.clear();
  const plan::Constant far{kBytes, false, -1, bytes_of(geo::Box{1e100, 1e100, 2e100, 2e100}, Sides::kSrid)};
  ASSERT_TRUE(execution->lookup(0, {far}, &all).is_ok());
  EXPECT_EQ(all.size(), 300 - 300 / 17 - 1);
}

}  // namespace
}  // namespace strom::engine::test
