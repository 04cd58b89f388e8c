// Every row of functions.def over random values, on every target, against the plain build of the same functions; and
// what single functions must answer.
#include <gtest/gtest.h>

#include <functional>

#include "base/int128.hpp"
#include "engine/plan/prepared.hpp"
#include "registry/functions.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::NodeId;
using plan::ValueType;
using registry::TypeId;

ValueType value_type(TypeId type) { return {type, static_cast<int16_t>(type == TypeId::kNumeric ? 2 : 0)}; }

/// A projection of `make`'s expressions over random columns of `types`.
struct Projection {
  plan::Program program;
  std::unique_ptr<Table> table;

  Projection(const std::vector<ValueType>& types, int rows, double nulls, uint64_t seed,
             const std::function<std::vector<NodeId>(plan::Builder&)>& make) {
    std::vector<columnar::Field> fields;
    fields.reserve(types.size());
    for (ValueType type : types) fields.push_back(field_of(type));
    table = std::make_unique<Table>(fields);
    std::mt19937_64 random(seed);
    for (int row = 0; row < rows; ++row) {
      if (row == rows / 3) table->new_chunk();
      for (size_t i = 0; i < types.size(); ++i) append_random(random, types[i], nulls, table->column(i));
    }
    plan::Builder builder(program);
    program.sources.push_back({types});
    program.pipelines.emplace_back();
    program.pipelines[0].outputs = make(builder);
  }

  void expect_same_on_all_targets() const {
    const Outcome expected = run(program, {table.get()}, cpu_target());
    for (const Target& target : targets()) {
      const Outcome outcome = run(program, {table.get()}, target);
      EXPECT_EQ(outcome.rows, expected.rows) << target.name;
      EXPECT_EQ(outcome.fallback, expected.fallback) << target.name;
    }
  }

  /// CPUs agree; devices hand out rows with nulls alone. So do those that are CPUs if workers of the host alone have
  /// the prepared form of a constant.
  void expect_devices_to_fall_back(bool has_worker_form) const {
    const Outcome expected = run(program, {table.get()}, cpu_target());
    for (const Target& target : targets()) {
      const Outcome outcome = run(program, {table.get()}, target);
      if (target.is_cuda || (has_worker_form && target.device != nullptr)) {
        for (const std::string& row : outcome.rows) EXPECT_EQ(row, "NULL") << target.name;
        EXPECT_GE(outcome.fallback.size(), expected.fallback.size()) << target.name;
      } else {
        EXPECT_EQ(outcome.rows, expected.rows) << target.name;
        EXPECT_EQ(outcome.fallback, expected.fallback) << target.name;
      }
    }
  }
};

/// As functions with a prepared argument take it.
const std::string kRegex = "u[a-m]";

class Functions : public testing::TestWithParam<int> {};

TEST_P(Functions, AgreeOnAllTargets) {
  const registry::FunctionInfo& info = registry::kFunctions[GetParam()];
  std::vector<ValueType> types;
  types.reserve(info.nargs);
  for (int i = 0; i < info.nargs; ++i) types.push_back(value_type(info.args[i]));
  for (double nulls : {0.0, 0.3}) {
    Projection projection(types, 2500, nulls, static_cast<uint64_t>(GetParam()), [&](plan::Builder& b) {
      std::vector<NodeId> args, outputs;
      for (int i = 0; i < info.nargs; ++i) {
        const bool is_prepared = plan::prepared_form(info.id, i) != plan::PreparedForm::kNone;
        args.push_back(is_prepared ? b.constant(types[i], false, kRegex)
                                   : b.column(static_cast<uint32_t>(i), types[i]));
      }
      auto call = b.call(info.pg_name, args, info.field ? info.field : "");
      EXPECT_TRUE(call.is_ok()) << call.status().message();
      return std::vector<NodeId>{call.value()};
    });
    if (info.traits & registry::kHostMath)
      projection.expect_devices_to_fall_back(plan::prepared_argument(info.id).form != plan::PreparedForm::kNone);
    else
      projection.expect_same_on_all_targets();
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Functions, testing::Range(0, registry::kFunctionCount),
                         [](const auto& info) { return std::string(registry::kFunctions[info.param].name + 1); });

const ValueType kBool{TypeId::kBool, 0}, kInt4{TypeId::kInt4, 0}, kText{TypeId::kText, 0},
    kNumeric2{TypeId::kNumeric, 2};

TEST(Logic, AgreesOnAllTargets) {
  Projection projection({kBool, kBool, kInt4, kInt4}, 3000, 0.3, 7, [](plan::Builder& b) {
    const NodeId a = b.column(0, kBool), c = b.column(1, kBool), x = b.column(2, kInt4), y = b.column(3, kInt4);
    const NodeId risky = b.call("int4gt", {b.call("int4div", {x, y}).value(), x}).value();
    return std::vector<NodeId>{b.logic_and(a, c),
                               b.logic_or(a, c),
                               b.logic_not(a),
                               b.is_null(x),
                               b.is_not_null(x),
                               b.select(a, x, y).value(),
                               b.coalesce(x, y).value(),
                               b.logic_and(a, risky),
                               b.select(b.call("int4eq", {y, b.constant(kInt4, false, int_bytes(0))}).value(), x,
                                        b.call("int4div", {x, y}).value())
                                   .value()};
  });
  projection.expect_same_on_all_targets();
}

TEST(Logic, ErrorCountsOnlyWhereItIsEvaluated) {
  plan::Program program;
  plan::Builder b(program);
  program.sources.push_back({{kInt4}});
  const NodeId x = b.column(0, kInt4), zero = b.constant(kInt4, false, int_bytes(0)),
               ten = b.constant(kInt4, false, int_bytes(10));
  const NodeId quotient = b.call("int4div", {ten, x}).value();
  program.pipelines.emplace_back();
  program.pipelines[0].outputs = {b.select(b.call("int4eq", {x, zero}).value(), zero, quotient).value()};
  Table table({field(columnar::Layout::kInt32)});
  for (int32_t v : {0, 5, 2}) table.column(0).append(v);
  for (const Target& target : targets()) {
    const Outcome outcome = run(program, {&table}, target);
    EXPECT_EQ(outcome.rows, (Rows{"0", "2", "5"})) << target.name;
    EXPECT_TRUE(outcome.fallback.empty()) << target.name;
  }
  program.pipelines[0].outputs = {quotient};
  for (const Target& target : targets()) {
    const Outcome outcome = run(program, {&table}, target);
    EXPECT_EQ(outcome.rows, (Rows{"2", "5"})) << target.name;
    EXPECT_EQ(outcome.fallback, (std::vector<std::pair<int64_t, int64_t>>{{0, 0}})) << target.name;
  }
}

TEST(Logic, AssumptionLeavesOtherRows) {
  Projection projection({kBool, kInt4}, 3000, 0.2, 8, [](plan::Builder& b) {
    return std::vector<NodeId>{b.column(0, kBool), b.assume(b.column(0, kBool), b.column(1, kInt4), TypeId::kDate)};
  });
  projection.expect_same_on_all_targets();
  const Outcome outcome = run(projection.program, {projection.table.get()}, cpu_target());
  EXPECT_EQ(outcome.rows.size() + outcome.fallback.size(), 3000u);
  EXPECT_GT(outcome.rows.size(), 1000u);
  for (const std::string& row : outcome.rows) EXPECT_EQ(row.substr(0, 2), "t|");
}

Rows project_text(const std::string& text, const std::string& pattern) {
  plan::Program program;
  plan::Builder b(program);
  program.sources.push_back({{kText}});
  program.pipelines.emplace_back();
  program.pipelines[0].outputs = {b.call("textlike", {b.column(0, kText), b.constant(kText, false, pattern)}).value()};
  Table table({field(columnar::Layout::kUtf8)});
  EXPECT_TRUE(table.column(0).append_bytes(text));
  return run(program, {&table}, cpu_target()).rows;
}

TEST(Like, FollowsPostgreSQL) {
  const Rows yes{"t"}, no{"f"};
  EXPECT_EQ(project_text("", ""), yes);
  EXPECT_EQ(project_text("", "%"), yes);
  EXPECT_EQ(project_text("", "_"), no);
  EXPECT_EQ(project_text("abc", "a%"), yes);
  EXPECT_EQ(project_text("abc", "%c"), yes);
  EXPECT_EQ(project_text("abc", "%b%"), yes);
  EXPECT_EQ(project_text("abc", "a_c"), yes);
  EXPECT_EQ(project_text("abc", "ab"), no);
  EXPECT_EQ(project_text("aéb", "a_b"), yes);
  EXPECT_EQ(project_text("日本", "__"), yes);
  EXPECT_EQ(project_text("日本", "___"), no);
  EXPECT_EQ(project_text("a%c", "a\\%c"), yes);
  EXPECT_EQ(project_text("abc", "a\\%c"), no);
  EXPECT_EQ(project_text("aaab", "%aab"), yes);
  EXPECT_EQ(project_text("mississippi", "%iss%ip%i"), yes);
  EXPECT_EQ(project_text("mississippi", "%iss%ix%"), no);
  EXPECT_EQ(project_text("ab", "ab\\"), Rows{});  // left to PostgreSQL, which raises an error
}

TEST(Numeric, RescalesAndKeepsScale) {
  plan::Program program;
  plan::Builder b(program);
  program.sources.push_back({{kNumeric2}});
  const NodeId x = b.column(0, kNumeric2);
  const NodeId product = b.call("numeric_mul", {x, x}).value();
  const NodeId rounded = b.rescale(x, 0).value();
  EXPECT_EQ(b.node(product).type.scale, 4);
  program.pipelines.emplace_back();
  program.pipelines[0].outputs = {product, rounded, b.call("int4", {x}).value()};
  Table table({field(columnar::Layout::kDecimal128, 2)});
  for (int v : {150, -150, 149, 0, 12345}) table.column(0).append(static_cast<__int128>(v));
  const std::string zeros(16, '0'), ones(16, 'f');
  const Rows expected{zeros + "0000000000000000|" + zeros + zeros + "|0",
                      zeros + "00000000000056b9|" + zeros + "0000000000000001|1",
                      zeros + "00000000000057e4|" + ones + "fffffffffffffffe|-2",
                      zeros + "00000000000057e4|" + zeros + "0000000000000002|2",
                      zeros + "0000000009156cb1|" + zeros + "000000000000007b|123"};
  Rows sorted = expected;
  std::sort(sorted.begin(), sorted.end());
  for (const Target& target : targets()) EXPECT_EQ(run(program, {&table}, target).rows, sorted) << target.name;
}

/// Decimals given and printed as text.
struct DecimalText {
  __int128 bits = 0;

  DecimalText() = default;
  explicit DecimalText(const std::string& text) {
    __int128 value = 0;
    int scale = 0;
    bool fraction = false;
    for (char c : text) {
      if (c >= '0' && c <= '9') value = value * 10 + (c - '0'), scale += fraction;
      fraction |= c == '.';
    }
    EXPECT_TRUE(base::make_decimal(text[0] == '-' ? -value : value, scale, &bits)) << text;
  }
};

const ValueType kDecimal{TypeId::kDecimal, 0};

/// f(a, b) as text over one row of two decimals, on all targets; "fallback" when PostgreSQL decides.
std::string decide(const std::string& a, const std::string& b,
                   const std::function<NodeId(plan::Builder&, NodeId, NodeId)>& f) {
  plan::Program program;
  plan::Builder builder(program);
  program.sources.push_back({{kDecimal, kDecimal}});
  program.pipelines.emplace_back();
  const NodeId result = f(builder, builder.column(0, kDecimal), builder.column(1, kDecimal));
  const bool prints =
      builder.node(result).type.type == TypeId::kDecimal || builder.node(result).type.type == TypeId::kNumeric;
  program.pipelines[0].outputs = {prints ? builder.call("text", {result}).value() : result};
  Table table({field(columnar::Layout::kDecimal128), field(columnar::Layout::kDecimal128)});
  table.column(0).append(DecimalText(a).bits);
  table.column(1).append(DecimalText(b).bits);
  std::string answer;
  for (const Target& target : targets()) {
    const Outcome outcome = run(program, {&table}, target);
    const std::string text = outcome.rows.empty() ? "fallback" : outcome.rows[0];
    if (&target == &targets()[0]) answer = text;
    EXPECT_EQ(text, answer) << target.name;
  }
  return answer;
}

std::string decide(const char* function, const std::string& a, const std::string& b) {
  return decide(a, b,
                [&](plan::Builder& builder, NodeId x, NodeId y) { return builder.call(function, {x, y}).value(); });
}

TEST(Decimal, KeepsEachRowsScale) {
  EXPECT_EQ(decide("numeric_add", "1.5", "2.25"), "3.75");
  EXPECT_EQ(decide("numeric_add", "1.50", "2.5"), "4.00");
  EXPECT_EQ(decide("numeric_sub", "1", "1.000"), "0.000");
  EXPECT_EQ(decide("numeric_mul", "-1.5", "2.00"), "-3.000");
  EXPECT_EQ(decide("numeric_mod", "-7.5", "2"), "-1.5");
  EXPECT_EQ(decide("numeric_mod", "7", "0.0"), "fallback");
  EXPECT_EQ(decide("div", "-7.5", "2"), "-3");
  EXPECT_EQ(decide("numeric_mul", "1000000000000000000000", "1000000000000000000000"), "fallback");
  EXPECT_EQ(decide("numeric_add", "1000000000000000000000000000000", "0.00000000000000000001"), "fallback");
}

TEST(Decimal, ComparesAcrossScales) {
  EXPECT_EQ(decide("numeric_eq", "1.0", "1.000"), "t");
  EXPECT_EQ(decide("numeric_lt", "1.0", "1.001"), "t");
  EXPECT_EQ(decide("numeric_gt", "-1.0", "-1.001"), "t");
  EXPECT_EQ(decide("numeric_gt", "100000000000000000000000000000000000", "0.00000000000000000000000000000000000001"),
            "t");
  EXPECT_EQ(decide("numeric_gt", "0.00000000000000000000000000000000000001", "-100000000000000000000000000000000000"),
            "t");
  EXPECT_EQ(decide("numeric_lt", "-100000000000000000000000000000000000", "0.00000000000000000000000000000000000000"),
            "t");
  EXPECT_EQ(decide("numeric_eq", "0", "0.00000000000000000000000000000000000000000000000000000"), "t");
}

TEST(Decimal, IsBroughtToAScale) {
  const auto fixed = [](const char* value, int16_t scale, bool truncates, int precision) {
    return decide(value, "0", [=](plan::Builder& b, NodeId x, NodeId) {
      return b.fix_decimal(x, scale, truncates, precision).value();
    });
  };
  EXPECT_EQ(fixed("1.245", 2, false, 0), "1.25");
  EXPECT_EQ(fixed("-1.245", 2, false, 0), "-1.25");
  EXPECT_EQ(fixed("-1.249", 2, true, 0), "-1.24");
  EXPECT_EQ(fixed("1.5", 4, false, 0), "1.5000");
  EXPECT_EQ(fixed("99.995", 2, false, 4), "fallback");
  EXPECT_EQ(fixed("99.994", 2, false, 4), "99.99");
  EXPECT_EQ(fixed("0.5", 0, false, 0), "1");
}

TEST(Decimal, BranchesOfDifferentScales) {
  const auto merged = [](const char* value, bool first) {
    return decide(value, "0", [=](plan::Builder& b, NodeId x, NodeId) {
      const NodeId zero = b.constant({TypeId::kNumeric, 0}, false, std::string(16, '\0'));
      const NodeId flag = b.constant(kBool, false, std::string(1, first ? '\1' : '\0'));
      return b.select(flag, x, zero).value();
    });
  };
  EXPECT_EQ(merged("1.50", true), "1.50");
  EXPECT_EQ(merged("1.50", false), "0");
}

}  // namespace
}  // namespace strom::engine::test
