// Which inner sides are read when others have no rows, or no probing row gets to them.
#include "engine/exec/needed_sides.hpp"

#include <gtest/gtest.h>

#include "engine/plan/builder.hpp"

namespace strom::engine::exec {
namespace {

using plan::JoinKind;

plan::Program chain(const std::vector<JoinKind>& kinds, size_t never_true = SIZE_MAX) {
  plan::Program program;
  plan::Builder builder(program);
  program.pipelines.resize(kinds.size() + 1);
  for (uint32_t i = 0; i < kinds.size(); ++i) {
    plan::Join join;
    join.build_pipeline = i;
    join.kind = kinds[i];
    if (i == never_true) join.quals.push_back(builder.constant({registry::TypeId::kBool, 0}, true, {}));
    program.joins.push_back(join);
    program.pipelines.back().joins.push_back(i);
  }
  return program;
}

std::vector<bool> needed(const NeededSides& sides, uint32_t count) {
  std::vector<bool> result;
  result.reserve(count + 1);
  for (uint32_t join = 0; join < count; ++join) result.push_back(sides.is_needed(join));
  result.push_back(sides.is_outer_needed());
  return result;
}

using Needed = std::vector<bool>;

TEST(NeededSides, AllAreAtFirst) {
  const NeededSides sides(chain({JoinKind::kInner, JoinKind::kLeft, JoinKind::kFull, JoinKind::kAnti}));
  EXPECT_EQ(needed(sides, 4), Needed({true, true, true, true, true}));
  EXPECT_TRUE(sides.is_needed(9));  // of another pipeline
  EXPECT_EQ(sides.place_of(9), 4U);
}

TEST(NeededSides, AnEmptyInnerSideEndsThePipeline) {
  for (const JoinKind kind : {JoinKind::kInner, JoinKind::kSemi, JoinKind::kRightSemi, JoinKind::kRight}) {
    NeededSides sides(chain({JoinKind::kLeft, kind, JoinKind::kInner}));
    sides.set_empty(1);
    EXPECT_EQ(needed(sides, 3), Needed({false, false, false, false}));
  }
  for (const JoinKind kind : {JoinKind::kLeft, JoinKind::kFull, JoinKind::kAnti}) {
    NeededSides sides(chain({JoinKind::kLeft, kind, JoinKind::kInner}));
    sides.set_empty(1);
    EXPECT_EQ(needed(sides, 3), Needed({true, true, true, true}));
  }
}

TEST(NeededSides, RowsThatGoOnByThemselvesNeedTheJoinsBehind) {
  NeededSides sides(chain({JoinKind::kInner, JoinKind::kRight, JoinKind::kLeft}));
  sides.set_empty(0);
  EXPECT_EQ(needed(sides, 3), Needed({false, true, true, false}));
  sides.set_empty(1);
  EXPECT_EQ(needed(sides, 3), Needed({false, false, false, false}));
}

TEST(NeededSides, ConditionsThatAreNeverTrue) {
  EXPECT_EQ(needed(NeededSides(chain({JoinKind::kInner, JoinKind::kInner}, 1)), 2), Needed({false, false, false}));
  EXPECT_EQ(needed(NeededSides(chain({JoinKind::kInner, JoinKind::kLeft}, 1)), 2), Needed({true, true, true}));
  EXPECT_EQ(needed(NeededSides(chain({JoinKind::kInner, JoinKind::kRight}, 1)), 2), Needed({false, true, false}));
  EXPECT_EQ(needed(NeededSides(chain({JoinKind::kInner, JoinKind::kFull}, 1)), 2), Needed({true, true, true}));
}

TEST(NeededSides, RowsThatDoNotGetThere) {
  NeededSides sides(chain({JoinKind::kInner, JoinKind::kLeft, JoinKind::kFull, JoinKind::kLeft}));
  EXPECT_TRUE(sides.depends_on_reach(0));
  sides.set_reached(0, true);
  EXPECT_FALSE(sides.depends_on_reach(0));
  EXPECT_TRUE(sides.depends_on_reach(1));
  EXPECT_FALSE(sides.depends_on_reach(2));
  sides.set_reached(1, false);
  EXPECT_EQ(needed(sides, 4), Needed({true, false, true, true, false}));
  sides.set_empty(2);
  EXPECT_EQ(needed(sides, 4), Needed({true, false, false, false, false}));
}

TEST(NeededSides, TheProgramOfRowsBeforeAJoin) {
  plan::Program program = chain({JoinKind::kInner, JoinKind::kLeft});
  plan::Builder builder(program);
  const plan::ValueType type{registry::TypeId::kBool, 0};
  plan::Pipeline& pipeline = program.pipelines.back();
  pipeline.sink = plan::SinkKind::kAggregate;
  pipeline.quals = {builder.column(0, type)};
  pipeline.join_quals = {builder.payload(0, 0, type), builder.payload(1, 0, type)};
  const plan::Program result = rows_before_join(program, 1);
  const plan::Pipeline& before = result.pipelines.back();
  EXPECT_EQ(before.sink, plan::SinkKind::kProject);
  EXPECT_EQ(before.quals, pipeline.quals);
  EXPECT_EQ(before.joins, std::vector<uint32_t>({0}));
  EXPECT_EQ(before.join_quals, std::vector<plan::NodeId>({pipeline.join_quals[0]}));
  ASSERT_EQ(before.outputs.size(), 1U);
  EXPECT_FALSE(result.constants[result.nodes[before.outputs[0]].imm].is_null);
}

}  // namespace
}  // namespace strom::engine::exec
