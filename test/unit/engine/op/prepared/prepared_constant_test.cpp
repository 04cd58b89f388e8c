// Constants that functions take in a prepared form: matching with regular expressions, on every target; the same
// constant used as it is; what has no form, or none within the budget.
#include <gtest/gtest.h>

#include "engine/op/prepared/prepared_constant.hpp"
#include "engine/plan/verify.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using op::ConstantUse;
using op::PreparedConstants;
using plan::NodeId;
using plan::PreparedForm;
using plan::ValueType;
using registry::TypeId;

const ValueType kText{TypeId::kText, 0}, kBool{TypeId::kBool, 0};

plan::Program matching(const std::string& translation, bool as_text) {
  plan::Program p;
  plan::Builder b(p);
  p.sources = {{{kText}}};
  p.pipelines.resize(1);
  const NodeId pattern = b.constant(kText, false, translation);
  p.pipelines[0].quals = {b.call("matches regular expression", {b.column(0, kText), pattern}).value()};
  p.pipelines[0].outputs = {b.column(0, kText)};
  if (as_text) p.pipelines[0].outputs.push_back(pattern);
  return p;
}

TEST(PreparedConstants, MatchOnTheHostAlone) {
  Table table({field(columnar::Layout::kUtf8)});
  for (const char* text : {"abc", "xaxc", "ac", "", "no"}) EXPECT_TRUE(table.column(0).append_bytes(text));
  for (const Target& target : targets()) {
    const Outcome outcome = run(matching("ua.c", true), {&table}, target);
    const bool on_host = target.device == nullptr && !target.slow;
    EXPECT_EQ(outcome.rows, on_host ? Rows({"abc|ua.c", "xaxc|ua.c"}) : Rows()) << target.name;
    EXPECT_EQ(outcome.fallback.size(), on_host ? 0u : 5u) << target.name;
  }
}

TEST(PreparedConstants, LeaveRowsWithoutAForm) {
  Table table({field(columnar::Layout::kUtf8)});
  for (const char* text : {"abc", "xaxc"}) EXPECT_TRUE(table.column(0).append_bytes(text));
  const Outcome outcome = run(matching("u(", false), {&table}, cpu_target());
  EXPECT_EQ(outcome.fallback.size(), 2u);
}

TEST(PreparedConstants, TakeNoMoreThanTheirBudget) {
  plan::Program p;
  p.constants = {{kText, false, -1, "ua+"}, {kText, false, -1, "ub+"}, {kText, true, -1, {}}};
  const std::vector<ConstantUse> uses = {
      {0, PreparedForm::kRegex}, {0, PreparedForm::kNone}, {1, PreparedForm::kRegexAnyCase}, {2, PreparedForm::kRegex}};
  const PreparedConstants all(p, uses, 1 << 20);
  EXPECT_NE(all.at(0), nullptr);
  EXPECT_EQ(all.at(1), nullptr);
  EXPECT_NE(all.at(2), nullptr);
  EXPECT_EQ(all.at(3), nullptr);
  EXPECT_EQ(all.memory(), all.at(0)->memory() + all.at(2)->memory());
  const PreparedConstants one(p, uses, all.at(0)->memory());
  EXPECT_NE(one.at(0), nullptr);
  EXPECT_EQ(one.at(2), nullptr);
  EXPECT_EQ(one.memory(), one.at(0)->memory());
}

TEST(PreparedConstants, AreConstants) {
  plan::Program p = matching("ua", false);
  EXPECT_TRUE(plan::verify(p).is_ok());
  plan::Node& call = p.nodes[p.pipelines[0].quals[0]];
  call.args[1] = call.args[0];
  EXPECT_FALSE(plan::verify(p).is_ok());
}

}  // namespace
}  // namespace strom::engine::test
