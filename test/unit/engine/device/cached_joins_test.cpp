// Join tables that stay on a device between executions: which are found, under which names, and which are not cached.
// Answers of all kinds of joins with them are in join_test.cpp and join_chain_test.cpp.
#include <gtest/gtest.h>

#include <set>

#include "engine/inst/tile_cpu.hpp"
#include "engine/op/join/join_image.hpp"
#include "engine/op/join/join_name.hpp"
#include "engine/device/cached_columns.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::NodeId;
using plan::ValueType;
using registry::Phys;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kText{TypeId::kText, 0};
constexpr size_t kMuch = size_t{1} << 31;
constexpr int kRows = 9000, kInnerRows = 300;

/// Rows of (number, number / 3, text).
void add_numbers(int rows, Table* to) {
  Table& table = *to;
  for (int i = 0; i < rows; ++i) {
    if (i > 0 && i % 2000 == 0) table.new_chunk();
    table.column(0).append(i);
    table.column(1).append(i / 3);
    if (i % 7 == 0)
      table.column(2).append_null();
    else
      EXPECT_TRUE(table.column(2).append_bytes(i % 5 == 0 ? "" : "text " + std::to_string(i)));
  }
}

std::vector<columnar::Field> fields() {
  return {field(columnar::Layout::kInt32), field(columnar::Layout::kInt32), field(columnar::Layout::kUtf8)};
}

struct Query {
  int32_t below = 200;
  plan::JoinKind kind = plan::JoinKind::kInner;
  bool by_text = false, reads_text = true, has_parameter = false, divides = false;

  plan::Program program() const {
    plan::Program p;
    plan::Builder b(p);
    p.sources.assign(2, {{kInt4, kInt4, kText}});
    plan::Join join;
    join.kind = kind;
    const ValueType type = by_text ? kText : kInt4;
    join.outer_keys = join.inner_keys = {b.column(by_text ? 2 : 0, type)};
    join.payload = {b.column(1, kInt4)};
    if (reads_text) join.payload.push_back(b.column(2, kText));
    if (divides)
      join.payload.push_back(b.call("int4div", {b.constant(kInt4, false, int_bytes(1)), b.column(1, kInt4)}).value());
    p.joins.push_back(join);
    p.pipelines.resize(2);
    p.pipelines[0].sink = plan::SinkKind::kBuild;
    const NodeId limit = b.constant(kInt4, false, int_bytes(below));
    if (has_parameter) p.constants.back() = {kInt4, false, 0, ""};
    p.pipelines[0].quals = {b.call("int4lt", {b.column(0, kInt4), limit}).value()};
    p.pipelines[1].source = 1;
    p.pipelines[1].joins = {0};
    p.pipelines[1].outputs = {b.column(0, kInt4)};
    for (uint32_t i = 0; i < join.payload.size(); ++i)
      p.pipelines[1].outputs.push_back(b.payload(0, i, p.nodes[join.payload[i]].type));
    return p;
  }
};

class CachedJoins : public testing::Test {
 protected:
  CachedJoins() {
    add_numbers(kInnerRows, &inner_);
    add_numbers(kRows, &outer_);
    inner_.name_columns();
  }

  std::unique_ptr<device::Device> device(size_t memory = kMuch) {
    return host_device(inst::run_morsel_for(platform::best_isa()), 3, memory);
  }
  Outcome run_on(const Query& query, device::Device* device, exec::Options options = {}) {
    options.threads = 2;
    return run(query.program(), {&inner_, &outer_},
               {"a device", inst::run_morsel_for(platform::best_isa()), false, device}, options);
  }
  /// Runs it; true when its table was there.
  bool finds(const Query& query, device::Device* device) {
    const Outcome got = run_on(query, device);
    EXPECT_EQ(got.rows, run_on(query, nullptr).rows);
    EXPECT_EQ(got.stats.device_joins.cached + got.stats.device_joins.built, 1);
    return got.stats.device_joins.cached == 1;
  }

  Table inner_{fields()}, outer_{fields()};
};

TEST_F(CachedJoins, are_found_by_what_is_the_same) {
  const auto target = device();
  EXPECT_FALSE(finds({}, target.get()));
  EXPECT_TRUE(finds({}, target.get()));
  EXPECT_FALSE(finds({.below = 201}, target.get()));
  EXPECT_FALSE(finds({.by_text = true}, target.get()));
  EXPECT_TRUE(finds({.by_text = true}, target.get()));
  EXPECT_FALSE(finds({.reads_text = false}, target.get()));
  EXPECT_TRUE(finds({}, target.get()));
  EXPECT_TRUE(finds({.kind = plan::JoinKind::kLeft}, target.get()));
  inner_.name_columns();
  EXPECT_FALSE(finds({}, target.get()));
  EXPECT_FALSE(finds({}, device().get()));
  inner_.name_columns("");
  EXPECT_FALSE(finds({}, target.get()));
  EXPECT_FALSE(finds({}, target.get()));
}

TEST_F(CachedJoins, are_not_cached_when_rows_may_be_others) {
  const auto target = device();
  inner_.set_holds(false);
  EXPECT_FALSE(finds({}, target.get()));
  inner_.set_holds(true);
  EXPECT_FALSE(finds({}, target.get()));
  EXPECT_TRUE(finds({}, target.get()));
}

/// Its name is another one at the second question.
class Changing : public op::ChunkSource {
 public:
  explicit Changing(const Table* table) : table_(table) {}
  int64_t chunk_count() const override { return table_->chunk_count(); }
  int64_t total_rows() const override { return table_->total_rows(); }
  Result<columnar::BatchView> chunk(int64_t index) const override { return table_->chunk(index); }
  columnar::RowsOrigin origin(const std::vector<uint32_t>&) const override {
    return {"version " + std::to_string(std::min(++questions_, most_)), "f"};
  }
  void settle() { most_ = questions_; }

 private:
  const Table* const table_;
  mutable int questions_ = 0;
  int most_ = 1000;
};

TEST_F(CachedJoins, are_not_cached_when_the_source_changes_meanwhile) {
  const auto target = device();
  Changing source(&inner_);
  const auto cached = [&] {
    exec::Options options;
    return run(Query().program(), {&source, &outer_},
               {"", inst::run_morsel_for(platform::best_isa()), false, target.get()}, options)
        .stats.device_joins.cached;
  };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(cached(), 0);
  source.settle();
  EXPECT_EQ(cached(), 0);
  EXPECT_EQ(cached(), 1);
}

TEST_F(CachedJoins, with_fallback_rows_and_in_several_passes_are_not_cached) {
  const auto target = device();
  const Query query{.divides = true};
  for (int i = 0; i < 2; ++i) {
    exec::Options options;
    Target({"", inst::run_morsel_for(platform::best_isa()), false, target.get()}).use_by(&options);
    auto execution = exec::Execution::create(query.program(), {&inner_, &outer_}, {}, options).value();
    size_t fallback = 0;
    execution->on_fallback_build([&](uint32_t, const std::vector<op::FallbackRow>& rows) { fallback += rows.size(); });
    while (execution->next([] {}).value() != nullptr) continue;
    EXPECT_EQ(fallback, 3u);
    EXPECT_EQ(execution->stats().device_joins.cached, 0);
  }
  exec::Options options;
  options.join_memory_budget = 2000;
  for (int i = 0; i < 2; ++i) {
    const Outcome got = run_on({}, target.get(), options);
    EXPECT_GT(got.stats.passes, 1);
    EXPECT_EQ(got.stats.device_joins.cached, 0);
  }
}

TEST_F(CachedJoins, with_parameters_are_those_of_their_values) {
  const auto target = device();
  const plan::Program program = Query{.has_parameter = true}.program();
  const auto cached = [&](plan::Constant value) {
    exec::Options options;
    Target({"", inst::run_morsel_for(platform::best_isa()), false, target.get()}).use_by(&options);
    auto execution = exec::Execution::create(program, {&inner_, &outer_}, {std::move(value)}, options).value();
    execution->on_fallback_build([](uint32_t, const std::vector<op::FallbackRow>&) {});
    while (execution->next([] {}).value() != nullptr) continue;
    return execution->stats().device_joins.cached;
  };
  EXPECT_EQ(cached({kInt4, false, -1, int_bytes(50)}), 0);
  EXPECT_EQ(cached({kInt4, false, -1, int_bytes(50)}), 1);
  EXPECT_EQ(cached({kInt4, false, -1, int_bytes(51)}), 0);
  EXPECT_EQ(cached({kInt4, true, -1, ""}), 0);
  EXPECT_EQ(cached({kInt4, true, -1, ""}), 0);                                     // without rows nothing is probed
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cached({kInt4, false, -1, "", true}), 0);  // not held
}

TEST_F(CachedJoins, on_several_devices_are_the_same_building) {
  const auto one = device(), two = device();
  exec::Options options;
  options.more_devices = {two.get()};
  const Query query{.below = kInnerRows, .kind = plan::JoinKind::kFull};
  const Rows wanted = run_on(query, nullptr).rows;
  // Each has one that it got by itself: rows may be in another order.
  EXPECT_FALSE(finds(query, two.get()));
  for (int i = 0; i < 3; ++i) {
    const Outcome got = run_on(query, one.get(), options);
    EXPECT_EQ(got.rows, wanted);
    EXPECT_EQ(got.stats.device_joins.cached, 1);
  }
  inner_.name_columns();
  for (int i = 0; i < 3; ++i) {
    const Outcome got = run_on(query, one.get(), options);
    EXPECT_EQ(got.rows, wanted);
    EXPECT_EQ(got.stats.device_joins.cached, i > 0);
  }
}

TEST_F(CachedJoins, and_the_cpu_where_the_device_has_no_memory) {
  const Query query{.below = kInnerRows, .kind = plan::JoinKind::kRight};
  const Rows wanted = run_on(query, nullptr).rows;
  const auto plenty = device();
  EXPECT_FALSE(finds(query, plenty.get()));
  for (size_t memory = 1000; memory < 40'000'000; memory = memory * 3 / 2) {
    const auto target = device(memory);
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run_on(query, target.get()).rows, wanted) << memory;
  }
}

TEST_F(CachedJoins, names_of_programs) {
  const auto text = [](const plan::Program& p) { return op::build_text(p, 0, op::join_needs(p, 0), false).text; };
  std::set<std::string> texts;
  const std::vector<Query> queries = {
      {}, {.below = 201}, {.by_text = true}, {.reads_text = false}, {.divides = true}, {.below = 201, .divides = true}};
  for (const Query& query : queries) EXPECT_TRUE(texts.insert(text(query.program())).second);
  EXPECT_EQ(text(Query{.has_parameter = true}.program()), "");
  // Other nodes of the program do not matter.
  plan::Program p = Query().program();
  const std::string wanted = text(p);
  EXPECT_NE(op::build_text(p, 0, op::join_needs(p, 0), true).text, wanted);
  plan::Builder b(p);
  p.pipelines[1].quals = {b.call("int4lt", {b.column(0, kInt4), b.constant(kInt4, false, int_bytes(7))}).value()};
  EXPECT_EQ(text(p), wanted);
  p.pipelines[0].quals.push_back(b.call("int4gt", {b.column(0, kInt4), b.column(1, kInt4)}).value());
  EXPECT_NE(text(p), wanted);
  p = Query().program();
  p.joins[0].payload.pop_back();
  EXPECT_NE(text(p), wanted);
  p = Query().program();
  p.pipelines[0].joins = {0};
  EXPECT_EQ(text(p), "");
}

TEST(JoinImage, is_refused_when_it_is_none) {
  const auto target = host_device(inst::run_morsel_for(platform::best_isa()), 1, kMuch);
  op::JoinBuild build({Phys::kI32}, {Phys::kStr}, {}, {});
  for (int i = 0; i < 100; ++i)
    build.append_row({{kInt4, false, -1, int_bytes(i)}}, {{kText, i % 3 == 0, -1, "payload " + std::to_string(i)}});
  ASSERT_TRUE(build.finish(1 << 20, 1).is_ok());
  op::DeviceImage image;
  op::put_cached_join(build, {1, 2}, 500, &image);
  const auto region = target->allocate(image.size(), true, [] { return true; }).value();
  image.write(region->host(), region->device());
  const auto read = op::read_cached_join(region->bytes(), {Phys::kI32}, {Phys::kStr});
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->scanned_rows, 500);
  EXPECT_EQ(read->table.row_count, 100u);
  EXPECT_EQ(read->id, (op::BuildId{1, 2}));
  const op::JoinBuild cached({Phys::kI32}, {Phys::kStr}, {}, *read, nullptr);
  std::vector<int64_t> rows;
  cached.lookup({{kInt4, false, -1, int_bytes(42)}}, &rows);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(cached.payload(0).is_null(rows[0]));
  const auto* text = static_cast<const registry::StrView*>(cached.payload(0).at(43));
  EXPECT_EQ(std::string(text->ptr, static_cast<size_t>(text->len)), "payload 43");
  EXPECT_EQ(cached.key_range(0)->highest, 99);
  EXPECT_FALSE(op::read_cached_join(region->bytes(), {Phys::kI64}, {Phys::kStr}).has_value());
  EXPECT_FALSE(op::read_cached_join(region->bytes(), {Phys::kI32}, {}).has_value());
  // Nonsense in place of any word is seen, or is no pointer.
  for (size_t place = 0; place + 8 <= region->size(); place += 8) {
    image.write(region->host(), region->device());
    const uint64_t nonsense = 0x123456789abcdefull;
    std::memcpy(region->host() + place, &nonsense, sizeof nonsense);
    (void)op::read_cached_join(region->bytes(), {Phys::kI32}, {Phys::kStr});
  }
}

}  // namespace
}  // namespace strom::engine::test
