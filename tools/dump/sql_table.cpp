// See sql_table.hpp.
#include "dump/sql_table.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "arrow_files/named_type.hpp"
#include "arrow_files/sql_table.hpp"
#include "columnar/layout.hpp"

namespace strom::tool {

namespace {

using columnar::Field;
using columnar::Layout;

/// Arrays are what their elements are.
bool is_array_of_children(const Field& field, const NamedType& named) {
  return !field.dictionary && field.layout == Layout::kList && named.name.starts_with("_");
}

/// The type that the metadata name; nothing where Arrow_Fdw would not read the column as that type.
std::optional<NamedType> usable_type(const Field& field) {
  std::optional<NamedType> named = named_type(field.metadata);
  if (!named || is_array_of_children(field, *named)) return std::nullopt;
  const bool is_plain = !field.dictionary;
  if (is_plain && columnar::is_decimal(field.layout) && named->is_builtin())
    return std::nullopt;  // the field says it better
  if (is_plain && field.layout == Layout::kBinary && !named->extension.empty()) return std::nullopt;  // WKB of PostGIS
  return named;
}

std::optional<std::string> named_sql(const Field& field) {
  const auto named = usable_type(field);
  return named ? std::optional(named->sql()) : std::nullopt;
}

std::string column_type(const Field& field) { return sql_type(field, named_sql); }

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + quote_literal(text);
  return out;
}

/// What makes the types of a file's columns, but for built-in ones.
class TypeDefinitions {
 public:
  TypeDefinitions(const format::arrow::ExistingFile& file, std::set<std::string>& done) : file_(file), done_(done) {}

  Status add(const Field& field) {
    for (const Field& child : field.children) STROM_TRY(add(child));
    const auto named = usable_type(field);
    if (!named || named->schema == "pg_catalog") return Status::ok();
    if (!named->extension.empty()) {
      once("CREATE EXTENSION IF NOT EXISTS " + quote_identifier(named->extension) + ";\n");
      return Status::ok();
    }
    if (!done_.insert(named->sql()).second) return Status::ok();
    once(create_schema(named->schema));
    std::string definition = "DOMAIN " + named->sql() + " AS " + stored_sql_type(field, named_sql);
    if (field.dictionary) {
      STROM_ASSIGN(const auto labels, file_.dictionary(field.dictionary_id));
      definition = "TYPE " + named->sql() + " AS ENUM (" + quoted_list(labels) + ")";
    } else if (field.layout == Layout::kStruct) {
      std::string parts;
      for (const Field& child : field.children)
        parts += (parts.empty() ? "" : ", ") + quote_identifier(child.name) + " " + column_type(child);
      definition = "TYPE " + named->sql() + " AS (" + parts + ")";
    }
    std::string tag = "$do$";
    while (definition.find(tag) != std::string::npos) tag.insert(1, "x");
    sql_ += fmt::format("DO {0} BEGIN IF to_regtype({1}) IS NULL THEN CREATE {2}; END IF; END {0};\n", tag,
                        quote_literal(named->sql()), definition);
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
  return name.empty() || name == "public" ? std::string()
                                          : "CREATE SCHEMA IF NOT EXISTS " + quote_identifier(name) + ";\n";
}

Result<std::string> type_definitions(const format::arrow::ExistingFile& file, std::set<std::string>& done) {
  TypeDefinitions definitions(file, done);
  for (const Field& field : file.schema.fields) STROM_TRY(definitions.add(field));
  return definitions.take();
}

std::string create_dumped_table(const columnar::Schema& schema, const std::string& reference, const std::string& file) {
  SqlTable table;
  table.reference = reference;
  table.foreign_file = file;
  table.named = named_sql;
  table.has_constraints = false;
  return create_table(schema.fields, table);
}

}  // namespace strom::tool
