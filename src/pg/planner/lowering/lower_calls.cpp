// Lowering of literals, functions, operators and array operators.
#include <algorithm>
#include <cstring>
#include <map>

#include "base/int128.hpp"
#include "engine/expr/parse.hpp"
#include "engine/expr/to_char.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/codec/function_extension.hpp"
#include "pg/compat/collation.hpp"
#include "pg/planner/lowering/case_table.hpp"
#include "pg/planner/lowering/lower.hpp"
#include "pg/planner/lowering/lowered_functions.hpp"
#include "registry/functions.hpp"

namespace strom::pg::planner {

using boundary::guard;
using engine::plan::Builder;
using engine::plan::NodeId;
using engine::plan::NodeKind;
using engine::plan::ValueType;
using registry::Phys;
using registry::TypeId;

namespace {

Status unsupported(std::string reason) { return Status(ErrorCode::kUnsupported, std::move(reason)); }

struct CatalogFacts {
  NameData name;
  bool in_catalog;  // in schema pg_catalog
  char volatility;
};

struct FunctionFacts : CatalogFacts {
  std::string extension;  // of the function, if it is not in pg_catalog
};

FunctionFacts function_facts(Oid function) {
  FunctionFacts found;
  static_cast<CatalogFacts&>(found) = guard([function] {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for function %u", function);
    auto* row = reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple));
    CatalogFacts facts{row->proname, row->pronamespace == PG_CATALOG_NAMESPACE, row->provolatile};
    ReleaseSysCache(tuple);
    return facts;
  });
  if (!found.in_catalog) found.extension = codec::extension_of_function(function);
  return found;
}

bool is_ascii_alnum(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

// True for a literal format that engine/expr/to_char.hpp supports.
bool is_simple_format(const Node* expr) {
  if (!IsA(expr, Const)) return false;
  const auto& literal = *reinterpret_cast<const Const*>(expr);
  if (literal.constisnull || literal.consttype != TEXTOID) return false;
  const char* format = guard([&literal] { return TextDatumGetCString(literal.constvalue); });
  return engine::expr::formatted_bytes({format, static_cast<int64_t>(std::strlen(format))}) > 0;
}

// True for a literal format that engine/expr/parse.hpp supports.
bool is_parsed_format(const Node* expr, bool with_time) {
  if (!IsA(expr, Const)) return false;
  const auto& literal = *reinterpret_cast<const Const*>(expr);
  if (literal.constisnull || literal.consttype != TEXTOID) return false;
  const char* format = guard([&literal] { return TextDatumGetCString(literal.constvalue); });
  return engine::expr::is_parsed_format({format, static_cast<int64_t>(std::strlen(format))}, with_time);
}

// True for a step of a jsonb path that is an array index in its usual spelling.
bool is_index(const std::string& key) {
  const size_t begin = !key.empty() && key[0] == '-' ? 1 : 0;
  return key.size() > begin && key.size() - begin <= 9 &&
         key.find_first_not_of("0123456789", begin) == std::string::npos;
}

// True if strtol() reads the whole key as a number.
bool could_be_index(const std::string& key) {
  size_t begin = key.find_first_not_of(" \t\n\v\f\r");
  if (begin != std::string::npos && (key[begin] == '-' || key[begin] == '+')) ++begin;
  return begin < key.size() && key.find_first_not_of("0123456789", begin) == std::string::npos;
}

// True if a collation maps the case of ASCII text as ASCII does. Asks PostgreSQL about each character alone and between
// letters, because some collations treat the end of a word specially.
bool find_ascii_case(const char* function, Oid collation) {
  using Map = char* (*)(const char*, size_t, Oid);
  const bool upper = std::strcmp(function, "upper") == 0, lower = std::strcmp(function, "lower") == 0;
  const Map map = upper ? str_toupper : lower ? str_tolower : str_initcap;
  std::string text, expected;
  for (char c = 1; c > 0 && c < 127; ++c)
    for (char part : {c, 'i', 'I', c, 'z', 'Z', ' '}) text += part;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool in_word = i > 0 && is_ascii_alnum(text[i - 1]);
    const auto c = static_cast<unsigned char>(text[i]);
    expected += static_cast<char>(upper || (!lower && !in_word) ? pg_ascii_toupper(c) : pg_ascii_tolower(c));
  }
  const char* mapped = guard([&] { return map(text.data(), text.size(), collation); });
  return expected == mapped;
}

// Like find_ascii_case(), but cached: the rules of a collation never change under its OID.
bool maps_ascii_case(const char* function, Oid collation) {
  static std::map<std::pair<std::string, Oid>, bool> known;
  const std::pair<std::string, Oid> key(function, collation);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  return known[key] = find_ascii_case(function, collation);
}

std::string collation_text(Oid collation) {
  const char* name = guard([collation] { return get_collation_name(collation); });
  return name != nullptr ? std::string("collation \"") + name + "\"" : std::string("the collation");
}

// Digits behind the decimal point of a numeric literal; -1 for NaN and infinities.
int display_scale(Datum numeric) {
  const char* text = guard([numeric] { return DatumGetCString(DirectFunctionCall1(numeric_out, numeric)); });
  if (std::strpbrk(text, "NIn") != nullptr) return -1;
  const char* point = std::strchr(text, '.');
  return point == nullptr ? 0 : static_cast<int>(std::strlen(point + 1));
}

// The field name of EXTRACT and date_part, which must be a literal.
bool field_name(const Node* expr, std::string* name) {
  if (!IsA(expr, Const)) return false;
  const auto& literal = *reinterpret_cast<const Const*>(expr);
  if (literal.constisnull || literal.consttype != TEXTOID) return false;
  *name = guard([&literal] { return TextDatumGetCString(literal.constvalue); });
  for (char& c : *name) c = static_cast<char>(pg_ascii_tolower(static_cast<unsigned char>(c)));
  static constexpr struct {
    const char *also, *name;
  } kOthers[] = {{"years", "year"},     {"months", "month"}, {"mon", "month"},      {"days", "day"},
                 {"weeks", "week"},     {"hours", "hour"},   {"minutes", "minute"}, {"min", "minute"},
                 {"seconds", "second"}, {"sec", "second"},   {"decades", "decade"}, {"ms", "milliseconds"},
                 {"us", "microseconds"}};
  for (const auto& other : kOthers)
    if (*name == other.also) *name = other.name;
  return true;
}

}  // namespace

Result<NodeId> Lowering::constant(const Const& value) {
  if (guard([&value] { return getBaseType(value.consttype); }) == NUMERICOID) {
    if (value.constisnull) return builder_.constant({TypeId::kNumeric, 0}, true, {});
    const int scale = display_scale(value.constvalue);
    if (scale < 0) return unsupported("numeric NaN or infinity");
    if (scale > 38) return unsupported("numeric of more than 38 digits");
    std::string bytes;
    if (codec::register_bytes(TypeId::kNumeric, scale, value.constvalue, &bytes) != codec::Encoded::kDone)
      return unsupported("numeric of more than 38 digits");
    return builder_.constant({TypeId::kNumeric, static_cast<int16_t>(scale)}, false, std::move(bytes));
  }
  STROM_ASSIGN(const ValueType type, value_type_of(value.consttype, value.consttypmod));
  if (value.constisnull) return builder_.constant(type, true, {});
  std::string bytes;
  if (codec::register_bytes(type.type, type.scale, value.constvalue, &bytes) != codec::Encoded::kDone)
    return unsupported("value that the engine cannot hold");
  return builder_.constant(type, false, std::move(bytes));
}

Result<NodeId> Lowering::function(Oid function, const std::vector<const Node*>& args, Oid collation) {
  using Member = Result<NodeId> (*)(Lowering&, const FunctionCall&);
  static constexpr Member kMembers[] = {
#define STROM_LOWERING(...)
#define STROM_LOWERED(function, member, ...) \
  [](Lowering& to, const FunctionCall& row_call) { return to.member(row_call __VA_OPT__(, ) __VA_ARGS__); },
#include "registry/lowered.def"
#undef STROM_LOWERING
#undef STROM_LOWERED
  };
  const FunctionFacts facts = function_facts(function);
  const std::string name = NameStr(facts.name);
  const FunctionCall call{facts.extension.empty() ? name : facts.extension + "." + name, args, collation, function};
  if (facts.volatility == PROVOLATILE_VOLATILE) return unsupported("volatile function " + name);
  const int row = lowered_row(function, call.name.c_str());
  if (row >= 0 && (facts.in_catalog || !facts.extension.empty())) return kMembers[row](*this, call);
  if (!facts.in_catalog) return unsupported("function " + name + " is not built in");
  return plain_call(call);
}

// Lowers to the row of functions.def for the arguments' types.
Result<NodeId> Lowering::plain_call(const FunctionCall& call) {
  std::vector<NodeId> lowered;
  for (const Node* arg : call.args) {
    STROM_ASSIGN(const NodeId id, lower(arg));
    lowered.push_back(id);
  }
  return this->call(call.name.c_str(), lowered, call.collation);
}

// Lowers a function of this extension, whose row has just its name.
Result<NodeId> Lowering::own_call(const FunctionCall& call) {
  return plain_call({call.name.substr(call.name.find('.') + 1), call.args, call.collation});
}

// Lowers EXTRACT, date_part and date_trunc: the field selects the row.
Result<NodeId> Lowering::with_field(const FunctionCall& call) {
  if (call.args.size() != 2) return plain_call(call);
  std::string field;
  if (!field_name(call.args[0], &field)) return unsupported(call.name + " of a field that is not a literal");
  STROM_ASSIGN(const NodeId source, lower(call.args[1]));
  return this->call(call.name.c_str(), {source}, call.collation, field.c_str());
}

// to_date and to_timestamp.
Result<NodeId> Lowering::parsed_by_format(const FunctionCall& call, bool with_time) {
  if (!is_parsed_format(call.args.back(), with_time)) return unsupported("format of " + call.name);
  return plain_call(call);
}

Result<NodeId> Lowering::printed_by_format(const FunctionCall& call) {
  return is_simple_format(call.args.back()) ? plain_call(call) : unsupported("format of to_char");
}

Result<NodeId> Lowering::enum_order(const FunctionCall& call) {
  STROM_TRY(check_enum_order(guard([&call] { return exprType(call.args[0]); })));
  return plain_call(call);
}

// Compares both sides in lower case, as PostgreSQL does in multi-byte encodings.
Result<NodeId> Lowering::like_in_any_case(const FunctionCall& call, const char* like) {
  std::vector<NodeId> texts;
  for (const Node* arg : call.args) {
    STROM_ASSIGN(NodeId text, lower(arg));
    STROM_ASSIGN(text, this->call("lower", {text}, call.collation));
    texts.push_back(text);
  }
  return this->call(like, texts, call.collation);
}

// round(numeric, n) and trunc(numeric, n).
Result<NodeId> Lowering::numeric_digits(const FunctionCall& call, bool rounds) {
  const std::vector<const Node*>& args = call.args;
  if (!IsA(args[1], Const) || reinterpret_cast<const Const*>(args[1])->constisnull)
    return unsupported("rounding to a variable scale");
  const int32_t digits = DatumGetInt32(reinterpret_cast<const Const*>(args[1])->constvalue);
  if (digits < 0 || digits > base::kMaxDecimalDigits) return unsupported("rounding to scale " + std::to_string(digits));
  STROM_ASSIGN(NodeId value, lower(args[0]));
  const ValueType type = builder_.node(value).type;
  if (type.type == TypeId::kDecimal) return builder_.fix_decimal(value, static_cast<int16_t>(digits), !rounds, 0);
  if (type.type != TypeId::kNumeric) return unsupported("rounding of other types than numeric");
  if (!rounds && digits < type.scale) {  // truncate first, by removing digits
    const __int128 unit = base::power_of_ten(type.scale - digits);
    const NodeId last = builder_.constant(type, false, std::string(reinterpret_cast<const char*>(&unit), sizeof unit));
    STROM_ASSIGN(const NodeId rest, builder_.call("numeric_mod", {value, last}));
    STROM_ASSIGN(value, builder_.call("numeric_sub", {value, rest}));
  }
  return builder_.rescale(value, static_cast<int16_t>(digits));
}

// The texts of an array literal.
Result<std::vector<NodeId>> Lowering::literal_keys(const Node* array) {
  STROM_ASSIGN(std::vector<NodeId> keys, array_elements(array));
  for (const NodeId id : keys) {
    const engine::plan::Constant* key = builder_.literal(id);
    if (key == nullptr || key->is_null) return unsupported("list of keys that is not a literal");
  }
  return keys;
}

// jsonb_extract_path and jsonb_extract_path_text (#>, #>>).
Result<NodeId> Lowering::jsonb_path(const FunctionCall& call, bool as_text) {
  STROM_ASSIGN(NodeId json, lower(call.args[0]));
  STROM_ASSIGN(const std::vector<NodeId> keys, literal_keys(call.args[1]));
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string& key = builder_.literal(keys[i])->bytes;
    const bool index = is_index(key);
    if (!index && could_be_index(key)) return unsupported("odd spelling of an index in a path");
    const char* step = index ? "jsonb path step" : "jsonb_object_field";
    const char* last_step = index ? "jsonb path step as text" : "jsonb_object_field_text";
    STROM_ASSIGN(json, builder_.call(as_text && i + 1 == keys.size() ? last_step : step, {json, keys[i]}));
  }
  return as_text && keys.empty() ? unsupported("empty path") : Result<NodeId>(json);
}

// jsonb_exists_any and jsonb_exists_all (?|, ?&).
Result<NodeId> Lowering::jsonb_keys(const FunctionCall& call, bool any) {
  STROM_ASSIGN(const NodeId json, lower(call.args[0]));
  STROM_ASSIGN(const std::vector<NodeId> keys, literal_keys(call.args[1]));
  if (keys.empty()) return unsupported("empty list of keys");
  NodeId all = engine::plan::kNoNode;
  for (const NodeId key : keys) {
    STROM_ASSIGN(const NodeId one, builder_.call("jsonb_exists", {json, key}));
    all = all == engine::plan::kNoNode ? one : any ? builder_.logic_or(all, one) : builder_.logic_and(all, one);
  }
  return all;
}

// The text that the type's output function prints for a value.
Result<NodeId> Lowering::printed(const Node* arg) {
  STROM_ASSIGN(const NodeId id, lower(arg));
  const TypeId type = builder_.node(id).type.type;
  if (type == TypeId::kText) return id;
  if (type == TypeId::kBpchar || type == TypeId::kBool || type == TypeId::kInet || type == TypeId::kChar)
    return unsupported(std::string("concat of ") + registry::type_info(type).pg_name);
  return builder_.call("text", {id});
}

// NULLs count as empty texts.
Result<NodeId> Lowering::concat(const FunctionCall& call) {
  const NodeId empty = builder_.constant({TypeId::kText, 0}, false, {});
  NodeId all = empty;
  for (const Node* arg : call.args) {
    STROM_ASSIGN(NodeId text, printed(arg));
    STROM_ASSIGN(text, builder_.coalesce(text, empty));
    if (all == empty) {
      all = text;
      continue;
    }
    STROM_ASSIGN(all, builder_.call("textcat", {all, text}));
  }
  return all;
}

// Lowers the cast to numeric(p, s). If a value may exceed the precision, it is checked as a decimal.
Result<NodeId> Lowering::numeric_typmod(const FunctionCall& call) {
  const std::vector<const Node*>& args = call.args;
  if (!IsA(args[1], Const) || reinterpret_cast<const Const*>(args[1])->constisnull)
    return unsupported("cast to numeric of variable scale");
  const int32_t to = DatumGetInt32(reinterpret_cast<const Const*>(args[1])->constvalue);
  const int32_t from = guard([&] { return exprTypmod(args[0]); });
  STROM_ASSIGN(const ValueType type, value_type_of(NUMERICOID, to));
  STROM_ASSIGN(const NodeId arg, lower(args[0]));
  if (to < VARHDRSZ) return arg;
  if (type.type != TypeId::kNumeric) return unsupported("cast to numeric of more than 38 digits");
  const int precision = (to - VARHDRSZ) >> 16;
  const ValueType source = builder_.node(arg).type;
  if (source.type == TypeId::kNumeric && from >= VARHDRSZ) {
    const int from_digits = ((from - VARHDRSZ) >> 16) - source.scale;  // digits before the decimal point
    const int carry = type.scale < source.scale ? 1 : 0;               // rounding may carry: 99.9 to 100
    if (precision - type.scale >= from_digits + carry) return builder_.rescale(arg, type.scale);
  }
  return builder_.fix_decimal(builder_.to_decimal(arg), type.scale, false, precision);
}

// The table by which upper() or lower() of a text maps characters; nullptr for other functions, and where no table
// exists.
const std::string* Lowering::case_table_of(const char* name, const std::vector<NodeId>& args, Oid collation) {
  const bool upper = std::strcmp(name, "upper") == 0;
  if ((!upper && std::strcmp(name, "lower") != 0) || args.size() != 1 || !OidIsValid(collation)) return nullptr;
  if (builder_.node(args[0]).type.type != TypeId::kText || GetDatabaseEncoding() != PG_UTF8) return nullptr;
  return case_table(upper, collation);
}

Result<NodeId> Lowering::call(const char* name, const std::vector<NodeId>& args, Oid collation, const char* field) {
  if (const registry::ZonedFunction* function = registry::find_zoned(name, args.size())) {
    const auto is_zoned = [&](NodeId arg) { return builder_.node(arg).type.type == TypeId::kTimestampTz; };
    if ((function->traits & registry::kZonedAlways) != 0 || std::any_of(args.begin(), args.end(), is_zoned))
      return call_in_zone(*function, args, field);
  }
  if (const std::string* table = case_table_of(name, args, collation)) {
    const auto [images, is_new] = tables_.try_emplace(table, engine::plan::kNoNode);
    if (is_new) images->second = builder_.constant({TypeId::kBytea, 0}, false, *table);
    return builder_.call(std::string(name) + " by table", {args[0], images->second});
  }
  STROM_ASSIGN(const NodeId id, builder_.call(name, args, field));
  const engine::plan::Node& node = builder_.node(id);
  if (node.kind != NodeKind::kCall) return id;
  const registry::FunctionInfo& info = registry::function_info(static_cast<registry::FunctionId>(node.imm));
  if ((info.traits & (registry::kDeterministic | registry::kCLocale | registry::kAsciiCase)) == 0) return id;
  if (!OidIsValid(collation)) return unsupported("collation of the comparison is not known");
  if ((info.traits & registry::kAsciiCase) != 0 && !maps_ascii_case(name, collation))
    return unsupported(collation_text(collation) + " has letters of its own in ASCII");
  if ((info.traits & registry::kDeterministic) != 0 &&
      !guard([collation] { return get_collation_isdeterministic(collation); }))
    return unsupported(collation_text(collation) + " does not compare bytes");
  if ((info.traits & registry::kCLocale) != 0 &&
      !guard([collation] { return compat::collation_orders_bytes(collation); }))
    return unsupported(collation_text(collation) + " orders text differently from bytes");
  return id;
}

// The name of a function of pg_catalog.
Result<std::string> Lowering::built_in_name(Oid function) {
  const FunctionFacts facts = function_facts(function);
  if (!facts.in_catalog) return unsupported(std::string("function ") + NameStr(facts.name) + " is not built in");
  return std::string(NameStr(facts.name));
}

Status Lowering::match_keys(Builder& builder, NodeId* left, NodeId* right) {
  const ValueType a = builder.node(*left).type, b = builder.node(*right).type;
  auto widen = [&](NodeId* id, const char* to) -> Status {
    STROM_ASSIGN(*id, builder.call(to, {*id}));
    return Status::ok();
  };
  if (a.type == TypeId::kBpchar && b.type == TypeId::kBpchar) {  // trailing blanks do not count
    STROM_TRY(widen(left, "text"));
    return widen(right, "text");
  }
  if (a.type == TypeId::kNumeric && b.type == TypeId::kNumeric) {
    const int16_t scale = a.scale > b.scale ? a.scale : b.scale;
    STROM_ASSIGN(*left, builder.rescale(*left, scale));
    STROM_ASSIGN(*right, builder.rescale(*right, scale));
    return Status::ok();
  }
  const auto is_numeric = [](ValueType type) { return type.type == TypeId::kNumeric || type.type == TypeId::kDecimal; };
  if (is_numeric(a) && is_numeric(b)) {  // makes 1.5 and 1.50 equal bits
    STROM_ASSIGN(*left, builder.call("numeric key", {builder.to_decimal(*left)}));
    STROM_ASSIGN(*right, builder.call("numeric key", {builder.to_decimal(*right)}));
    return Status::ok();
  }
  if (a.type == TypeId::kJsonb) return unsupported("join key of type jsonb, whose equal values have different bytes");
  if (a.type == TypeId::kArray)
    return unsupported("join key of an array type, whose equal values can have different bytes");
  if (a.type == TypeId::kInterval)
    return unsupported("join key of type interval, whose equal values have different bytes");
  // These are compared in the session's time zone, which may change after planning. Keys are looked up as stored.
  if (a.type != b.type && (a.type == TypeId::kTimestampTz || b.type == TypeId::kTimestampTz))
    return unsupported("join key that is compared in the session's time zone");
  if (a.phys() == b.phys()) return Status::ok();
  if (a.phys() == Phys::kI32 && b.phys() == Phys::kI64) return widen(left, "int8");
  if (a.phys() == Phys::kI64 && b.phys() == Phys::kI32) return widen(right, "int8");
  if (a.phys() == Phys::kF32 && b.phys() == Phys::kF64) return widen(left, "float8");
  if (a.phys() == Phys::kF64 && b.phys() == Phys::kF32) return widen(right, "float8");
  return unsupported("join key of different types");
}

}  // namespace strom::pg::planner
