// Filters, joins and aggregates over random tables on every target, against nested loops and maps over the same rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::NodeId;
using plan::ValueType;
using registry::AggregateId;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kInt8{TypeId::kInt8, 0}, kText{TypeId::kText, 0};

struct FactRow {
  int32_t key;
  bool key_null;
  int32_t value;
  std::string name;
};

/// A fact table of (key int4, value int4, name text) and a dimension of (key int4, label text).
struct Star {
  std::vector<FactRow> facts;
  std::vector<std::pair<int32_t, std::string>> dims;
  Table fact{{field(columnar::Layout::kInt32), field(columnar::Layout::kInt32), field(columnar::Layout::kUtf8)}};
  Table dim{{field(columnar::Layout::kInt32), field(columnar::Layout::kUtf8)}};

  Star(int rows, int keys, int copies, int64_t spread, uint64_t seed) {
    std::mt19937_64 random(seed);
    for (int i = 0; i < rows; ++i) {
      if (i > 0 && i % 1500 == 0) fact.new_chunk();
      FactRow row{static_cast<int32_t>(static_cast<int64_t>(random() % (static_cast<uint64_t>(keys) * 2)) * spread),
                  random() % 10 == 0, static_cast<int32_t>(random() % 1000), "n" + std::to_string(random() % 5)};
      if (row.key_null)
        fact.column(0).append_null();
      else
        fact.column(0).append(row.key);
      fact.column(1).append(row.value);
      EXPECT_TRUE(fact.column(2).append_bytes(row.name));
      facts.push_back(row);
    }
    for (int copy = 0; copy < copies; ++copy)
      for (int k = 0; k < keys; ++k) {
        dims.emplace_back(static_cast<int32_t>(k * spread), "l" + std::to_string((k + copy) % 7));
        dim.column(0).append(dims.back().first);
        EXPECT_TRUE(dim.column(1).append_bytes(dims.back().second));
      }
  }

  std::vector<const op::ChunkSource*> sources() const { return {&dim, &fact}; }

  /// fact join dim on key, value < limit. The caller adds the sink.
  plan::Program join_program(int32_t limit) const {
    plan::Program p;
    plan::Builder b(p);
    p.sources = {{{kInt4, kText}}, {{kInt4, kInt4, kText}}};
    plan::Join join;
    join.outer_keys = {b.column(0, kInt4)};
    join.inner_keys = {b.column(0, kInt4)};
    join.payload = {b.column(1, kText)};
    p.joins.push_back(join);
    p.pipelines.resize(2);
    p.pipelines[0].sink = plan::SinkKind::kBuild;
    p.pipelines[1].source = 1;
    p.pipelines[1].joins = {0};
    p.pipelines[1].quals = {b.call("int4lt", {b.column(1, kInt4), b.constant(kInt4, false, int_bytes(limit))}).value()};
    return p;
  }

  template <class F>
  void for_each_match(int32_t limit, F f) const {
    for (const FactRow& row : facts)
      for (const auto& [key, label] : dims)
        if (!row.key_null && row.value < limit && row.key == key) f(row, label);
  }
};

struct Shape {
  const char* name;
  int rows, keys, copies;
  int64_t spread;
};

class Join : public testing::TestWithParam<Shape> {};

TEST_P(Join, ProjectsMatches) {
  const Shape shape = GetParam();
  for (const Target& target : targets()) {
    const Star star(target.slow ? std::min(shape.rows, 3000) : shape.rows, shape.keys, shape.copies, shape.spread, 11);
    plan::Program p = star.join_program(900);
    plan::Builder b(p);
    p.pipelines[1].outputs = {b.column(0, kInt4), b.column(1, kInt4), b.payload(0, 0, kText)};
    Rows expected;
    star.for_each_match(900, [&](const FactRow& row, const std::string& label) {
      expected.push_back(std::to_string(row.key) + "|" + std::to_string(row.value) + "|" + label);
    });
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(run(p, star.sources(), target).rows, expected) << target.name;
  }
}

TEST_P(Join, GroupsByInnerAndOuterColumns) {
  const Shape shape = GetParam();
  for (const Target& target : targets())
    for (int variant = 0; variant < 4; ++variant) {
      const Star star(target.slow ? std::min(shape.rows, 3000) : shape.rows, shape.keys, shape.copies, shape.spread,
                      12);
      plan::Program p = star.join_program(500);
      plan::Builder b(p);
      plan::Pipeline& pipeline = p.pipelines[1];
      pipeline.sink = plan::SinkKind::kAggregate;
      if (variant & 1) pipeline.group_keys.push_back(b.payload(0, 0, kText));
      if (variant & 2) pipeline.group_keys.push_back(b.column(2, kText));
      pipeline.aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode},
                             {AggregateId::kSumInt4, b.column(1, kInt4), plan::kNoNode},
                             {AggregateId::kMinInt4, b.column(1, kInt4), plan::kNoNode},
                             {AggregateId::kMaxInt4, b.column(1, kInt4), plan::kNoNode}};
      struct State {
        int64_t rows = 0, sum = 0;
        int32_t low = INT32_MAX, high = INT32_MIN;
      };
      std::map<std::string, State> groups;
      star.for_each_match(500, [&](const FactRow& row, const std::string& label) {
        std::string key = (variant & 1 ? label : "") + (variant == 3 ? "|" : "") + (variant & 2 ? row.name : "");
        State& s = groups[key];
        ++s.rows;
        s.sum += row.value;
        s.low = std::min(s.low, row.value);
        s.high = std::max(s.high, row.value);
      });
      Rows expected;
      for (const auto& [key, s] : groups) {
        const std::string n = std::to_string(s.rows);
        expected.push_back((key.empty() ? "" : key + "|") + n + "|" + n + ":" + std::to_string(s.sum) + "|" + n + ":" +
                           std::to_string(s.low) + "|" + n + ":" + std::to_string(s.high));
      }
      std::sort(expected.begin(), expected.end());
      exec::Options options;
      options.threads = target.slow ? 1 : 2;
      options.morsel_rows = 1500;
      EXPECT_EQ(run(p, star.sources(), target, options).rows, expected) << target.name << " variant " << variant;
    }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Join,
                         testing::Values(Shape{"DirectUnique", 20000, 300, 1, 1},
                                         Shape{"DirectDuplicates", 6000, 50, 3, 1},
                                         Shape{"HashUnique", 20000, 300, 1, 7000001},
                                         Shape{"HashDuplicates", 6000, 50, 3, 40000003},
                                         Shape{"EmptyInner", 5000, 10, 0, 1}, Shape{"TileEdge", 2048, 10, 1, 1},
                                         Shape{"TileEdgePlusOne", 2049, 10, 1, 1}, Shape{"OneRow", 1, 1, 1, 1}),
                         [](const auto& info) { return info.param.name; });

// Tables that states of a device share are full again and again, with nearly as many groups as rows.
TEST(Aggregate, MoreGroupsThanFit) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt8, kText}}};
  p.pipelines.resize(1);
  plan::Pipeline& pipeline = p.pipelines[0];
  pipeline.sink = plan::SinkKind::kAggregate;
  pipeline.group_keys = {b.column(0, kInt8), b.call("upper", {b.column(1, kText)}).value()};
  pipeline.aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode}};
  Table table({field(columnar::Layout::kInt64), field(columnar::Layout::kUtf8)});
  std::mt19937_64 random(6);
  std::map<std::string, int64_t> expected;
  for (int i = 0; i < 15000; ++i) {
    const auto key = static_cast<int64_t>(random() % 100000);
    const std::string name = "n" + std::to_string(key % 7);
    table.column(0).append(key);
    ASSERT_TRUE(table.column(1).append_bytes(name));
    ++expected[std::to_string(key) + "|N" + name.substr(1)];
  }
  exec::Options tight;
  tight.memory_budget = 300 << 10;
  for (const Target& target : targets()) {
    std::map<std::string, int64_t> found;  // a group may come in parts
    for (const std::string& line : run(p, {&table}, target, tight).rows) {
      const size_t end = line.rfind('|');
      found[line.substr(0, end)] += std::stoll(line.substr(end + 1));
    }
    EXPECT_EQ(found, expected) << target.name;
  }
}

TEST(Aggregate, FilterNullsAndFlushes) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt8, kInt4}}};
  p.pipelines.resize(1);
  plan::Pipeline& pipeline = p.pipelines[0];
  pipeline.sink = plan::SinkKind::kAggregate;
  pipeline.group_keys = {b.column(0, kInt8)};
  const NodeId small = b.call("int4lt", {b.column(1, kInt4), b.constant(kInt4, false, int_bytes(50))}).value();
  pipeline.aggregates = {{AggregateId::kCountAny, b.column(1, kInt4), plan::kNoNode},
                         {AggregateId::kCountStar, plan::kNoNode, small},
                         {AggregateId::kSumInt4, b.column(1, kInt4), small}};
  Table table({field(columnar::Layout::kInt64), field(columnar::Layout::kInt32)});
  std::mt19937_64 random(5);
  struct State {
    int64_t count = 0, small = 0, sum = 0;
  };
  std::map<int64_t, State> groups;
  for (int i = 0; i < 40000; ++i) {
    const auto key = static_cast<int64_t>(random() % 9000);
    const int32_t value = static_cast<int32_t>(random() % 100);
    table.column(0).append(key);
    State& s = groups[key];
    if (random() % 4 == 0) {
      table.column(1).append_null();
      continue;
    }
    table.column(1).append(value);
    ++s.count;
    if (value < 50) ++s.small, s.sum += value;
  }
  Rows expected;
  for (const auto& [key, s] : groups)
    expected.push_back(std::to_string(key) + "|" + std::to_string(s.count) + "|" + std::to_string(s.small) + "|" +
                       std::to_string(s.small) + ":" + (s.small ? std::to_string(s.sum) : "NULL"));
  std::sort(expected.begin(), expected.end());
  for (const Target& target : targets()) EXPECT_EQ(run(p, {&table}, target).rows, expected) << target.name;

  exec::Options tight;  // groups are handed on in parts, which the caller combines
  tight.memory_budget = 300 << 10;
  int64_t rows = 0;
  for (const std::string& line : run(p, {&table}, cpu_target(), tight).rows)
    rows += std::stoll(line.substr(line.find('|') + 1));
  int64_t expected_rows = 0;
  for (const auto& [key, s] : groups) expected_rows += s.count;
  EXPECT_EQ(rows, expected_rows);

  tight.memory_budget = 6 << 20;  // tables that are full meet in parts, so that each group still comes once
  tight.threads = 6;
  tight.morsel_rows = 3000;
  for (const Target& target : targets())
    if (!target.slow) {
      EXPECT_EQ(run(p, {&table}, target, tight).rows, expected) << target.name;
    }
}

TEST(Aggregate, WideNumericsFallBack) {
  const ValueType numeric{TypeId::kNumeric, 0};
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{numeric}}};
  p.pipelines.resize(1);
  p.pipelines[0].sink = plan::SinkKind::kAggregate;
  p.pipelines[0].aggregates = {{AggregateId::kSumNumeric, b.column(0, numeric), plan::kNoNode}};
  Table table({field(columnar::Layout::kDecimal128)});
  for (int i = 0; i < 3; ++i) table.column(0).append(static_cast<__int128>(i));
  table.column(0).append(static_cast<__int128>(1) << 100);
  for (const Target& target : targets()) {
    const Outcome outcome = run(p, {&table}, target);
    EXPECT_EQ(outcome.rows, Rows{"3:00000000000000000000000000000003"}) << target.name;
    EXPECT_EQ(outcome.fallback, (std::vector<std::pair<int64_t, int64_t>>{{0, 3}})) << target.name;
  }
}

TEST(Execution, RowsWithoutColumnsAreCounted) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4}}};
  p.pipelines.resize(1);
  p.pipelines[0].quals = {b.call("int4lt", {b.column(0, kInt4), b.constant(kInt4, false, int_bytes(7))}).value()};
  Table table({field(columnar::Layout::kInt32)});
  for (int32_t v = 0; v < 20; ++v) table.column(0).append(v);
  for (const Target& target : targets()) EXPECT_EQ(run(p, {&table}, target).rows, Rows(7)) << target.name;
}

TEST(Execution, StopsWhenTheInterruptThrows) {
  const Star star(400000, 100, 1, 1, 3);
  plan::Program p = star.join_program(1000);
  plan::Builder b(p);
  p.pipelines[1].outputs = {b.column(1, kInt4)};
  exec::Options options;
  options.threads = 4;
  options.morsel_rows = 50000;
  auto execution = exec::Execution::create(p, star.sources(), {}, options);
  ASSERT_TRUE(execution.is_ok());
  int calls = 0;
  EXPECT_THROW(
      {
        for (;;)
          (void)execution.value()->next([&] {
            if (++calls == 4) throw std::runtime_error("cancel");
          });
      },
      std::runtime_error);
  execution.value().reset();
}

// From nothing at all to enough for all: what does not fit runs on the CPU, with the same answer.
TEST(Execution, DevicesWithLittleMemory) {
  const Star star(40000, 300, 2, 1000, 5);
  plan::Program p = star.join_program(700);
  plan::Builder b(p);
  plan::Pipeline& pipeline = p.pipelines[1];
  pipeline.sink = plan::SinkKind::kAggregate;
  pipeline.group_keys = {b.payload(0, 0, kText), b.column(2, kText), b.column(0, kInt4)};
  pipeline.aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode},
                         {AggregateId::kSumInt4, b.column(1, kInt4), plan::kNoNode}};
  const Target& cpu = cpu_target();
  const Rows expected = run(p, star.sources(), cpu).rows;
  bool ran = false;
  for (size_t memory = 0; memory < (size_t{256} << 20); memory = memory == 0 ? 10000 : memory + memory / 3) {
    const auto device = host_device(cpu.run, 3, memory);
    exec::Options options;
    options.threads = 2;
    const Outcome outcome = run(p, star.sources(), {"little memory", cpu.run, false, device.get()}, options);
    EXPECT_EQ(outcome.rows, expected) << memory;
    if (memory == 0) {
      EXPECT_EQ(outcome.stats.device_rows, 0);
    }
    ran = outcome.stats.device_rows > 0;
  }
  EXPECT_TRUE(ran);
}

// Threads are spread over devices, of which one has no memory: the CPU does its part.
TEST(Execution, SeveralDevices) {
  const Star star(200000, 300, 2, 1000, 5);
  plan::Program p = star.join_program(700);
  plan::Builder b(p);
  plan::Pipeline& pipeline = p.pipelines[1];
  pipeline.sink = plan::SinkKind::kAggregate;
  pipeline.group_keys = {b.payload(0, 0, kText), b.column(2, kText)};
  pipeline.aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode},
                         {AggregateId::kSumInt4, b.column(1, kInt4), plan::kNoNode}};
  const Target& cpu = cpu_target();
  for (const plan::JoinKind kind : {plan::JoinKind::kInner, plan::JoinKind::kFull}) {
    p.joins[0].kind = kind;
    const Rows expected = run(p, star.sources(), cpu).rows;
    const auto first = host_device(cpu.run, 3, size_t{1} << 30), second = host_device(cpu.run, 2, size_t{1} << 30);
    const auto full = host_device(cpu.run, 3, 1000);
    exec::Options options;
    options.threads = 6;
    options.more_devices = {second.get(), full.get()};
    const Outcome outcome = run(p, star.sources(), {"three devices", cpu.run, false, first.get()}, options);
    EXPECT_EQ(outcome.rows, expected);
    ASSERT_EQ(outcome.stats.rows_by_device.size(), 3u);
    EXPECT_EQ(outcome.stats.rows_by_device[2], 0);
    EXPECT_EQ(outcome.stats.rows_by_device[0] + outcome.stats.rows_by_device[1], outcome.stats.device_rows);
    EXPECT_GT(outcome.stats.device_rows, 0);
  }
}

TEST(Execution, CorruptTextOffsetIsAnError) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kText}}};
  p.pipelines.resize(1);
  p.pipelines[0].outputs = {b.column(0, kText)};
  struct Broken : op::ChunkSource {
    int32_t offsets[3] = {0, 5, 2};
    int64_t chunk_count() const override { return 1; }
    int64_t total_rows() const override { return 2; }
    Result<columnar::BatchView> chunk(int64_t) const override {
      columnar::ColumnView c;
      c.layout = columnar::Layout::kUtf8;
      c.length = 2;
      c.values = offsets;
      c.data = "hello";
      c.data_size = 5;
      return columnar::BatchView{2, {c}};
    }
  } source;
  auto execution = exec::Execution::create(p, {&source}, {}, {});
  ASSERT_TRUE(execution.is_ok());
  auto next = execution.value()->next([] {});
  ASSERT_FALSE(next.is_ok());
  EXPECT_EQ(next.status().code(), ErrorCode::kCorruptFile);
}

}  // namespace
}  // namespace strom::engine::test
