// Rows of child plans and of sub-queries: when they are collected, what is told of them, and when they are collected
// again.
#include "pg/node/subplans.hpp"

#include <gtest/gtest.h>

#include "fake_rows.hpp"
#include "fake_server.hpp"

namespace strom::pg::guc::pg_strom {
int work_memory = 64;  // kB
}

namespace strom::pg::node {
namespace {

using test::calls;
using test::collected;
using test::FakeList;
using test::FakePlan;
using Rows = std::vector<std::vector<std::optional<int64_t>>>;

/// Three pipelines: the rows of a child plan, of which the columns are read in another order, those of a sub-query, and
/// those of a table. The join with the sub-query's rows is a NOT IN.
class SubplansTest : public testing::Test {
 protected:
  static constexpr size_t kChild = 0, kQuery = 1;
  static constexpr int kFirstParam = 5;

  SubplansTest() {
    calls.clear();
    collected = {};
    const engine::plan::ValueType number{registry::TypeId::kInt8, 0};
    spec_.program.sources = {{{number, number}}, {{number}}, {{number}}};
    spec_.program.joins.resize(2);
    spec_.program.joins[0].build_pipeline = kChild;
    spec_.program.joins[1].build_pipeline = kQuery;
    spec_.joins.resize(2);
    spec_.joins[1].membership = reinterpret_cast<Node*>(&filter_);
    spec_.joins[1].membership_param = kFirstParam;
    spec_.pipelines.resize(3);
    spec_.pipelines[kChild].child = 0;
    spec_.pipelines[kChild].positions = {2, 1};
    spec_.pipelines[kQuery].subplan = 1;
    spec_.pipelines[kQuery].positions = {1};
    spec_.pipelines[2].relid = 1;
    estate_.es_subplanstates = query_list_.list();
    state_.ss.ps.state = &estate_;
    state_.custom_ps = child_list_.list();
    scan_.scan.plan.type = T_SeqScan;
    scan_.scan.plan.targetlist = targets_.list();
    column_.xpr.type = T_Var;
    target_.expr = reinterpret_cast<Expr*>(&column_);
  }

  Plan* scan() { return &scan_.scan.plan; }

  PlanSpec spec_;
  Var column_{};
  TargetEntry target_{};
  FakeList targets_{{&target_}};
  SeqScan scan_{};
  Const filter_{};
  FakePlan child_{scan(), {{{1, false}, {10, false}}, {{2, false}, {20, true}}}, 2};
  FakePlan query_{scan(), {{{7, false}}, {{8, false}}}, 1};
  FakeList query_list_{{query_.state()}}, child_list_{{child_.state()}};
  EState estate_{};
  CustomScanState state_{};
};

TEST_F(SubplansTest, compiles_the_filters_of_sub_queries_for_explain) {
  const Subplans subplans(&state_, spec_);
  EXPECT_EQ(calls, std::vector<std::string>{"compile"});
}

TEST_F(SubplansTest, collects_rows_of_a_child_once_by_their_positions) {
  Subplans subplans(&state_, spec_);
  EXPECT_EQ(subplans.rows(kChild), nullptr);
  subplans.prepare(kChild);
  ASSERT_NE(subplans.rows(kChild), nullptr);
  EXPECT_FALSE(subplans.is_collected(kChild));
  EXPECT_EQ(child_.reads(), 0);
  for (int i = 0; i < 2; ++i) {
    subplans.collect(kChild);
    EXPECT_TRUE(subplans.is_collected(kChild));
    EXPECT_EQ(collected.rows, (Rows{{10, 1}, {std::nullopt, 2}}));
    EXPECT_EQ(child_.reads(), 1);
    EXPECT_EQ(collected.finished, 1);
  }
  const source::CollectedRows* rows = subplans.rows(kChild);
  subplans.prepare(kChild);  // of another run
  EXPECT_EQ(subplans.rows(kChild), rows);
  EXPECT_EQ(collected.sets, std::vector<bool>{false});
}

TEST_F(SubplansTest, runs_a_sub_query_anew_whose_parameters_stay_changed) {
  Subplans subplans(&state_, spec_);
  calls.clear();
  Bitmapset changed{};
  query_.state()->chgParam = &changed;
  subplans.prepare(kQuery);
  subplans.collect(kQuery);
  EXPECT_EQ(calls, std::vector<std::string>{"rescan"});
  EXPECT_EQ(query_.state()->chgParam, &changed);  // so that PostgreSQL's own use of it sees that, too
  EXPECT_EQ(collected.rows, (Rows{{7}, {8}}));
  EXPECT_EQ(collected.sets, std::vector<bool>{true});
}

TEST_F(SubplansTest, tells_whether_there_is_a_null_or_no_row) {
  for (const bool has_null : {false, true})
    for (const bool is_empty : {false, true}) {
      std::vector<FakePlan::Row> rows;
      if (!is_empty) rows = {{{1, false}}, {{0, has_null}}};
      FakePlan query(scan(), rows, 1);
      FakeList list({query.state()});
      estate_.es_subplanstates = list.list();
      Subplans subplans(&state_, spec_);
      subplans.prepare(kQuery);
      subplans.collect(kQuery);
      const std::vector<Subplans::Fact> facts = subplans.facts(kQuery);
      ASSERT_EQ(facts.size(), 2u);
      EXPECT_EQ(facts[0].param, kFirstParam + kHasNoNull);
      EXPECT_EQ(facts[0].value, is_empty || !has_null);
      EXPECT_EQ(facts[1].param, kFirstParam + kIsEmpty);
      EXPECT_EQ(facts[1].value, is_empty);
      EXPECT_TRUE(subplans.facts(kChild).empty());
    }
}

TEST_F(SubplansTest, knows_its_parameters) {
  const Subplans subplans(&state_, spec_);
  EXPECT_FALSE(subplans.is_fact(kFirstParam - 1));
  EXPECT_TRUE(subplans.is_fact(kFirstParam));
  EXPECT_TRUE(subplans.is_fact(kFirstParam + 1));
  EXPECT_FALSE(subplans.is_fact(kFirstParam + kMembershipParamCount));
  EXPECT_FALSE(subplans.is_fact(-1));
}

TEST_F(SubplansTest, can_fail_but_for_columns_of_a_table) {
  const Subplans subplans(&state_, spec_);
  EXPECT_FALSE(subplans.can_fail(kChild));
  EXPECT_FALSE(subplans.can_fail(kQuery));
  FakeList qual({&column_});
  scan_.scan.plan.qual = qual.list();
  EXPECT_TRUE(subplans.can_fail(kChild));
  scan_.scan.plan.qual = NIL;
  column_.xpr.type = T_OpExpr;
  EXPECT_TRUE(subplans.can_fail(kQuery));
  column_.xpr.type = T_Var;
  scan_.scan.plan.type = T_IndexScan;
  EXPECT_TRUE(subplans.can_fail(kChild));
}

TEST_F(SubplansTest, forgets_rows_that_may_be_others) {
  Subplans subplans(&state_, spec_);
  const auto collect = [&] {
    for (const size_t pipeline : {kChild, kQuery}) {
      subplans.prepare(pipeline);
      subplans.collect(pipeline);
    }
  };
  collect();
  subplans.restart({true});
  EXPECT_TRUE(subplans.is_collected(kChild));
  EXPECT_TRUE(subplans.is_collected(kQuery));
  subplans.restart({false});
  EXPECT_EQ(subplans.rows(kChild), nullptr);
  EXPECT_TRUE(subplans.is_collected(kQuery));
  collect();
  EXPECT_EQ(child_.reads(), 2);
  EXPECT_EQ(query_.reads(), 1);
  Bitmapset changed{};
  query_.state()->chgParam = &changed;
  subplans.restart({true});
  EXPECT_TRUE(subplans.is_collected(kChild));
  EXPECT_EQ(subplans.rows(kQuery), nullptr);
  subplans.prepare(kQuery);
  query_.state()->chgParam = nullptr;
  subplans.restart({true});  // rows that nobody has collected are made ready anew
  EXPECT_EQ(subplans.rows(kQuery), nullptr);
}

TEST_F(SubplansTest, spills_what_is_beyond_the_memory) {
  const std::vector<FakePlan::Row> rows(10'000, {{1, false}, {2, false}});
  for (const int64_t memory : {int64_t{64} << 10, (int64_t{64} << 10) + 1}) {
    collected = {};
    FakePlan child(scan(), rows, 2);
    FakeList list({child.state()});
    state_.custom_ps = list.list();
    Subplans subplans(&state_, spec_);
    subplans.prepare(kChild);
    collected.memory = memory;
    subplans.collect(kChild);
    EXPECT_EQ(collected.spilled, memory > 64 << 10 ? 1 : 0);
    EXPECT_EQ(collected.rows.size(), rows.size());
  }
}

}  // namespace
}  // namespace strom::pg::node
