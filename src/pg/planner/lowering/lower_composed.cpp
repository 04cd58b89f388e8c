// Lowering of functions that have no row in the registry and become several nodes.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/op/call/regex_match.hpp"
#include "engine/expr/regex.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/planner/lowering/lower.hpp"
#include "pg/planner/lowering/regex_branches.hpp"
#include "pg/planner/lowering/regex_translate.hpp"

namespace strom::pg::planner {

using boundary::guard;
using engine::plan::NodeId;
using engine::plan::ValueType;
using registry::TypeId;

namespace {

constexpr ValueType kText{TypeId::kText, 0}, kBool{TypeId::kBool, 0}, kFloat8{TypeId::kFloat8, 0};

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

std::string float_bytes(double value) { return std::string(reinterpret_cast<const char*>(&value), sizeof value); }

const Const* literal_of(const Node* expr, Oid type) {
  if (!IsA(expr, Const)) return nullptr;
  const auto* literal = reinterpret_cast<const Const*>(expr);
  return literal->constisnull || literal->consttype != type ? nullptr : literal;
}

}  // namespace

Status check_enum_order(Oid type) {
  const bool added = guard([type] {
    CatCList* values = SearchSysCacheList1(ENUMTYPOIDNAME, ObjectIdGetDatum(type));
    bool odd = false;
    for (int i = 0; i < values->n_members; ++i) {
      const auto* row = reinterpret_cast<Form_pg_enum>(GETSTRUCT(&values->members[i]->tuple));
      odd = odd || (row->oid & 1) != 0;
    }
    ReleaseSysCacheList(values);
    return odd;
  });
  return added ? unsupported("order of an enum type to which values were added") : Status::ok();
}

// Lowers ~, ~*, !~ and !~* with a literal; uses LIKE where it can express the regular expression. Case-insensitive
// matching is that of ASCII: rows with other characters are fallback rows.
Result<NodeId> Lowering::matches_regex(const FunctionCall& call, RegexOperator kind) {
  const Const* literal = literal_of(call.args[1], TEXTOID);
  const auto [any_case, negated] = kind;
  std::vector<std::string> patterns;
  if (literal == nullptr) return unsupported("regular expression that is not a literal");
  const std::string regex = guard([literal] { return TextDatumGetCString(literal->constvalue); });
  const bool ascii = std::all_of(regex.begin(), regex.end(), [](char c) { return c > 0; });
  STROM_ASSIGN(NodeId text, lower(call.args[0]));
  if (!like_branches(regex, &patterns) || (any_case && !ascii)) {
    if (GetDatabaseEncoding() != PG_UTF8)
      return unsupported("regular expression in a database encoding other than UTF8");
    constexpr int kWeight = 40;  // in nodes: the time to find out whether it compiles
    if (most_weight_ != kAnyWeight && ++regexes_ * kWeight > most_weight_)
      return unsupported("many regular expressions for the rows that are expected");
    TranslatedRegex translated;
    if (!translate_regex(regex, any_case, &translated) || !engine::op::is_regex(translated.pattern, any_case))
      return unsupported("regular expression with parts that only PostgreSQL knows");
    const char letters = translated.ascii_only ? engine::expr::kRegexOfAscii : engine::expr::kRegexOfAnyText;
    const NodeId pattern = builder_.constant(kText, false, letters + translated.pattern);
    const char* function = any_case ? "matches regular expression in any case" : "matches regular expression";
    STROM_ASSIGN(const NodeId matches, this->call(function, {text, pattern}, call.collation));
    return negated ? builder_.logic_not(matches) : matches;
  }
  if (any_case) {
    STROM_ASSIGN(text, this->call("lower", {text}, call.collation));
  }
  NodeId any = engine::plan::kNoNode;
  for (std::string& pattern : patterns) {
    if (any_case)
      for (char& c : pattern) c = static_cast<char>(pg_ascii_tolower(static_cast<unsigned char>(c)));
    const NodeId like = builder_.constant(kText, false, pattern);
    STROM_ASSIGN(const NodeId one, this->call("textlike", {text, like}, call.collation));
    any = any == engine::plan::kNoNode ? one : builder_.logic_or(any, one);
  }
  return negated ? builder_.logic_not(any) : any;
}

// Puts the separator before each argument that is not NULL, and then removes the first separator.
Result<NodeId> Lowering::concat_ws(const FunctionCall& call) {
  const std::vector<const Node*>& args = call.args;
  const NodeId empty = builder_.constant(kText, false, {});
  STROM_ASSIGN(const NodeId separator, lower(args[0]));
  if (builder_.node(separator).type != kText) return unsupported("separator of another type than text");
  NodeId all = empty;
  for (size_t i = 1; i < args.size(); ++i) {
    STROM_ASSIGN(NodeId piece, printed(args[i]));
    STROM_ASSIGN(piece, builder_.call("textcat", {separator, piece}));
    STROM_ASSIGN(piece, builder_.coalesce(piece, empty));
    if (all == empty) {
      all = piece;
      continue;
    }
    STROM_ASSIGN(all, builder_.call("textcat", {all, piece}));
  }
  STROM_ASSIGN(const NodeId length, builder_.call("length", {separator}));
  STROM_ASSIGN(const NodeId begin, builder_.call("int4pl", {length, integer(1)}));
  return builder_.call("substr", {all, begin});
}

Result<NodeId> Lowering::count_nulls(const FunctionCall& call, bool nulls) {
  NodeId count = integer(0);
  for (const Node* arg : call.args) {
    STROM_ASSIGN(const NodeId value, lower(arg));
    STROM_ASSIGN(const NodeId one,
                 builder_.call("int4", {nulls ? builder_.is_null(value) : builder_.is_not_null(value)}));
    if (count == integer(0)) {
      count = one;
      continue;
    }
    STROM_ASSIGN(count, builder_.call("int4pl", {count, one}));
  }
  return count;
}

Result<NodeId> Lowering::make_timestamp(const FunctionCall& call) {
  const std::vector<const Node*>& args = call.args;
  std::vector<NodeId> parts;
  for (const Node* arg : args) {
    STROM_ASSIGN(const NodeId part, lower(arg));
    parts.push_back(part);
  }
  if (parts.size() != 6) return unsupported("make_timestamp with a time zone");
  STROM_ASSIGN(const NodeId date, builder_.call("make_date", {parts[0], parts[1], parts[2]}));
  STROM_ASSIGN(const NodeId time, builder_.call("make_time", {parts[3], parts[4], parts[5]}));
  return builder_.call("datetime_pl", {date, time});
}

// For float8 with ascending literal bounds. Uses PostgreSQL's operations in PostgreSQL's order. NaN is left to
// PostgreSQL, which raises an error.
Result<NodeId> Lowering::width_bucket(const FunctionCall& call) {
  const std::vector<const Node*>& args = call.args;
  const Const* low = literal_of(args[1], FLOAT8OID);
  const Const* high = literal_of(args[2], FLOAT8OID);
  const Const* buckets = literal_of(args[3], INT4OID);
  if (low == nullptr || high == nullptr || buckets == nullptr) return unsupported("width_bucket of variable bounds");
  const double begin = DatumGetFloat8(low->constvalue), end = DatumGetFloat8(high->constvalue);
  const int32_t count = DatumGetInt32(buckets->constvalue);
  if (!(begin < end) || !std::isfinite(begin) || !std::isfinite(end - begin) || count < 1 || count == INT32_MAX)
    return unsupported("width_bucket of such bounds");
  auto number = [this](double value) { return builder_.constant(kFloat8, false, float_bytes(value)); };
  STROM_ASSIGN(NodeId x, lower(args[0]));
  STROM_ASSIGN(const NodeId ordered, builder_.call("float8le", {x, number(HUGE_VAL)}));
  STROM_ASSIGN(const NodeId fine, builder_.coalesce(ordered, boolean(true)));
  x = builder_.assume(fine, x, TypeId::kFloat8);
  STROM_ASSIGN(const NodeId distance, builder_.call("float8mi", {x, number(begin)}));
  STROM_ASSIGN(const NodeId share, builder_.call("float8div", {distance, number(end - begin)}));
  STROM_ASSIGN(const NodeId place, builder_.call("float8mul", {share, number(count)}));
  STROM_ASSIGN(const NodeId whole, builder_.call("trunc", {place}));
  STROM_ASSIGN(const NodeId bucket, builder_.call("int4", {whole}));
  STROM_ASSIGN(const NodeId behind, builder_.call("float8ge", {x, number(end)}));
  STROM_ASSIGN(const NodeId before, builder_.call("float8lt", {x, number(begin)}));
  return bucket_between(before, behind, bucket, count);
}

// The number of a bucket. `bucket` counts from 0 and is used between the bounds. NULL if `before` is NULL.
Result<NodeId> Lowering::bucket_between(NodeId before, NodeId behind, NodeId bucket, int32_t count) {
  STROM_ASSIGN(const NodeId next, builder_.call("int4pl", {bucket, integer(1)}));
  STROM_ASSIGN(const NodeId too_far, builder_.call("int4ge", {bucket, integer(count)}));
  STROM_ASSIGN(const NodeId inside, builder_.select(too_far, integer(count), next));
  STROM_ASSIGN(const NodeId not_before, builder_.select(behind, integer(count + 1), inside));
  STROM_ASSIGN(const NodeId found, builder_.select(before, integer(0), not_before));
  return builder_.select(builder_.is_null(before), builder_.constant({TypeId::kInt4, 0}, true, {}), found);
}

// For numeric with ascending literal bounds: a quotient with PostgreSQL's number of digits, rounded down.
Result<NodeId> Lowering::numeric_width_bucket(const FunctionCall& call) {
  const std::vector<const Node*>& args = call.args;
  const Const* low = literal_of(args[1], NUMERICOID);
  const Const* high = literal_of(args[2], NUMERICOID);
  const Const* buckets = literal_of(args[3], INT4OID);
  if (low == nullptr || high == nullptr || buckets == nullptr) return unsupported("width_bucket of variable bounds");
  const int32_t count = DatumGetInt32(buckets->constvalue);
  const bool ascending =
      guard([=] { return DatumGetBool(DirectFunctionCall2(numeric_lt, low->constvalue, high->constvalue)); });
  if (!ascending || count < 1 || count == INT32_MAX) return unsupported("width_bucket of such bounds");
  STROM_ASSIGN(const NodeId x, lower(args[0]));
  STROM_ASSIGN(const NodeId begin, constant(*low));
  STROM_ASSIGN(const NodeId end, constant(*high));
  const __int128 whole_count = count;
  const NodeId times =
      builder_.constant({TypeId::kNumeric, 0}, false, std::string(reinterpret_cast<const char*>(&whole_count), 16));
  STROM_ASSIGN(const NodeId distance, builder_.call("numeric_sub", {x, begin}));
  STROM_ASSIGN(const NodeId width, builder_.call("numeric_sub", {end, begin}));
  STROM_ASSIGN(const NodeId product, builder_.call("numeric_mul", {distance, times}));
  STROM_ASSIGN(const NodeId share, builder_.call("numeric_div", {product, width}));
  STROM_ASSIGN(const NodeId whole, builder_.call("floor", {share}));
  STROM_ASSIGN(const NodeId bucket, builder_.call("int4", {whole}));
  STROM_ASSIGN(const NodeId behind, builder_.call("numeric_ge", {x, end}));
  STROM_ASSIGN(const NodeId before, builder_.call("numeric_lt", {x, begin}));
  return bucket_between(before, behind, bucket, count);
}

// Sums that overflow are left to PostgreSQL.
Result<NodeId> Lowering::make_interval(const FunctionCall& call) {
  const std::vector<const Node*>& args = call.args;
  std::vector<NodeId> parts;  // years, months, weeks, days, hours, minutes, seconds
  for (const Node* arg : args) {
    STROM_ASSIGN(const NodeId part, lower(arg));
    parts.push_back(part);
  }
  if (parts.size() != 7) return unsupported("make_interval of fewer parts");
  STROM_ASSIGN(const NodeId of_years, builder_.call("int4mul", {parts[0], integer(12)}));
  STROM_ASSIGN(const NodeId months, builder_.call("int4pl", {of_years, parts[1]}));
  STROM_ASSIGN(const NodeId of_weeks, builder_.call("int4mul", {parts[2], integer(7)}));
  STROM_ASSIGN(const NodeId days, builder_.call("int4pl", {of_weeks, parts[3]}));
  STROM_ASSIGN(const NodeId micros, builder_.call("microseconds of time", {parts[4], parts[5], parts[6]}));
  return builder_.call("interval of parts", {months, days, micros});
}

// Implements SQL's rule with its NULLs: orders each pair, and takes the other end where one end is NULL.
Result<NodeId> Lowering::overlaps(const FunctionCall& call) {
  const std::vector<const Node*>& args = call.args;
  std::vector<NodeId> ends;
  for (const Node* arg : args) {
    STROM_ASSIGN(const NodeId end, lower(arg));
    ends.push_back(end);
  }
  const TypeId type = builder_.node(ends[0]).type.type;
  for (const NodeId end : ends)
    if (builder_.node(end).type.type != type) return unsupported("OVERLAPS of different types");
  if (type != TypeId::kTimestamp && type != TypeId::kTimestampTz && type != TypeId::kTime)
    return unsupported("OVERLAPS of such types");
  const std::string name = registry::type_info(type).pg_name;
  auto after = [&](NodeId a, NodeId b) { return builder_.call(name + "_gt", {a, b}); };
  struct Range {
    NodeId begin, end;
  };
  auto range_of = [&](NodeId a, NodeId b) -> Result<Range> {
    STROM_ASSIGN(const NodeId turned, after(a, b));
    STROM_ASSIGN(const NodeId first, builder_.coalesce(a, b));
    STROM_ASSIGN(const NodeId begin, builder_.select(turned, b, first));
    STROM_ASSIGN(const NodeId last, builder_.select(turned, a, b));
    const NodeId nothing = builder_.constant(builder_.node(a).type, true, {});
    STROM_ASSIGN(const NodeId end, builder_.select(builder_.is_null(a), nothing, last));
    return Range{begin, end};
  };
  STROM_ASSIGN(const Range x, range_of(ends[0], ends[1]));
  STROM_ASSIGN(const Range y, range_of(ends[2], ends[3]));
  const NodeId unknown = builder_.constant(kBool, true, {});
  const NodeId open = builder_.logic_or(builder_.is_null(x.end), builder_.is_null(y.end));
  STROM_ASSIGN(const NodeId apart, builder_.select(open, unknown, boolean(false)));
  STROM_ASSIGN(const NodeId at_once, builder_.select(open, unknown, boolean(true)));
  STROM_ASSIGN(const NodeId x_in_y, after(y.end, x.begin));
  STROM_ASSIGN(const NodeId y_in_x, after(x.end, y.begin));
  STROM_ASSIGN(const NodeId x_later, builder_.select(x_in_y, boolean(true), apart));
  STROM_ASSIGN(const NodeId y_later, builder_.select(y_in_x, boolean(true), apart));
  STROM_ASSIGN(const NodeId x_after_y, after(x.begin, y.begin));
  STROM_ASSIGN(const NodeId y_after_x, after(y.begin, x.begin));
  STROM_ASSIGN(const NodeId otherwise, builder_.select(y_after_x, y_later, at_once));
  STROM_ASSIGN(const NodeId result, builder_.select(x_after_y, x_later, otherwise));
  const NodeId missing = builder_.logic_or(builder_.is_null(x.begin), builder_.is_null(y.begin));
  return builder_.select(missing, unknown, result);
}

}  // namespace strom::pg::planner
