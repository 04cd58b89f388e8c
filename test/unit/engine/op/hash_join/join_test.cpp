// Joins of all kinds on every target against nested loops over the same rows: unique and duplicate keys, null keys,
// dense and sparse ones, several columns, none; with and without quals; inner sides within and beyond their budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "engine/op/join/inner_partitions.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::JoinKind;
using plan::NodeId;
using plan::ValueType;
using registry::AggregateId;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kInt8{TypeId::kInt8, 0}, kText{TypeId::kText, 0};
using Int = std::optional<int32_t>;

std::string text_of(Int value) { return value ? std::to_string(*value) : "NULL"; }

struct Shape {
  const char* name;
  int outer_rows, inner_rows, key_values;
  int32_t spread;  // between two keys
  int key_columns;
};

struct Row {
  Int key, second, value;
};

/// Rows of (key, second, value, label), all nullable.
struct Side {
  std::vector<Row> rows;
  Table table{{field(columnar::Layout::kInt32), field(columnar::Layout::kInt32), field(columnar::Layout::kInt32),
               field(columnar::Layout::kUtf8)}};

  Side(int count, const Shape& shape, uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto some = [&](int values, int32_t spread) -> Int {
      if (random() % 9 == 0) return {};
      return static_cast<int32_t>(random() % static_cast<uint64_t>(values)) * spread;
    };
    for (int i = 0; i < count; ++i) {
      if (i > 0 && i % 1700 == 0) table.new_chunk();
      rows.push_back({some(shape.key_values, shape.spread), some(3, 1), some(20, 1)});
      const Int values[] = {rows.back().key, rows.back().second, rows.back().value};
      for (size_t c = 0; c < 3; ++c)
        if (values[c])
          table.column(c).append(*values[c]);
        else
          table.column(c).append_null();
      EXPECT_TRUE(table.column(3).append_bytes(label(rows.back())));
    }
  }

  static std::string label(const Row& row) { return "label of " + text_of(row.value); }
};

struct Sides {
  const Shape shape;
  Side outer, inner;
  bool filtered = false;  // few of the inner rows are left, and half of the outer ones

  Sides(const Shape& s, bool slow)
      : shape(s), outer(slow ? std::min(s.outer_rows, 500) : s.outer_rows, s, 21), inner(s.inner_rows, s, 22) {
    inner.table.name_columns();
  }

  static bool has_payload(JoinKind kind) { return kind != JoinKind::kSemi && kind != JoinKind::kAnti; }

  std::vector<const op::ChunkSource*> sources() const { return {&inner.table, &outer.table}; }

  bool has_outer(const Row& o) const { return !filtered || (o.value && *o.value < 12); }
  bool has_inner(const Row& i) const { return !filtered || (i.value && *i.value == 14); }

  bool matches(const Row& o, const Row& i, bool with_quals) const {
    if (!has_inner(i)) return false;
    if (shape.key_columns > 0 && (!o.key || !i.key || *o.key != *i.key)) return false;
    if (shape.key_columns > 1 && (!o.second || !i.second || *o.second != *i.second)) return false;
    return !with_quals || (o.value && i.value && *o.value < *i.value && *i.value < 15);
  }

  /// Calls f(outer row, inner row), nullptr for one that there is not, for each row of the join's result.
  template <class F>
  void for_each_result(JoinKind kind, bool with_quals, F f) const {
    std::vector<bool> matched(inner.rows.size(), false);
    for (const Row& o : outer.rows) {
      if (!has_outer(o)) continue;
      bool found = false;
      for (const Row& i : inner.rows) {
        if (!matches(o, i, with_quals)) continue;
        const bool goes_on = has_payload(kind) && !plan::ends_probing(kind);
        if (goes_on || (kind == JoinKind::kSemi && !found)) f(&o, &i);
        matched[static_cast<size_t>(&i - inner.rows.data())] = found = true;
      }
      if (!found && (plan::may_miss(kind) || kind == JoinKind::kAnti)) f(&o, nullptr);
    }
    for (size_t i = 0; i < matched.size(); ++i)
      if (has_inner(inner.rows[i]) && (matched[i] ? kind == JoinKind::kRightSemi : plan::keeps_unmatched(kind)))
        f(nullptr, &inner.rows[i]);
  }

  /// outer join inner; the caller adds the sink.
  plan::Program program(JoinKind kind, bool with_quals) const {
    plan::Program p;
    plan::Builder b(p);
    p.sources = {{{kInt4, kInt4, kInt4, kText}}, {{kInt4, kInt4, kInt4}}};
    plan::Join join;
    join.kind = kind;
    for (uint32_t i = 0; i < static_cast<uint32_t>(shape.key_columns); ++i) {
      join.outer_keys.push_back(b.column(i, kInt4));
      join.inner_keys.push_back(b.column(i, kInt4));
    }
    if (has_payload(kind) || with_quals) join.payload = {b.column(2, kInt4), b.column(3, kText)};
    if (with_quals)
      join.quals = {b.call("int4lt", {b.column(2, kInt4), b.payload(0, 0, kInt4)}).value(),
                    b.call("int4lt", {b.payload(0, 0, kInt4), b.constant(kInt4, false, int_bytes(15))}).value()};
    p.joins.push_back(join);
    p.pipelines.resize(2);
    p.pipelines[0].sink = plan::SinkKind::kBuild;
    p.pipelines[1].source = 1;
    p.pipelines[1].joins = {0};
    if (filtered) {
      const auto constant = [&](int32_t value) { return b.constant(kInt4, false, int_bytes(value)); };
      p.pipelines[0].quals = {b.call("int4eq", {b.column(2, kInt4), constant(14)}).value()};
      p.pipelines[1].quals = {b.call("int4lt", {b.column(2, kInt4), constant(12)}).value()};
    }
    return p;
  }
};

/// Runs a program whose inner side has a name, and once more where the device has cached its table.
template <class Check>
void run_again(const plan::Program& program, const Sides& sides, const Target& target, const exec::Options& options,
               Check check) {
  for (int i = 0; i < (target.keeps() ? 2 : 1); ++i) {
    const Outcome outcome = run(program, sides.sources(), target, options);
    check(outcome.rows);
    const int64_t cached = i == 1 && outcome.stats.passes == 1 && outcome.stats.device_rows > 0 ? 1 : 0;
    EXPECT_GE(outcome.stats.device_joins.cached, cached);
    if (outcome.stats.device_joins.cached > 0) {
      EXPECT_TRUE(outcome.stats.stages[0].empty());
    }
  }
}

/// Lines of key, count and count:sum, of which a key may have several.
Rows merged(const Rows& lines) {
  std::map<std::string, std::array<int64_t, 3>> sums;
  for (const std::string& line : lines) {
    const size_t colon = line.rfind(':'), last = line.rfind('|');
    const size_t first = last == 0 ? std::string::npos : line.rfind('|', last - 1);
    const size_t begin = first == std::string::npos ? 0 : first + 1;
    auto& sum = sums[line.substr(0, begin)];
    sum[0] += std::stoll(line.substr(begin));
    sum[1] += std::stoll(line.substr(last + 1));
    if (line.substr(colon + 1) != "NULL") sum[2] += std::stoll(line.substr(colon + 1));
  }
  Rows rows;
  for (const auto& [key, sum] : sums)
    rows.push_back(key + std::to_string(sum[0]) + "|" + std::to_string(sum[1]) + ":" +
                   (sum[1] > 0 ? std::to_string(sum[2]) : "NULL"));
  std::sort(rows.begin(), rows.end());
  return rows;
}

class JoinKinds : public testing::TestWithParam<Shape> {};

constexpr JoinKind kKinds[] = {JoinKind::kInner, JoinKind::kLeft, JoinKind::kSemi,      JoinKind::kAnti,
                               JoinKind::kRight, JoinKind::kFull, JoinKind::kRightSemi, JoinKind::kRightAnti};

TEST_P(JoinKinds, Project) {
  for (const Target& target : targets()) {
    Sides sides(GetParam(), target.slow);
    constexpr int kManyRows = 1000;  // which take long
    for (JoinKind kind : kKinds)
      for (int variant = 0; variant < (sides.shape.inner_rows > kManyRows ? 2 : 8); ++variant) {
        const bool with_quals = variant & 1, has_payload = Sides::has_payload(kind);
        sides.filtered = variant & 4;
        plan::Program p = sides.program(kind, with_quals);
        plan::Builder b(p);
        p.pipelines[1].outputs = {b.column(0, kInt4), b.column(2, kInt4)};
        if (has_payload) {
          p.pipelines[1].outputs.push_back(b.payload(0, 0, kInt4));
          p.pipelines[1].outputs.push_back(b.payload(0, 1, kText));
        }
        Rows expected;
        sides.for_each_result(kind, with_quals, [&](const Row* o, const Row* i) {
          expected.push_back(o == nullptr ? "NULL|NULL" : text_of(o->key) + "|" + text_of(o->value));
          if (has_payload)
            expected.back() += i == nullptr ? "|NULL|NULL" : "|" + text_of(i->value) + "|" + Side::label(*i);
        });
        std::sort(expected.begin(), expected.end());
        exec::Options options;
        options.threads = target.slow ? 1 : 2;
        options.morsel_rows = 1500;
        if (variant & 2) options.join_memory_budget = 2000;
        run_again(p, sides, target, options, [&](const Rows& rows) {
          EXPECT_EQ(rows, expected) << target.name << " kind " << static_cast<int>(kind) << " variant " << variant;
        });
      }
  }
}

TEST_P(JoinKinds, Group) {
  for (const Target& target : targets()) {
    const Sides sides(GetParam(), target.slow);
    for (JoinKind kind : kKinds)
      for (int variant = 0; variant < 4; ++variant) {
        const bool with_quals = variant & 1, has_payload = Sides::has_payload(kind);
        plan::Program p = sides.program(kind, with_quals);
        plan::Builder b(p);
        plan::Pipeline& pipeline = p.pipelines[1];
        pipeline.sink = plan::SinkKind::kAggregate;
        if (variant & 2) pipeline.group_keys.push_back(has_payload ? b.payload(0, 1, kText) : b.column(1, kInt4));
        pipeline.aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode},
                               {AggregateId::kSumInt4, b.column(2, kInt4), plan::kNoNode}};
        struct State {
          int64_t rows = 0, values = 0, sum = 0;
        };
        std::map<std::string, State> groups;
        sides.for_each_result(kind, with_quals, [&](const Row* o, const Row* i) {
          std::string key;
          if (variant & 2) key = !has_payload ? text_of(o->second) : i == nullptr ? "NULL" : Side::label(*i);
          State& s = groups[key];
          ++s.rows;
          if (o == nullptr || !o->value) return;
          ++s.values;
          s.sum += *o->value;
        });
        Rows expected;
        for (const auto& [key, s] : groups)
          expected.push_back((key.empty() ? "" : key + "|") + std::to_string(s.rows) + "|" + std::to_string(s.values) +
                             ":" + (s.values > 0 ? std::to_string(s.sum) : "NULL"));
        std::sort(expected.begin(), expected.end());
        exec::Options options;
        options.threads = target.slow ? 1 : 2;
        options.morsel_rows = 1500;
        run_again(p, sides, target, options, [&](const Rows& rows) {
          EXPECT_EQ(merged(rows), expected)
              << target.name << " kind " << static_cast<int>(kind) << " variant " << variant;
        });
      }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, JoinKinds,
    testing::Values(Shape{"DirectSparse", 6000, 40, 900, 1, 1}, Shape{"DirectDuplicates", 4000, 150, 60, 1, 1},
                    Shape{"HashSparse", 6000, 40, 900, 2000003, 1}, Shape{"HashDuplicates", 4000, 150, 60, 30000001, 1},
                    Shape{"TwoColumns", 4000, 300, 40, 1, 2}, Shape{"LargeHash", 150, 17000, 4000, 500003, 2},
                    Shape{"OneKey", 500, 90, 1, 1, 1}, Shape{"NoKeys", 700, 25, 5, 1, 0},
                    Shape{"EmptyInner", 3000, 0, 10, 1, 1}, Shape{"EmptyInnerNoKeys", 300, 0, 10, 1, 0},
                    Shape{"EmptyOuter", 0, 20, 10, 1, 1}),
    [](const auto& info) { return info.param.name; });

/// Two inner sides that are joined in several passes each, the second by a column of the first, and rows that are
/// fallback rows in some or all of the passes.
TEST(JoinPasses, CombineAndFallBackOnce) {
  const Shape shape{"", 0, 0, 80, 1, 1};
  const Side outer(3000, shape, 1), first(400, shape, 2), second(400, shape, 3);
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kInt4, kInt4, kText}}, {{kInt4, kInt4, kInt4, kText}}, {{kInt4, kInt4, kInt4, kText}}};
  p.joins.resize(2);
  p.joins[0] = {0, {b.column(0, kInt4)}, {b.column(0, kInt4)}, {b.column(2, kInt4)}, JoinKind::kLeft, {}};
  p.joins[1] = {1, {b.payload(0, 0, kInt4)}, {b.column(0, kInt4)}, {b.column(3, kText)}, JoinKind::kLeft, {}};
  p.pipelines.resize(3);
  for (uint32_t i = 0; i < 3; ++i) {
    p.pipelines[i].source = i;
    p.pipelines[i].sink = i < 2 ? plan::SinkKind::kBuild : plan::SinkKind::kProject;
  }
  p.pipelines[2].joins = {0, 1};
  p.pipelines[2].outputs = {b.column(0, kInt4), b.payload(0, 0, kInt4), b.payload(1, 0, kText)};
  const NodeId quotient = b.call("int4div", {b.constant(kInt4, false, int_bytes(100)), b.column(2, kInt4)}).value();
  p.pipelines[2].quals = {b.call("int4gt", {quotient, b.constant(kInt4, false, int_bytes(5))}).value()};
  Rows expected;
  std::vector<std::pair<int64_t, int64_t>> divisions;
  for (size_t n = 0; n < outer.rows.size(); ++n) {
    const Row& o = outer.rows[n];
    if (o.value && *o.value == 0) divisions.emplace_back(n / 1700, n % 1700);
    if (!o.value || *o.value == 0 || 100 / *o.value <= 5) continue;
    auto with_second = [&](Int key) {
      const std::string line = text_of(o.key) + "|" + text_of(key) + "|";
      bool found = false;
      for (const Row& s : second.rows)
        if (key && s.key && *s.key == *key) {
          expected.push_back(line + Side::label(s));
          found = true;
        }
      if (!found) expected.push_back(line + "NULL");
    };
    bool found = false;
    for (const Row& f : first.rows)
      if (o.key && f.key && *o.key == *f.key) {
        with_second(f.value);
        found = true;
      }
    if (!found) with_second({});
  }
  std::sort(expected.begin(), expected.end());
  std::sort(divisions.begin(), divisions.end());
  for (const Target& target : targets()) {
    exec::Options options;
    target.use_by(&options);
    options.join_memory_budget = target.slow ? 5000 : 3000;
    auto execution = exec::Execution::create(p, {&first.table, &second.table, &outer.table}, {}, options).value();
    size_t hook_calls = 0;
    std::vector<std::pair<int64_t, int64_t>> fallback;
    auto add = [&](const std::vector<op::FallbackRow>& rows) {
      for (const op::FallbackRow& row : rows) {
        const Row& o = outer.rows[static_cast<size_t>(row.chunk * 1700 + row.row)];
        plan::Constant key{kInt4, !o.key, -1, o.key ? int_bytes(*o.key) : ""};
        if (!execution->is_in_pass(0, {key})) continue;
        // The second join's key as the first join's first match gives it.
        std::vector<int64_t> matches;
        EXPECT_TRUE(execution->lookup(0, {key}, &matches).is_ok());
        plan::Constant next{kInt4, true, -1, {}};
        if (!matches.empty()) next = execution->payload(0, 0, *std::min_element(matches.begin(), matches.end()));
        if (execution->is_in_pass(1, {next})) fallback.emplace_back(row.chunk, row.row);
      }
    };
    execution->on_pass_end([&](const std::vector<op::FallbackRow>& rows) {
      ++hook_calls;
      add(rows);
    });
    Rows rows;
    for (;;) {
      auto batch = execution->next([] {});
      ASSERT_TRUE(batch.is_ok()) << batch.status().message();
      if (batch.value() == nullptr) break;
      append_rows(*batch.value(), &rows);
    }
    add(execution->take_fallback_rows());
    std::sort(rows.begin(), rows.end());
    std::sort(fallback.begin(), fallback.end());
    EXPECT_EQ(rows, expected) << target.name;
    EXPECT_EQ(fallback, divisions) << target.name;
    EXPECT_GT(hook_calls, 2u) << target.name;
    EXPECT_EQ(execution->stats().passes, static_cast<int64_t>(hook_calls) + 1);
  }
}

/// Counts an inner join's rows in passes; returns how many of these there were.
int64_t passes_of(const Side& outer, Side* inner, int64_t budget) {
  inner->table.make_text_unstable();
  plan::Program p = Sides({"", 0, 0, 1, 1, 1}, true).program(JoinKind::kInner, false);
  p.pipelines[1].sink = plan::SinkKind::kAggregate;
  p.pipelines[1].aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode}};
  std::map<int32_t, int64_t> found;
  for (const Row& i : inner->rows)
    if (i.key) ++found[*i.key];
  int64_t expected = 0, count = 0;
  for (const Row& o : outer.rows)
    if (o.key) expected += found[*o.key];
  exec::Options options;
  options.threads = 2;
  options.morsel_rows = 700;
  options.join_memory_budget = budget;
  auto execution = exec::Execution::create(p, {&inner->table, &outer.table}, {}, options).value();
  for (;;) {
    auto batch = execution->next([] {});
    EXPECT_TRUE(batch.is_ok()) << batch.status().message();
    if (batch.value() == nullptr) break;
    count += batch.value()->aggregates[0].counts[0];
  }
  EXPECT_EQ(count, expected);
  return execution->stats().passes;
}

/// No part is small enough for the budget when one key has all rows: there is one pass for it, and one for rows without
/// a key.
TEST(JoinPasses, OneKeyGoesBeyondTheBudget) {
  const Shape shape{"", 0, 0, 1, 1, 1};
  Side outer(100, shape, 1), inner(5000, shape, 2);
  EXPECT_LE(passes_of(outer, &inner, 4096), 2);
}

/// As many passes as there are keys are enough, whatever the rows take.
TEST(JoinPasses, OneForEachKeyAtMost) {
  const Shape shape{"", 0, 0, 5, 1, 1};
  Side outer(100, shape, 1), inner(5000, shape, 2);
  EXPECT_LE(passes_of(outer, &inner, 4096), 6);
  EXPECT_GT(passes_of(outer, &inner, 100'000), 1);
}

/// Texts that the table owns count, and passes are not more than what they are worth.
TEST(JoinPasses, MeasuresAndStaysBelowTheLimit) {
  const Shape shape{"", 0, 0, 4000, 1, 1};
  Side outer(3000, shape, 1), inner(5000, shape, 2);
  const int64_t bytes = 5000 * (16 + 6 + 40) + 5000 * 11;
  const int64_t passes = passes_of(outer, &inner, bytes / 6);
  EXPECT_GE(passes, 4);
  EXPECT_LE(passes, 12);
  EXPECT_LE(passes_of(outer, &inner, 100), exec::kMostPasses);
  EXPECT_EQ(passes_of(outer, &inner, bytes * 4), 1);
}

TEST(BucketSizes, MakeParts) {
  op::BucketSizes sizes;
  for (uint64_t i = 0; i < 10'000; ++i) sizes.add(block::mix(i), 10);
  sizes.add(block::mix(7), 1'000'000);
  EXPECT_EQ(sizes.rows(), 10'001);
  const auto parts = sizes.parts(5000, 1000);
  EXPECT_GE(parts.size(), 20u);
  EXPECT_LE(parts.size(), 26u);
  uint32_t next = 0;
  for (const op::Partition& part : parts) {
    EXPECT_EQ(part.first, next);
    EXPECT_LE(part.first, part.last);
    next = part.last + 1;
  }
  EXPECT_EQ(next, block::kPartitionBuckets);
  const uint32_t large = block::partition_bucket(block::mix(7));
  EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [&](const auto& part) { return part.first == large; }));
  EXPECT_LE(sizes.parts(5000, 8).size(), 8u);
  ASSERT_EQ(sizes.parts(1, 1).size(), 1u);
  EXPECT_TRUE(sizes.parts(1, 1)[0].is_whole());
}

}  // namespace
}  // namespace strom::engine::test
