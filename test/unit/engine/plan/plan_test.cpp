// The program: building, verifying, serialising, printing.
#include <gtest/gtest.h>

#include <random>

#include "engine/plan/builder.hpp"
#include "engine/plan/print.hpp"
#include "engine/plan/serialize.hpp"
#include "engine/plan/verify.hpp"

namespace strom::engine::plan {
namespace {

const ValueType kInt4{registry::TypeId::kInt4, 0}, kText{registry::TypeId::kText, 0};

std::string int_bytes(int32_t value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); }

Program sample() {
  Program p;
  Builder b(p);
  p.sources = {{{kInt4, kText}}, {{kInt4, kInt4}}};
  p.joins.resize(1);
  p.joins[0].outer_keys = {b.column(0, kInt4)};
  p.joins[0].inner_keys = {b.column(0, kInt4)};
  p.joins[0].payload = {b.column(1, kText)};
  p.pipelines.resize(2);
  p.pipelines[0].sink = SinkKind::kBuild;
  p.pipelines[1].source = 1;
  p.pipelines[1].joins = {0};
  p.pipelines[1].quals = {b.call("int4lt", {b.column(1, kInt4), b.constant(kInt4, false, int_bytes(25))}).value()};
  p.pipelines[1].sink = SinkKind::kAggregate;
  p.pipelines[1].group_keys = {b.payload(0, 0, kText)};
  p.pipelines[1].aggregates = {{registry::AggregateId::kSumInt4, b.column(1, kInt4), kNoNode}};
  return p;
}

TEST(Program, SurvivesSerialising) {
  const Program p = sample();
  ASSERT_TRUE(verify(p).is_ok());
  auto copy = deserialize(serialize(p));
  ASSERT_TRUE(copy.is_ok()) << copy.status().message();
  EXPECT_EQ(serialize(copy.value()), serialize(p));
  EXPECT_EQ(print_program(copy.value()), print_program(p));
}

TEST(Program, Prints) {
  EXPECT_EQ(print_program(sample()),
            "pipeline 0 over source 0\n"
            "pipeline 1 over source 1\n"
            "  quals: Int4Lt(column 1, 25)\n"
            "  join 1: {column 0} = {column 0} of pipeline 0\n"
            "  group keys: join 1 column 0\n"
            "  aggregate: SumInt4(column 1)\n");
}

/// Whatever the bytes, the answer is an error or a program that passes the verifier.
TEST(Program, DamagedBytesNeverPassUnverified) {
  const std::string good = serialize(sample());
  for (size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(deserialize(std::string_view(good).substr(0, cut)).is_ok());
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = good;
    for (uint64_t n = 1 + random() % 3; n > 0; --n) bytes[random() % bytes.size()] = static_cast<char>(random());
    auto program = deserialize(bytes);
    if (program.is_ok()) {
      EXPECT_TRUE(verify(program.value()).is_ok());
    }
  }
}

TEST(Verifier, RefusesWhatDoesNotHold) {
  auto refused = [](auto change) {
    Program p = sample();
    change(p);
    EXPECT_FALSE(verify(p).is_ok());
  };
  refused([](Program& p) { p.nodes[0].args[0] = 0; });
  refused([](Program& p) { p.nodes[0].imm = 99; });
  refused([](Program& p) { p.pipelines[1].quals = {999}; });
  refused([](Program& p) { p.pipelines[1].source = 7; });
  refused([](Program& p) { p.pipelines[1].joins = {3}; });
  refused([](Program& p) { p.joins[0].build_pipeline = 1; });
  refused([](Program& p) { p.joins[0].inner_keys = p.joins[0].payload; });
  refused([](Program& p) { p.pipelines[0].sink = SinkKind::kProject; });
  refused([](Program& p) { p.pipelines[1].aggregates[0].arg = kNoNode; });
  refused([](Program& p) { p.constants[0].bytes = "x"; });
  refused([](Program& p) { p.pipelines.clear(); });
}

TEST(Builder, NamesWhatItCannotDo) {
  Program p;
  Builder b(p);
  auto call = b.call("translate", {b.column(0, kText)});
  ASSERT_FALSE(call.is_ok());
  EXPECT_EQ(call.status().message(), "function translate(text) is not supported");
}

TEST(Builder, SharesEqualNodes) {
  Program p;
  Builder b(p);
  EXPECT_EQ(b.column(0, kInt4), b.column(0, kInt4));
  EXPECT_EQ(b.constant(kInt4, false, int_bytes(3)), b.constant(kInt4, false, int_bytes(3)));
  EXPECT_NE(b.constant(kInt4, false, int_bytes(3)), b.constant(kInt4, false, int_bytes(4)));
}

}  // namespace
}  // namespace strom::engine::plan
