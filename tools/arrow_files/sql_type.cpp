// See sql_type.hpp.
#include "arrow_files/sql_type.hpp"

#include "columnar/sql_type.hpp"

namespace strom::tool {

namespace {

struct Names {
  using Type = std::string;
  const NamedTypeOf& named_type;

  static std::string builtin(registry::TypeId type, const columnar::Field& field) {
    if (columnar::is_decimal(field.layout))
      return "numeric(" + std::to_string(field.precision) + "," + std::to_string(field.scale) + ")";
    const std::string text = columnar::layout_type_text(field.layout);
    return text.empty() ? registry::type_info(type).pg_name : text;
  }
  std::optional<std::string> named(const columnar::Field& field) const { return named_type(field); }
  static std::optional<std::string> array_of(const std::string& element) {
    if (element.empty() || element.ends_with("[]")) return std::nullopt;
    return element + "[]";
  }
  static bool is_json(const std::string& type) { return type == "jsonb"; }
};

}  // namespace

std::string sql_type(const columnar::Field& field, const NamedTypeOf& named) {
  return columnar::sql_type_of(field, Names{named});
}

std::string stored_sql_type(const columnar::Field& field, const NamedTypeOf& named) {
  return columnar::stored_sql_type(field, Names{named});
}

}  // namespace strom::tool
