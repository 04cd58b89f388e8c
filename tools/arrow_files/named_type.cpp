// See named_type.hpp.
#include "arrow_files/named_type.hpp"

#include <cstdlib>
#include <utility>

namespace strom::tool {

namespace {

constexpr std::pair<const char*, const char*> kSqlNames[] = {
    {"bool", "boolean"},    {"int2", "smallint"},       {"int4", "integer"},
    {"int8", "bigint"},     {"float4", "real"},         {"float8", "double precision"},
    {"varchar", "varchar"}, {"timestamp", "timestamp"}, {"timestamptz", "timestamptz"},
};

constexpr int32_t kHeader = 4;  // that modifiers of lengths begin with

std::string in_brackets(int64_t number) { return "(" + std::to_string(number) + ")"; }

std::string numeric_modifier(int32_t modifier) {
  const int32_t packed = modifier - kHeader;
  return "(" + std::to_string(packed >> 16 & 0xFFFF) + "," + std::to_string(((packed & 0x7FF) ^ 1024) - 1024) + ")";
}

std::string builtin_sql(const std::string& name, int32_t modifier) {
  const bool has_modifier = modifier >= 0;
  if (name == "bpchar") return has_modifier ? "char" + in_brackets(modifier - kHeader) : "bpchar";
  if (name == "varchar" && has_modifier) return "varchar" + in_brackets(modifier - kHeader);
  if (name == "numeric" && has_modifier) return "numeric" + numeric_modifier(modifier);
  if (name == "varbit" && has_modifier) return "bit varying" + in_brackets(modifier);
  if (name == "bit") return has_modifier ? "bit" + in_brackets(modifier) : "pg_catalog.\"bit\"";  // bit alone is bit(1)
  if (name == "char") return "\"char\"";
  for (const char* timed : {"time", "timetz", "timestamp", "timestamptz"})
    if (name == timed && has_modifier) return name + in_brackets(modifier);
  for (const auto& [internal, sql] : kSqlNames)
    if (name == internal) return sql;
  const bool is_plain = name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
  return is_plain ? name : quote_identifier(name);
}

const std::string* find(const columnar::KeyValues& metadata, const char* key) {
  for (const auto& [name, value] : metadata)
    if (name == key) return &value;
  return nullptr;
}

}  // namespace

std::string quote_identifier(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"') out += c;
    out += c;
  }
  return out + "\"";
}

std::string quote_literal(const std::string& text) {
  std::string out = text.find('\\') == std::string::npos ? "'" : " E'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += c;
    out += c;
  }
  return out + "'";
}

std::string NamedType::sql() const {
  if (schema == "pg_catalog" && name.starts_with("_"))
    return NamedType{schema, name.substr(1), "", modifier}.sql() + "[]";
  if (schema == "pg_catalog") return builtin_sql(name, modifier);
  return quote_identifier(schema) + "." + quote_identifier(name);
}

std::optional<NamedType> named_type(const columnar::KeyValues& metadata) {
  if (const std::string* text = find(metadata, "pg_type"); text != nullptr) {
    NamedType out;
    const size_t mark = text->rfind('@'), dot = text->find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 >= std::min(mark, text->size())) return std::nullopt;
    out.schema = text->substr(0, dot);
    out.name = text->substr(dot + 1, mark == std::string::npos ? mark : mark - dot - 1);
    if (mark != std::string::npos) out.extension = text->substr(mark + 1);
    if (const std::string* modifier = find(metadata, "pg_typmod"); modifier != nullptr)
      out.modifier = static_cast<int32_t>(std::strtol(modifier->c_str(), nullptr, 10));
    return out;
  }
  if (const std::string* extension = find(metadata, "ARROW:extension:name"); extension != nullptr) {
    if (*extension == "arrow.uuid") return NamedType{"pg_catalog", "uuid", "", -1};
    if (*extension == "arrow.json") return NamedType{"pg_catalog", "jsonb", "", -1};
  }
  return std::nullopt;
}

}  // namespace strom::tool
