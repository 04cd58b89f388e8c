// See sql_table.hpp.
#include "dump/sql_table.hpp"

#include <fmt/format.h>

namespace strom::tool {

namespace {

using columnar::Kind;
using columnar::NestedField;

std::string sql_type(const NestedField& field) {
  if (field.dictionary >= 0) return "text";
  switch (field.kind) {
    case Kind::kBool: return "boolean";
    case Kind::kInt: return field.bits <= 16 ? "smallint" : field.bits == 32 ? "integer" : "bigint";
    case Kind::kUInt:
      return field.bits == 8    ? "smallint"
             : field.bits == 16 ? "integer"
             : field.bits == 32 ? "bigint"
                                : "numeric(20,0)";
    case Kind::kFloat: return field.bits == 32 ? "real" : "double precision";
    case Kind::kDecimal: return fmt::format("numeric({},{})", field.precision, field.scale);
    case Kind::kDate: return "date";
    case Kind::kTime: return "time";
    case Kind::kTimestamp: return field.timezone.empty() ? "timestamp" : "timestamptz";
    case Kind::kInterval: return "interval";
    case Kind::kBinary: return "bytea";
    case Kind::kUtf8: return "text";
    case Kind::kList: return sql_type(field.children.at(0)) + "[]";
    case Kind::kFixedBinary:
    case Kind::kStruct:
      for (const auto& [key, value] : field.metadata) {
        if (key == "pg_type") return value.substr(0, value.find('@'));
      }
      return field.kind == Kind::kStruct ? "jsonb" : "bytea";
    case Kind::kOther: break;
  }
  return "text";
}

}  // namespace

std::string quoted_name(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string quoted_literal(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

std::string create_table(const columnar::NestedSchema& schema, const std::string& name, const std::string& prefix) {
  std::string columns;
  for (const NestedField& field : schema.fields) {
    columns += fmt::format("{}\n  {} {}", columns.empty() ? "" : ",", quoted_name(field.name), sql_type(field));
  }
  return fmt::format("CREATE {}TABLE {} ({}\n)", prefix, name, columns);
}

}  // namespace strom::tool
