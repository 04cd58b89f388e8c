// See sql_table.hpp.
#include "dump/sql_table.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "arrow_files/named_type.hpp"

namespace strom::tool {

namespace {

using columnar::Kind;
using columnar::NestedField;

std::string sql_type(const NestedField& field);

/// By what is stored alone.
std::string stored_type(const NestedField& field) {
  if (field.dictionary >= 0) return "text";
  switch (field.kind) {
    case Kind::kBool: return "boolean";
    case Kind::kInt: return field.bits <= 16 ? "smallint" : field.bits == 32 ? "integer" : "bigint";
    case Kind::kUInt:
      return field.bits == 8    ? "smallint"
             : field.bits == 16 ? "integer"
             : field.bits == 32 ? "bigint"
                                : "numeric(20,0)";
    case Kind::kFloat: return field.bits <= 32 ? "real" : "double precision";
    case Kind::kDecimal: return fmt::format("numeric({},{})", field.precision, field.scale);
    case Kind::kDate: return "date";
    case Kind::kTime: return "time";
    case Kind::kTimestamp: return field.timezone.empty() ? "timestamp" : "timestamptz";
    case Kind::kInterval: return "interval";
    case Kind::kBinary:
    case Kind::kFixedBinary: return "bytea";
    case Kind::kUtf8: return "text";
    case Kind::kList: return sql_type(field.children.at(0)) + "[]";
    case Kind::kStruct: return "jsonb";
    case Kind::kOther: break;
  }
  return "text";
}

/// Arrays are what their elements are.
bool is_array_of_children(const NestedField& field, const NamedType& named) {
  return field.dictionary < 0 && field.kind == Kind::kList && named.name.starts_with("_");
}

/// The type that the metadata name; nothing where Arrow_Fdw would not read the column as that type.
std::optional<NamedType> usable_type(const NestedField& field) {
  std::optional<NamedType> named = named_type(field.metadata);
  if (!named || is_array_of_children(field, *named)) return std::nullopt;
  const bool is_plain = field.dictionary < 0;
  if (is_plain && field.kind == Kind::kDecimal && named->is_builtin()) return std::nullopt;  // the field says it better
  if (is_plain && field.kind == Kind::kBinary && !named->extension.empty()) return std::nullopt;  // WKB of PostGIS
  return named;
}

std::string sql_type(const NestedField& field) {
  const auto named = usable_type(field);
  return named ? named->sql() : stored_type(field);
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + quoted_literal(text);
  return out;
}

/// What makes the types of a file's columns, but for built-in ones.
class TypeDefinitions {
 public:
  TypeDefinitions(const format::arrow::ExistingFile& file, std::set<std::string>& done) : file_(file), done_(done) {}

  Status add(const NestedField& field) {
    for (const NestedField& child : field.children) STROM_TRY(add(child));
    const auto named = usable_type(field);
    if (!named || named->schema == "pg_catalog") return Status::ok();
    if (!named->extension.empty()) {
      once("CREATE EXTENSION IF NOT EXISTS " + quoted_name(named->extension) + ";\n");
      return Status::ok();
    }
    if (!done_.insert(named->sql()).second) return Status::ok();
    once(create_schema(named->schema));
    std::string definition = "DOMAIN " + named->sql() + " AS " + stored_type(field);
    if (field.dictionary >= 0) {
      STROM_ASSIGN(const auto labels, file_.dictionary(field.dictionary));
      definition = "TYPE " + named->sql() + " AS ENUM (" + quoted_list(labels) + ")";
    } else if (field.kind == Kind::kStruct) {
      std::string parts;
      for (const NestedField& child : field.children)
        parts += (parts.empty() ? "" : ", ") + quoted_name(child.name) + " " + sql_type(child);
      definition = "TYPE " + named->sql() + " AS (" + parts + ")";
    }
    std::string tag = "$do$";
    while (definition.find(tag) != std::string::npos) tag.insert(1, "x");
    sql_ += fmt::format("DO {0} BEGIN IF to_regtype({1}) IS NULL THEN CREATE {2}; END IF; END {0};\n", tag,
                        quoted_literal(named->sql()), definition);
    return Status::ok();
  }
  std::string take() { return std::move(sql_); }

 private:
  void once(const std::string& statement) {
    if (!statement.empty() && done_.insert(statement).second) sql_ += statement;
  }

  const format::arrow::ExistingFile& file_;
  std::set<std::string>& done_;
  std::string sql_;
};

}  // namespace

std::string create_schema(const std::string& name) {
  return name.empty() || name == "public" ? std::string() : "CREATE SCHEMA IF NOT EXISTS " + quoted_name(name) + ";\n";
}

Result<std::string> type_definitions(const format::arrow::ExistingFile& file, std::set<std::string>& done) {
  TypeDefinitions definitions(file, done);
  for (const NestedField& field : file.schema.fields) STROM_TRY(definitions.add(field));
  return definitions.take();
}

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
