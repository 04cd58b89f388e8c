// SQL types of Arrow fields, as they stand in CREATE TABLE: columnar/sql_type.hpp for the tools.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "columnar/schema.hpp"

namespace strom::tool {

/// The type that a field's metadata name, where it can be used; otherwise nothing.
using NamedTypeOf = std::function<std::optional<std::string>(const columnar::Field& field)>;

/// Empty for fields that cannot be read.
std::string sql_type(const columnar::Field& field, const NamedTypeOf& named);
/// Without the field's own metadata.
std::string stored_sql_type(const columnar::Field& field, const NamedTypeOf& named);

}  // namespace strom::tool
