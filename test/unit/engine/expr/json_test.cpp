// Functions of jsonb over values put together here, on every target.
#include <gtest/gtest.h>

#include <functional>

#include "json_sample.hpp"
#include "table.hpp"

namespace strom::engine::test {
namespace {

using plan::NodeId;
using plan::ValueType;
using registry::TypeId;

const ValueType kInt4{TypeId::kInt4, 0}, kText{TypeId::kText, 0}, kJsonb{TypeId::kJsonb, 0};

Json text(const std::string& bytes) { return {Json::kString, bytes, {}, {}}; }
Json number(const std::string& digits) { return {Json::kNumber, digits, {}, {}}; }
Json array(std::vector<Json> elements) { return {Json::kArray, "", std::move(elements), {}}; }
Json object(std::vector<std::pair<std::string, Json>> members) { return {Json::kObject, "", {}, std::move(members)}; }
const Json kTrue{Json::kTrue}, kFalse{Json::kFalse}, kNull{Json::kNull};

/// f(value) as text on all targets; "fallback" when PostgreSQL decides.
std::string evaluate(const Json& value, const std::function<NodeId(plan::Builder&, NodeId)>& f) {
  plan::Program program;
  plan::Builder builder(program);
  program.sources.push_back({{kJsonb}});
  program.pipelines.emplace_back();
  NodeId result = f(builder, builder.column(0, kJsonb));
  if (builder.node(result).type.type == TypeId::kDecimal) result = builder.call("text", {result}).value();
  program.pipelines[0].outputs = {result};
  Table table({field(columnar::Layout::kUtf8)});
  EXPECT_TRUE(table.column(0).append_bytes(form_json(value)));
  std::string answer;
  for (const Target& target : targets()) {
    const Outcome outcome = run(program, {&table}, target);
    const std::string given = outcome.rows.empty() ? "fallback" : outcome.rows[0];
    if (&target == &targets()[0]) answer = given;
    EXPECT_EQ(given, answer) << target.name;
  }
  return answer;
}

std::string call(const char* function, const Json& value) {
  return evaluate(value, [&](plan::Builder& b, NodeId json) { return b.call(function, {json}).value(); });
}
std::string call(const char* function, const Json& value, const std::string& key) {
  return evaluate(value, [&](plan::Builder& b, NodeId json) {
    return b.call(function, {json, b.constant(kText, false, key)}).value();
  });
}
std::string call(const char* function, const Json& value, int32_t index) {
  return evaluate(value, [&](plan::Builder& b, NodeId json) {
    return b.call(function, {json, b.constant(kInt4, false, int_bytes(index))}).value();
  });
}
std::string call(const char* function, const Json& a, const Json& b) {
  return evaluate(a, [&](plan::Builder& builder, NodeId json) {
    return builder.call(function, {json, builder.constant(kJsonb, false, form_json(b))}).value();
  });
}

const Json kSample = object({{"name", text("日本")},
                             {"n", number("12.50")},
                             {"on", kTrue},
                             {"off", kFalse},
                             {"no", kNull},
                             {"list", array({number("1"), text("two"), kNull, array({text("x")})})},
                             {"inner", object({{"a", number("-3")}})},
                             {"", text("empty key")}});

TEST(Json, Fields) {
  EXPECT_EQ(call("jsonb_object_field_text", kSample, "name"), "日本");
  EXPECT_EQ(call("jsonb_object_field_text", kSample, "n"), "12.50");
  EXPECT_EQ(call("jsonb_object_field_text", kSample, "on"), "true");
  EXPECT_EQ(call("jsonb_object_field_text", kSample, "off"), "false");
  EXPECT_EQ(call("jsonb_object_field_text", kSample, "no"), "NULL");
  EXPECT_EQ(call("jsonb_object_field_text", kSample, "nothing"), "NULL");
  EXPECT_EQ(call("jsonb_object_field_text", kSample, ""), "empty key");
  EXPECT_EQ(call("jsonb_object_field_text", kSample, "list"), "fallback");
  EXPECT_EQ(call("jsonb_object_field_text", array({text("name")}), "name"), "NULL");
  EXPECT_EQ(call("jsonb_object_field", kSample, "inner"), form_json(object({{"a", number("-3")}})));
  EXPECT_EQ(call("jsonb_object_field", kSample, "n"), form_json(number("12.50")));
  EXPECT_EQ(call("jsonb_object_field", kSample, "no"), form_json(kNull));
}

TEST(Json, FieldsOfLargeObjects) {
  std::vector<std::pair<std::string, Json>> members;
  members.reserve(300);
  for (int i = 0; i < 300; ++i)
    members.emplace_back("key" + std::to_string(i * 7),
                         i % 3 == 0 ? number(std::to_string(i))
                                    : text(std::string(static_cast<size_t>(i % 50), 'x') + std::to_string(i)));
  const Json large = object(members);
  for (int i : {0, 1, 31, 32, 33, 64, 150, 298, 299})
    EXPECT_EQ(call("jsonb_object_field_text", large, members[static_cast<size_t>(i)].first),
              members[static_cast<size_t>(i)].second.bytes);
  EXPECT_EQ(call("jsonb_object_field_text", large, "key1"), "NULL");
}

TEST(Json, Elements) {
  const Json list = array({number("1"), text("two"), kNull, array({})});
  EXPECT_EQ(call("jsonb_array_element_text", list, 0), "1");
  EXPECT_EQ(call("jsonb_array_element_text", list, 1), "two");
  EXPECT_EQ(call("jsonb_array_element_text", list, 2), "NULL");
  EXPECT_EQ(call("jsonb_array_element_text", list, -3), "two");
  EXPECT_EQ(call("jsonb_array_element_text", list, 4), "NULL");
  EXPECT_EQ(call("jsonb_array_element_text", list, INT32_MIN), "NULL");
  EXPECT_EQ(call("jsonb_array_element", list, 3), form_json(array({})));
  EXPECT_EQ(call("jsonb_array_element", kSample, 0), "NULL");
  EXPECT_EQ(call("jsonb_array_length", list), "4");
  EXPECT_EQ(call("jsonb_array_length", kSample), "fallback");
  EXPECT_EQ(call("jsonb_array_length", number("1")), "fallback");
}

TEST(Json, Existence) {
  EXPECT_EQ(call("jsonb_exists", kSample, "no"), "t");
  EXPECT_EQ(call("jsonb_exists", kSample, "two"), "f");
  EXPECT_EQ(call("jsonb_exists", array({number("1"), text("two")}), "two"), "t");
  EXPECT_EQ(call("jsonb_exists", array({number("1")}), "1"), "f");
  EXPECT_EQ(call("jsonb_exists", text("two"), "two"), "t");
}

TEST(Json, Types) {
  EXPECT_EQ(call("jsonb_typeof", kSample), "object");
  EXPECT_EQ(call("jsonb_typeof", array({})), "array");
  EXPECT_EQ(call("jsonb_typeof", text("")), "string");
  EXPECT_EQ(call("jsonb_typeof", number("1")), "number");
  EXPECT_EQ(call("jsonb_typeof", kTrue), "boolean");
  EXPECT_EQ(call("jsonb_typeof", kNull), "null");
}

TEST(Json, Casts) {
  EXPECT_EQ(call("int4", number("12.5")), "13");
  EXPECT_EQ(call("int2", number("40000")), "fallback");
  EXPECT_EQ(call("int8", number("9223372036854775807")), "9223372036854775807");
  EXPECT_EQ(call("numeric", number("-0.0010")), "-0.0010");
  EXPECT_EQ(call("float8", number("0.5")), "0.5");
  EXPECT_EQ(call("bool", kTrue), "t");
  EXPECT_EQ(call("bool", number("1")), "fallback");
  EXPECT_EQ(call("int4", text("1")), "fallback");
  EXPECT_EQ(call("int4", array({number("1")})), "fallback");
}

TEST(Json, Equality) {
  EXPECT_EQ(call("jsonb_eq", kSample, kSample), "t");
  EXPECT_EQ(call("jsonb_eq", number("1.0"), number("1.00")), "t");
  EXPECT_EQ(call("jsonb_ne", number("1.0"), number("1.01")), "t");
  EXPECT_EQ(call("jsonb_eq", text("a"), text("b")), "f");
  EXPECT_EQ(call("jsonb_eq", text("1"), number("1")), "f");
  EXPECT_EQ(call("jsonb_eq", kTrue, kFalse), "f");
  EXPECT_EQ(call("jsonb_eq", number("1"), array({number("1")})), "f");
  EXPECT_EQ(call("jsonb_eq", array({number("1.0")}), array({number("1")})), "fallback");
}

TEST(Json, Containment) {
  EXPECT_EQ(call("jsonb_contains", kSample, object({{"n", number("12.5")}, {"on", kTrue}})), "t");
  EXPECT_EQ(call("jsonb_contains", kSample, object({{"n", number("12")}})), "f");
  EXPECT_EQ(call("jsonb_contains", kSample, object({{"x", number("12")}})), "f");
  EXPECT_EQ(call("jsonb_contains", kSample, object({{"inner", object({})}})), "fallback");
  EXPECT_EQ(call("jsonb_contains", kSample, object({{"inner", object({})}, {"n", kNull}})), "f");
  EXPECT_EQ(call("jsonb_contains", kSample, object({})), "t");
  EXPECT_EQ(call("jsonb_contains", kSample, array({})), "f");
  const Json list = array({number("1"), text("two"), kNull});
  EXPECT_EQ(call("jsonb_contains", list, array({text("two"), number("1.0")})), "t");
  EXPECT_EQ(call("jsonb_contains", list, array({text("three")})), "f");
  EXPECT_EQ(call("jsonb_contains", list, text("two")), "t");
  EXPECT_EQ(call("jsonb_contains", text("two"), array({text("two")})), "f");
}

}  // namespace
}  // namespace strom::engine::test
