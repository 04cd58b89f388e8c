// Text that is valid only while its chunk is held, and text that functions make: outputs, build sides and group keys
// must own what they keep.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::NodeId;
using plan::ValueType;
using registry::AggregateId;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kText{TypeId::kText, 0};

/// (key int4, name text) in chunks of 500 rows whose text is overwritten after use; every seventh name is null.
struct Names {
  Table table{{field(columnar::Layout::kInt32), field(columnar::Layout::kUtf8)}};
  std::vector<std::pair<int32_t, std::string>> rows;  // "NULL" for null

  Names(int count, int keys, const std::string& prefix, size_t padding = 0) {
    table.make_text_unstable();
    for (int i = 0; i < count; ++i) {
      if (i > 0 && i % 500 == 0) table.new_chunk();
      std::string name = prefix + std::to_string(i % keys) + std::string(padding, 'x');
      table.column(0).append(static_cast<int32_t>(i % keys));
      if (i % 7 == 3) {
        table.column(1).append_null();
        name = "NULL";
      } else {
        EXPECT_TRUE(table.column(1).append_bytes(name));
      }
      rows.emplace_back(i % keys, name);
    }
  }
};

exec::Options options_for(const Target& target) {
  exec::Options options;
  options.threads = target.slow ? 1 : 2;
  options.morsel_rows = 300;
  return options;
}

/// name || name
NodeId doubled(plan::Builder& b) { return b.call("textcat", {b.column(1, kText), b.column(1, kText)}).value(); }

std::string twice(const std::string& name) { return name == "NULL" ? name : name + name; }

TEST(UnstableText, ProjectionsOwnIt) {
  const Names names(2200, 900, "n");
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kText}}};
  p.pipelines.resize(1);
  p.pipelines[0].outputs = {b.column(0, kInt4), b.column(1, kText), doubled(b)};
  Rows expected;
  for (const auto& [key, name] : names.rows) expected.push_back(std::to_string(key) + "|" + name + "|" + twice(name));
  std::sort(expected.begin(), expected.end());
  for (const Target& target : targets())
    EXPECT_EQ(run(p, {&names.table}, target, options_for(target)).rows, expected) << target.name;
}

TEST(UnstableText, GroupsOwnTheirKeys) {
  const Names names(2200, 300, "group ");
  for (bool computed : {false, true}) {
    plan::Program p;
    plan::Builder b(p);
    p.sources = {{{kInt4, kText}}};
    p.pipelines.resize(1);
    p.pipelines[0].sink = plan::SinkKind::kAggregate;
    p.pipelines[0].group_keys = {computed ? doubled(b) : b.column(1, kText)};
    p.pipelines[0].aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode}};
    std::map<std::string, int> groups;
    for (const auto& [key, name] : names.rows) ++groups[computed ? twice(name) : name];
    Rows expected;
    for (const auto& [name, count] : groups) expected.push_back(name + "|" + std::to_string(count));
    std::sort(expected.begin(), expected.end());
    for (const Target& target : targets()) {
      EXPECT_EQ(run(p, {&names.table}, target, options_for(target)).rows, expected) << target.name << computed;
      exec::Options tight = options_for(target);  // partial groups leave while the table goes on
      tight.memory_budget = 64 << 10;
      std::map<std::string, int> sums;
      for (const std::string& line : run(p, {&names.table}, target, tight).rows)
        sums[line.substr(0, line.find('|'))] += std::stoi(line.substr(line.find('|') + 1));
      EXPECT_EQ(sums, groups) << target.name << computed;
    }
  }
}

TEST(UnstableText, BuildSidesOwnKeysAndPayload) {
  const Names facts(2000, 400, "k"), dims(600, 600, "k");
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kText}}, {{kInt4, kText}}};
  plan::Join join;
  join.outer_keys = {b.column(1, kText)};
  join.inner_keys = {b.column(1, kText)};
  join.payload = {b.column(1, kText), doubled(b)};
  p.joins.push_back(join);
  p.pipelines.resize(2);
  p.pipelines[0].sink = plan::SinkKind::kBuild;
  p.pipelines[1].source = 1;
  p.pipelines[1].joins = {0};
  p.pipelines[1].outputs = {b.column(1, kText), b.payload(0, 0, kText), b.payload(0, 1, kText)};
  std::set<std::string> inner;
  for (const auto& [key, name] : dims.rows)
    if (name != "NULL") inner.insert(name);
  Rows expected;
  for (const auto& [key, name] : facts.rows)
    if (inner.count(name) != 0) expected.push_back(name + "|" + name + "|" + twice(name));
  std::sort(expected.begin(), expected.end());
  for (const Target& target : targets())
    EXPECT_EQ(run(p, {&dims.table, &facts.table}, target, options_for(target)).rows, expected) << target.name;
  // Grouped by the inner side's text, which is coded.
  p.pipelines[1].outputs.clear();
  p.pipelines[1].sink = plan::SinkKind::kAggregate;
  p.pipelines[1].group_keys = {b.payload(0, 1, kText)};
  p.pipelines[1].aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode}};
  std::map<std::string, int> groups;
  for (const auto& [key, name] : facts.rows)
    if (inner.count(name) != 0) ++groups[twice(name)];
  expected.clear();
  for (const auto& [name, count] : groups) expected.push_back(name + "|" + std::to_string(count));
  std::sort(expected.begin(), expected.end());
  for (const Target& target : targets())
    EXPECT_EQ(run(p, {&dims.table, &facts.table}, target, options_for(target)).rows, expected) << target.name;
}

/// One chunk of (number int4, text) in register form; every third text is "compressed": its first byte is how often the
/// second is repeated. A first byte of 0 cannot be inflated.
class PackedTable : public op::ChunkSource {
 public:
  explicit PackedTable(int rows) : rows_(rows) {
    for (int i = 0; i < rows + block::kTilePadding; ++i) {
      stored_.push_back(i % 3 == 1 ? std::string{static_cast<char>(i % 100), 'z'} : "plain" + std::to_string(i));
      numbers_.push_back(i);
      flags_.push_back(i % 7 == 6 ? block::kNullFlag : i % 3 == 1 ? block::kPackedFlag : 0);
    }
    for (const std::string& text : stored_) views_.push_back({text.data(), static_cast<int64_t>(text.size())});
  }

  int64_t chunk_count() const override { return 1; }
  int64_t total_rows() const override { return rows_; }
  bool stable_text() const override { return false; }
  bool converts_late() const override { return true; }
  Result<columnar::BatchView> chunk(int64_t) const override {
    columnar::BatchView view;
    view.rows = rows_;
    view.columns.resize(2);
    for (columnar::ColumnView& column : view.columns) {
      column.is_register = true;
      column.length = rows_;
    }
    view.columns[0].values = numbers_.data();
    view.columns[1].values = views_.data();
    view.columns[1].flags = flags_.data();
    view.columns[1].has_packed = true;
    return view;
  }

  bool is_packed(int row) const { return flags_[static_cast<size_t>(row)] == block::kPackedFlag; }
  std::string expected(int row) const {
    const std::string& stored = stored_[static_cast<size_t>(row)];
    if (flags_[static_cast<size_t>(row)] == block::kNullFlag) return "NULL";
    return is_packed(row) ? std::string(static_cast<size_t>(stored[0]), stored[1]) : stored;
  }

 private:
  int rows_;
  std::vector<std::string> stored_;
  std::vector<registry::StrView> views_;
  std::vector<int32_t> numbers_;
  std::vector<uint8_t> flags_;
};

constexpr block::Inflater kRepeats{
    [](registry::StrView stored) { return stored.ptr[0] == 0 ? int64_t{-1} : int64_t{stored.ptr[0]}; },
    [](registry::StrView stored, char* to, int64_t size) {
      std::fill(to, to + size, stored.ptr[1]);
      return true;
    }};

TEST(PackedText, IsInflatedWhereItIsNeeded) {
  const int count = 5000;
  const PackedTable table(count);
  for (const Target& target : targets()) {
    plan::Program p;
    plan::Builder b(p);
    p.sources = {{{kInt4, kText}}};
    p.pipelines.resize(1);
    const NodeId number = b.column(0, kInt4), text = b.column(1, kText);
    p.pipelines[0].quals = {b.call("textne", {text, b.constant(kText, false, "zz")}).value(),
                            b.call("int4gt", {number, b.constant(kInt4, false, int_bytes(300))}).value()};
    p.pipelines[0].outputs = {number, text};
    exec::Options options;
    options.inflater = &kRepeats;
    options.morsel_rows = count;
    const Outcome outcome = run(p, {&table}, target, options);
    // Devices leave all compressed values to PostgreSQL.
    const bool inflates = outcome.fallback.size() < count / 30;
    EXPECT_EQ(inflates, !target.slow && target.device == nullptr) << target.name;
    Rows expected;
    std::vector<std::pair<int64_t, int64_t>> fallback;
    for (int row = 301; row < count; ++row) {
      const std::string value = table.expected(row);
      if (table.is_packed(row) && (!inflates || value.empty()))
        fallback.emplace_back(0, row);
      else if (value != "NULL" && value != "zz")
        expected.push_back(std::to_string(row) + "|" + value);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(outcome.rows, expected) << target.name;
    EXPECT_EQ(outcome.fallback, fallback) << target.name;
  }
}

TEST(ComputedText, FiltersForgetIt) {
  const Names names(3000, 900, "n");
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kText}}};
  p.pipelines.resize(1);
  p.pipelines[0].quals = {b.call("texteq", {doubled(b), b.constant(kText, false, "n7n7")}).value()};
  p.pipelines[0].outputs = {b.column(0, kInt4)};
  Rows expected;
  for (const auto& [key, name] : names.rows)
    if (name == "n7") expected.push_back("7");
  for (const Target& target : targets())
    EXPECT_EQ(run(p, {&names.table}, target, options_for(target)).rows, expected) << target.name;
}

// 2000 texts of 7 KB are more than the arena has at first, and less than it may take.
TEST(ComputedText, LeavesToPostgreSQLWhatHasNoRoom) {
  const Names names(4000, 4000, "n", 7000);
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4, kText}}};
  p.pipelines.resize(1);
  p.pipelines[0].outputs = {b.column(0, kInt4), doubled(b)};
  const Target& target = cpu_target();
  exec::Options options;
  options.morsel_rows = 1000;
  const Outcome outcome = run(p, {&names.table}, target, options);
  EXPECT_EQ(outcome.rows.size() + outcome.fallback.size(), names.rows.size());
  EXPECT_GT(outcome.fallback.size(), 0u);
  EXPECT_LT(outcome.fallback.size(), 1000u);
  std::set<int64_t> left;
  for (const auto& [chunk, row] : outcome.fallback) left.insert(chunk * 500 + row);
  Rows expected;
  for (size_t i = 0; i < names.rows.size(); ++i)
    if (left.count(static_cast<int64_t>(i)) == 0)
      expected.push_back(std::to_string(names.rows[i].first) + "|" + twice(names.rows[i].second));
  std::sort(expected.begin(), expected.end());
  EXPECT_TRUE(outcome.rows == expected);
}

}  // namespace
}  // namespace strom::engine::test
