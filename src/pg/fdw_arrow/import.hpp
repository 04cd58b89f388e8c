// Foreign tables made of what files hold. Used by IMPORT FOREIGN SCHEMA and arrow_fdw_import_file().
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/files/options.hpp"

namespace strom::pg::fdw_arrow {

/// A column of a table to be made.
struct TableColumn {
  std::string name;
  codec::SqlType type;
  std::string option, value;  // a column option; empty = none
  bool nullable;
};

/// Columns for all fields of the files that `options` name, and for the keys of their names. A NOTICE tells of types
/// that a file names and that are not taken. Throws StatusError
/// (kTypeMismatch where files differ, kUnsupported for a field that cannot be read, and those of opening files) and
/// PostgresError.
std::vector<TableColumn> import_columns(const files::TableOptions& options, codec::NamedTypes named_types);

/// Throws kTooManyColumns where CREATE FOREIGN TABLE does not take so many.
void require_declarable(const files::TableOptions& options, size_t columns);

/// CREATE FOREIGN TABLE; `table` is quoted as needed. May throw.
std::string create_statement(const std::string& table, const std::string& server, std::span<const TableColumn> columns,
                             const std::vector<catalog::Option>& options);

/// As an identifier in a statement. May throw.
std::string quote_name(const std::string& name);

}  // namespace strom::pg::fdw_arrow
