// Batches with a selection on every target: what is not selected is neither read, counted nor left to PostgreSQL.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::ValueType;
using registry::AggregateId;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kText{TypeId::kText, 0};

struct Row {
  int32_t key, value;
  std::string name;
};

using Selects = std::function<bool(int64_t)>;

struct Pattern {
  const char* name;
  Selects selects;
};

std::vector<Pattern> patterns() {
  return {{"all", [](int64_t) { return true; }},
          {"none", [](int64_t) { return false; }},
          {"all but one", [](int64_t row) { return row != 2100; }},
          {"one", [](int64_t row) { return row == 4095; }},
          {"whole tiles", [](int64_t row) { return row / 2048 % 2 == 1; }},
          {"half", [](int64_t row) { return (row * 2654435761u >> 7 & 1) != 0; }}};
}

/// Rows (key int4, value int4, name text) in chunks of `per_chunk`, of which the selected ones are in `rows`. A row
/// that is not has the value 0.
struct Selected {
  Selected(int count, int64_t per_chunk, const Selects& selects) {
    std::vector<uint8_t> bits;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = i % per_chunk;
      if (at == 0 && i > 0) {
        table.select(table.chunk_count() - 1, bits);
        table.new_chunk();
      }
      if (at == 0) bits.assign(static_cast<size_t>(per_chunk + 7) / 8, 0);
      const bool is_there = selects(i);
      const Row row{static_cast<int32_t>(i % 97), is_there ? static_cast<int32_t>(i % 1009) + 1 : 0,
                    "n" + std::to_string(i % 5)};
      table.column(0).append(row.key);
      table.column(1).append(row.value);
      EXPECT_TRUE(table.column(2).append_bytes(row.name));
      if (!is_there) continue;
      bits[static_cast<size_t>(at) / 8] |= static_cast<uint8_t>(1 << at % 8);
      rows.push_back(row);
    }
    table.select(table.chunk_count() - 1, bits);
  }

  Table table{{field(columnar::Layout::kInt32), field(columnar::Layout::kInt32), field(columnar::Layout::kUtf8)}};
  std::vector<Row> rows;
};

int row_count(const Target& target) { return target.slow ? 4200 : 30000; }

exec::Options options_of(const Target& target) {
  exec::Options options;
  options.threads = target.slow ? 1 : 2;
  options.morsel_rows = 2999;  // so that morsels do not begin with a byte of the bitmap
  return options;
}

TEST(Selection, ProjectsWhatIsThere) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kInt4, kText}}};
  p.pipelines.resize(1);
  p.pipelines[0].outputs = {b.column(0, kInt4), b.column(1, kInt4), b.column(2, kText)};
  for (const bool filters : {false, true}) {
    if (filters)
      p.pipelines[0].quals = {b.call("int4lt", {b.column(1, kInt4), b.constant(kInt4, false, int_bytes(700))}).value()};
    for (const Target& target : targets())
      for (const Pattern& pattern : patterns())
        for (const bool named : {false, true}) {
          Selected data(row_count(target), 7000, pattern.selects);
          if (named) data.table.name_columns();
          Rows expected;
          for (const Row& row : data.rows)
            if (!filters || row.value < 700)
              expected.push_back(std::to_string(row.key) + "|" + std::to_string(row.value) + "|" + row.name);
          std::sort(expected.begin(), expected.end());
          const Outcome outcome = run(p, {&data.table}, target, options_of(target));
          EXPECT_EQ(outcome.rows, expected) << target.name << ", " << pattern.name;
          EXPECT_EQ(outcome.stats.rows, static_cast<int64_t>(data.rows.size())) << target.name << ", " << pattern.name;
          ASSERT_FALSE(outcome.stats.stages.empty());
          EXPECT_EQ(outcome.stats.stages.back().front().rows_in, static_cast<int64_t>(data.rows.size()))
              << target.name << ", " << pattern.name;
        }
  }
}

// The value 0, which only rows have that are not there, cannot be divided by.
TEST(Selection, LeavesNoErrorOfOtherRows) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kInt4, kText}}};
  p.pipelines.resize(1);
  p.pipelines[0].outputs = {b.call("int4div", {b.column(0, kInt4), b.column(1, kInt4)}).value()};
  for (const Target& target : targets())
    for (const Pattern& pattern : patterns()) {
      const Selected data(row_count(target), 7000, pattern.selects);
      const Outcome outcome = run(p, {&data.table}, target, options_of(target));
      EXPECT_EQ(outcome.rows.size(), data.rows.size()) << target.name << ", " << pattern.name;
      EXPECT_TRUE(outcome.fallback.empty()) << target.name << ", " << pattern.name;
    }
}

// Tiles whose rows begin with a byte of the bitmap stay whole where a filter is the first to see them.
TEST(Selection, FiltersTilesThatMissRows) {
  for (const bool by_key : {false, true}) {
    plan::Program p;
    plan::Builder b(p);
    p.sources = {{{kInt4, kInt4, kText}}};
    p.pipelines.resize(1);
    p.pipelines[0].outputs = {b.column(0, kInt4), b.column(2, kText)};
    // No row that is there has the value 0; some have the key 0.
    const auto quotient = by_key ? b.call("int4div", {b.column(1, kInt4), b.column(0, kInt4)})
                                 : b.call("int4div", {b.constant(kInt4, false, int_bytes(2000)), b.column(1, kInt4)});
    p.pipelines[0].quals = {b.call("int4lt", {quotient.value(), b.constant(kInt4, false, int_bytes(20))}).value()};
    for (const Target& target : targets())
      for (const Pattern& pattern : patterns()) {
        const int rows = row_count(target);
        const Selected data(rows, 7168, pattern.selects);
        Rows expected;
        std::vector<std::pair<int64_t, int64_t>> errors;
        for (int64_t i = 0; i < rows; ++i) {
          const int64_t key = i % 97, value = i % 1009 + 1;
          if (!pattern.selects(i)) continue;
          if (by_key && key == 0)
            errors.emplace_back(i / 7168, i % 7168);
          else if ((by_key ? value / key : 2000 / value) < 20)
            expected.push_back(std::to_string(key) + "|n" + std::to_string(i % 5));
        }
        std::sort(expected.begin(), expected.end());
        exec::Options options = options_of(target);
        options.morsel_rows = 4096;
        const Outcome outcome = run(p, {&data.table}, target, options);
        EXPECT_EQ(outcome.rows, expected) << target.name << ", " << pattern.name;
        EXPECT_EQ(outcome.fallback, errors) << target.name << ", " << pattern.name;
        EXPECT_EQ(outcome.stats.stages.back().front().rows_in, static_cast<int64_t>(data.rows.size()))
            << target.name << ", " << pattern.name;
      }
  }
}

// A row that PostgreSQL evaluates has the number that it has in its chunk.
TEST(Selection, NumbersFallbackRows) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kInt4, kText}}};
  p.pipelines.resize(1);
  p.pipelines[0].outputs = {b.call("int4div", {b.column(1, kInt4), b.column(0, kInt4)}).value()};
  for (const Target& target : targets())
    for (const Pattern& pattern : patterns()) {
      const int rows = row_count(target);
      const Selected data(rows, 7000, pattern.selects);
      std::vector<std::pair<int64_t, int64_t>> expected;
      for (int64_t i = 0; i < rows; i += 97)
        if (pattern.selects(i)) expected.emplace_back(i / 7000, i % 7000);
      EXPECT_EQ(run(p, {&data.table}, target, options_of(target)).fallback, expected)
          << target.name << ", " << pattern.name;
    }
}

TEST(Selection, JoinsAndGroupsWhatIsThere) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kInt4, kText}}, {{kInt4, kInt4, kText}}};
  plan::Join join;
  join.outer_keys = {b.column(0, kInt4)};
  join.inner_keys = {b.column(0, kInt4)};
  join.payload = {b.column(2, kText)};
  p.joins.push_back(join);
  p.pipelines.resize(2);
  p.pipelines[0].sink = plan::SinkKind::kBuild;
  plan::Pipeline& probe = p.pipelines[1];
  probe.source = 1;
  probe.joins = {0};
  probe.sink = plan::SinkKind::kAggregate;
  probe.group_keys = {b.payload(0, 0, kText), b.column(1, kInt4)};
  probe.aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode}};
  for (const Target& target : targets())
    for (const Pattern& pattern : patterns()) {
      const Selected inner(150, 60, [](int64_t row) { return row % 3 != 0; });
      const Selected outer(row_count(target), 7000, pattern.selects);
      std::map<std::string, int64_t> expected;
      for (const Row& row : outer.rows)
        for (const Row& match : inner.rows)
          if (row.key == match.key) ++expected[match.name + "|" + std::to_string(row.value)];
      std::map<std::string, int64_t> found;
      exec::Options options = options_of(target);
      options.memory_budget = 300 << 10;  // groups come in parts
      for (const std::string& line : run(p, {&inner.table, &outer.table}, target, options).rows) {
        const size_t end = line.rfind('|');
        found[line.substr(0, end)] += std::stoll(line.substr(end + 1));
      }
      EXPECT_EQ(found, expected) << target.name << ", " << pattern.name;
    }
}

// As when a source of another kind is fed beside one that has its chunks at hand.
class Slices : public op::ChunkSource, public op::ChunkFeeder {
 public:
  Slices(const Table& table, int64_t rows) : table_(table), rows_(rows) {}

  int64_t chunk_count() const override { return 0; }
  int64_t total_rows() const override { return table_.total_rows(); }
  op::ChunkFeeder* feeder() const override { return const_cast<Slices*>(this); }
  bool feed() override {
    if (chunk_ == table_.chunk_count()) return false;
    const int64_t all = table_.chunk(chunk_).value().rows;
    slices_.push_back({chunk_, begin_, std::min(rows_, all - begin_)});
    begin_ += rows_;
    if (begin_ >= all) ++chunk_, begin_ = 0;
    return true;
  }
  int64_t limit(int) override { return INT64_MAX; }
  void rewind() override {}
  void release(int64_t, bool) override {}
  Result<columnar::BatchView> chunk(int64_t index) const override {
    auto view = table_.chunk(slices_[static_cast<size_t>(index)].chunk);
    view.value().begin = slices_[static_cast<size_t>(index)].begin;
    view.value().rows = slices_[static_cast<size_t>(index)].rows;
    return view;
  }

 private:
  struct Slice {
    int64_t chunk, begin, rows;
  };
  const Table& table_;
  const int64_t rows_;
  std::vector<Slice> slices_;
  int64_t chunk_ = 0, begin_ = 0;
};

TEST(Selection, CountsRowsOfSlices) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kInt4, kText}}};
  p.pipelines.resize(1);
  p.pipelines[0].sink = plan::SinkKind::kAggregate;
  p.pipelines[0].aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode}};
  for (const Pattern& pattern : patterns()) {
    const Selected data(30000, 7000, pattern.selects);
    Slices slices(data.table, 1111);
    exec::Options options;
    const Outcome outcome = run(p, {&slices}, cpu_target(), options);
    // Of no rows there is no group here.
    EXPECT_EQ(outcome.rows, data.rows.empty() ? Rows() : Rows{std::to_string(data.rows.size())}) << pattern.name;
    EXPECT_EQ(outcome.stats.rows, static_cast<int64_t>(data.rows.size())) << pattern.name;
  }
}

}  // namespace
}  // namespace strom::engine::test
