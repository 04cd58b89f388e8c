// Programs as large as they may be, deep, and with parts that are shared over and over: every walk takes the time of
// their nodes, and none grows the stack.
#include <gtest/gtest.h>

#include "engine/block/tile_op.hpp"
#include "engine/op/pipeline/assemble.hpp"
#include "engine/op/join/join_name.hpp"
#include "engine/op/join/join_table.hpp"
#include "engine/plan/builder.hpp"
#include "engine/plan/errors.hpp"
#include "engine/plan/print.hpp"
#include "engine/plan/serialize.hpp"
#include "engine/plan/verify.hpp"

namespace strom::engine {
namespace {

using plan::NodeId;
using plan::Program;
using plan::ValueType;

const ValueType kInt4{registry::TypeId::kInt4, 0};

std::string int_bytes(int32_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); }

/// A scan of one int4 column with one filter.
template <class MakeQual>
Program filter(MakeQual make_qual) {
  Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4}}};
  p.pipelines.resize(1);
  const NodeId column = b.column(0, kInt4);
  p.pipelines[0].outputs = {column};
  p.pipelines[0].quals = {make_qual(b, column)};
  return p;
}

NodeId equals(plan::Builder& b, NodeId a, int32_t value) {
  return b.call("int4eq", {a, b.constant(kInt4, false, int_bytes(value))}).value();
}

/// (((a = 0 OR a = 1) OR a = 2) OR ...), of three nodes for each term.
Program long_chain(int terms) {
  return filter([terms](plan::Builder& b, NodeId column) {
    NodeId all = equals(b, column, 0);
    for (int i = 1; i < terms; ++i) all = b.logic_or(all, equals(b, column, i));
    return all;
  });
}

/// CASE WHEN a = 0 THEN 0 WHEN a = 1 THEN 1 ... END = 7
Program long_case(int branches) {
  return filter([branches](plan::Builder& b, NodeId column) {
    NodeId value = b.constant(kInt4, true, {});
    for (int i = branches; i-- > 0;)
      value = b.select(equals(b, column, i), b.constant(kInt4, false, int_bytes(i)), value).value();
    return equals(b, value, 7);
  });
}

/// NULLIF(NULLIF(a, 0), 1) ..., in which each level has the one below it twice.
Program shared(int levels) {
  return filter([levels](plan::Builder& b, NodeId column) {
    NodeId value = column;
    for (int i = 0; i < levels; ++i) value = b.select(equals(b, value, i), b.constant(kInt4, true, {}), value).value();
    return equals(b, value, 7);
  });
}

Result<op::Assembly> assembled(const Program& p) {
  return op::assemble(p, 0, {}, {}, {false, true, false, false}, false);
}

void expect_walks_end(const Program& p) {
  ASSERT_TRUE(plan::verify(p).is_ok()) << plan::verify(p).message();
  EXPECT_FALSE(plan::can_raise(p, p.pipelines[0].quals[0]));
  EXPECT_FALSE(plan::can_be_an_error(p, p.pipelines[0].quals[0]));
  EXPECT_TRUE(plan::has_stable_text(p, p.pipelines[0].quals[0], false));
  EXPECT_LT(plan::print_program(p).size(), 100000u);
  auto copy = plan::deserialize(plan::serialize(p));
  ASSERT_TRUE(copy.is_ok()) << copy.status().message();
  auto code = assembled(p);
  ASSERT_TRUE(code.is_ok()) << code.status().message();
  EXPECT_LE(code.value().instrs.size(), p.nodes.size());
}

TEST(LongProgram, OfChains) { expect_walks_end(long_chain(static_cast<int>(plan::kMostNodes) / 3 - 3)); }

TEST(LongProgram, OfSharedParts) { expect_walks_end(shared(60)); }

TEST(LongProgram, OfManySharedParts) { expect_walks_end(shared(static_cast<int>(plan::kMostNodes) / 3 - 3)); }

/// The rest of a CASE is computed first, so that conditions and values do not all wait for it.
TEST(LongProgram, OfBranchesNeedsFewRegisters) {
  const Program p = long_case(static_cast<int>(plan::kMostNodes) / 3 - 5);
  expect_walks_end(p);
  const auto code = assembled(p);
  EXPECT_LT(code.value().register_phys.size() - code.value().constants.size(), 16u);
}

TEST(LongProgram, OfMoreNodesThanRegistersIsRefused) {
  const Program p = long_chain(70000);
  EXPECT_FALSE(plan::verify(p).is_ok());
  EXPECT_FALSE(plan::deserialize(plan::serialize(p)).is_ok());
  const auto code = assembled(p);  // which nobody asks for
  ASSERT_FALSE(code.is_ok());
  EXPECT_EQ(code.status().message(), "engine program needs too many registers");
}

TEST(LongProgram, NumbersOfListsFitBehindManyFilters) {
  Program p;
  plan::Builder b(p);
  p.sources = {{{kInt4}}};
  p.pipelines.resize(1);
  const NodeId column = b.column(0, kInt4);
  for (int i = 0; i < 4000; ++i) {  // each can fail, so that each is a segment with lists
    const NodeId sum = b.call("int4pl", {column, b.constant(kInt4, false, int_bytes(i))}).value();
    p.pipelines[0].quals.push_back(equals(b, sum, i));
  }
  p.pipelines[0].outputs = {b.call("int4mul", {column, column}).value()};
  ASSERT_TRUE(plan::verify(p).is_ok());
  const auto found = assembled(p);
  ASSERT_TRUE(found.is_ok()) << found.status().message();
  const op::Assembly& code = found.value();
  ASSERT_GT(code.segments.size(), 4000u);
  bool has_gate = false;
  for (const block::TileInstr& instr : code.instrs) {
    if (instr.op != static_cast<uint16_t>(block::TileOp::kGate)) continue;
    has_gate = true;
    ASSERT_LT(size_t{instr.c} + code.lists[instr.c], code.lists.size());
    EXPECT_EQ(code.lists[instr.imm], 1) << "the output is checked";
    for (uint16_t i = 1; i <= code.lists[instr.c]; ++i) EXPECT_LT(code.lists[instr.c + i], code.register_phys.size());
  }
  EXPECT_TRUE(has_gate);
  for (const block::Segment& segment : code.segments) {
    ASSERT_LT(segment.errors, code.lists.size());
    ASSERT_LE(size_t{segment.errors} + code.lists[segment.errors], code.lists.size());
  }
}

TEST(LongProgram, AsABuildSideHasAName) {
  Program p = shared(2000);
  p.joins.resize(1);
  p.joins[0].inner_keys = p.joins[0].payload = p.pipelines[0].outputs;
  p.pipelines[0].sink = plan::SinkKind::kBuild;
  EXPECT_FALSE(op::build_text(p, 0, {}, false).text.empty());
}

}  // namespace
}  // namespace strom::engine
