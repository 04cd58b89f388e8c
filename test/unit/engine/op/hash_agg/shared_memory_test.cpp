// Groups with small numbers, which a block of a device adds up in memory of its own: few, as many as it has room for,
// one more, and many; in launches that pause, are stopped, and have no room for groups.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/int128.hpp"
#include "engine/op/pipeline/assemble.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::ValueType;
using registry::AggregateId;
using registry::TypeId;

const std::vector<ValueType> kTypes = {{TypeId::kInt4, 0},   {TypeId::kInt4, 0},   {TypeId::kInt8, 0},
                                       {TypeId::kFloat8, 0}, {TypeId::kFloat4, 0}, {TypeId::kNumeric, 2},
                                       {TypeId::kBool, 0},   {TypeId::kDecimal, 0}};
enum Column { kKey, kInt4, kInt8, kFloat8, kFloat4, kNumeric, kBool, kDecimal };

using Wanted = std::vector<std::pair<AggregateId, Column>>;
const std::vector<Wanted> kSets = {
    {},  // count(*)
    {{AggregateId::kCountAny, kInt4}, {AggregateId::kSumInt4, kInt4}, {AggregateId::kBoolAnd, kBool}},
    {{AggregateId::kSumInt8, kInt8}, {AggregateId::kSumNumeric, kNumeric}, {AggregateId::kSumDecimal, kDecimal}},
    {{AggregateId::kVarPopInt4, kInt4}, {AggregateId::kVarPopInt8, kInt8}, {AggregateId::kSumInt4, kInt4}},
    {{AggregateId::kSumFloat8, kFloat8}, {AggregateId::kSumFloat4, kFloat4}, {AggregateId::kAvgFloat4, kFloat4}},
    {{AggregateId::kMinInt4, kInt4},
     {AggregateId::kMaxInt8, kInt8},
     {AggregateId::kMinFloat8, kFloat8},
     {AggregateId::kMaxFloat4, kFloat4}},
    {{AggregateId::kBitAndInt8, kInt8}, {AggregateId::kBitOrInt4, kInt4}, {AggregateId::kBitXorInt8, kInt8}}};

/// Groups 0 to `groups` - 1 in this order, then at random. Sums of floats do not depend on their order.
std::unique_ptr<Table> make_table(int rows, int groups, bool nulls) {
  std::vector<columnar::Field> fields;
  fields.reserve(kTypes.size());
  for (const ValueType type : kTypes) fields.push_back(field_of(type));
  auto table = std::make_unique<Table>(fields);
  std::mt19937_64 random(static_cast<uint64_t>(groups));
  for (int i = 0; i < rows; ++i) {
    table->column(kKey).append(i < groups ? i : static_cast<int32_t>(random() % static_cast<uint64_t>(groups)));
    for (int c = kInt4; c <= kDecimal; ++c) {
      columnar::ColumnBuilder& column = table->column(static_cast<size_t>(c));
      const auto small = static_cast<int32_t>(random() % 101) - 50;
      if (nulls && random() % 4 == 0) {
        column.append_null();
        continue;
      }
      __int128 decimal;
      switch (c) {
        case kInt4: column.append(static_cast<int32_t>(random())); break;
        case kInt8: column.append(static_cast<int64_t>(random())); break;
        case kFloat8: column.append(static_cast<double>(small)); break;
        case kFloat4: column.append(static_cast<float>(small)); break;
        case kNumeric: column.append(static_cast<__int128>(static_cast<int64_t>(random())) * small); break;
        case kBool: column.append_bool(small < 40); break;
        default:
          EXPECT_TRUE(base::make_decimal(small, static_cast<int>(random() % 5), &decimal));
          column.append(decimal);
      }
    }
  }
  return table;
}

plan::Program make_program(const Wanted& wanted, bool keys) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kTypes}}};
  p.pipelines.resize(1);
  plan::Pipeline& pipeline = p.pipelines[0];
  pipeline.sink = plan::SinkKind::kAggregate;
  if (keys) pipeline.group_keys = {b.column(kKey, kTypes[kKey])};
  pipeline.aggregates = {{AggregateId::kCountStar, plan::kNoNode, plan::kNoNode}};
  for (const auto& [id, column] : wanted)
    pipeline.aggregates.push_back({id, b.column(static_cast<uint32_t>(column), kTypes[column]), plan::kNoNode});
  return p;
}

int own_groups(const plan::Program& p) {
  return static_cast<int>(op::assemble(p, 0, {}, {}, {false, true, false, true}, false).value().code.own_groups);
}

/// Tiles one by one, each in a launch of its own.
block::RunResult run_single_tiles(block::TileState& state) {
  state.budget = std::min(state.budget, 1);
  return run_morsel_simt(state);
}

/// Every other launch is stopped at its first tile, as by the service.
block::RunResult run_stopped(block::TileState& state) {
  static int launches = 0;
  auto* stop = const_cast<int32_t*>(state.stop);
  *stop = ++launches % 2;
  const block::RunResult result = run_morsel_simt(state);
  *stop = 0;
  return result;
}

void expect_same(const std::vector<Target>& on, int64_t memory_budget, int rows) {
  for (const Wanted& wanted : kSets)
    for (const bool nulls : {false, true}) {
      const plan::Program grouped = make_program(wanted, true);
      const int own = own_groups(grouped);
      ASSERT_GT(own, 10);
      for (const int groups : {0, 1, 4, own, own + 1, 3 * own, rows}) {
        if (groups > rows) continue;
        const std::unique_ptr<Table> table = make_table(rows, std::max(1, groups), nulls);
        const plan::Program p = groups > 0 ? grouped : make_program(wanted, false);
        const Outcome expected = run(p, {table.get()}, cpu_target());
        for (const Target& target : on) {
          exec::Options options;
          if (memory_budget > 0) options.memory_budget = memory_budget;
          const Outcome outcome = run(p, {table.get()}, target, options);
          EXPECT_EQ(outcome.rows, expected.rows) << target.name << ", " << groups << " groups, own " << own;
          EXPECT_TRUE(outcome.fallback.empty());
        }
      }
    }
}

TEST(OwnGroups, SameOnAllTargets) { expect_same(targets(), 0, 3000); }

#ifndef __SANITIZE_THREAD__  // which does not know fibers
std::vector<Target> paused_targets(std::vector<std::unique_ptr<device::Device>>* devices) {
  std::vector<Target> found;
  for (const auto& [name, run] :
       {std::pair{"single tiles", &run_single_tiles}, {"stopped", &run_stopped}, {"SIMT apart", &run_morsel_simt}}) {
    devices->push_back(host_device(run, 2, size_t{1} << 31));
    found.push_back({name, run_morsel_simt, true, devices->back().get()});
  }
  return found;
}

TEST(OwnGroups, SameInPausedLaunches) {
  std::vector<std::unique_ptr<device::Device>> devices;
  expect_same(paused_targets(&devices), 0, 9000);
}

TEST(OwnGroups, SameWhereTablesBecomeFull) {
  std::vector<std::unique_ptr<device::Device>> devices;
  expect_same(paused_targets(&devices), 1, 9000);
}
#endif

/// What blocks cannot share has no accumulators of their own beside it.
TEST(OwnGroups, NoneBesideWhatIsNotShared) {
  const plan::Program p = make_program({{AggregateId::kSumInt4, kInt4}, {AggregateId::kMaxNumeric, kNumeric}}, true);
  EXPECT_EQ(own_groups(p), 0);
}

/// Of one group without keys there is one.
TEST(OwnGroups, NoMoreThanThereAre) { EXPECT_EQ(own_groups(make_program({{AggregateId::kSumInt4, kInt4}}, false)), 1); }

}  // namespace
}  // namespace strom::engine::test
