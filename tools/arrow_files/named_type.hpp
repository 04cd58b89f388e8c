// Types that the metadata pg_type of a field names, as SQL. Used by what writes CREATE TABLE for Arrow files.
#pragma once

#include <optional>
#include <string>

#include "columnar/schema.hpp"

namespace strom::tool {

/// "schema.name" or "schema.name@extension", and its modifier.
struct NamedType {
  std::string schema, name, extension;
  int32_t modifier = -1;

  bool is_builtin() const { return schema == "pg_catalog" && extension.empty(); }
  /// With its modifier, as it stands in a table's definition.
  std::string sql() const;
};

/// Arrow's own extension types, too.
std::optional<NamedType> named_type(const columnar::KeyValues& metadata);

/// In double quotes.
std::string quote_identifier(const std::string& name);
/// In single quotes, and after an E where there are backslashes.
std::string quote_literal(const std::string& text);

}  // namespace strom::tool
