// Makes foreign tables from the content of files. Used by IMPORT FOREIGN SCHEMA and arrow_fdw_import_file().
#pragma once

#include <span>
#include <string>
#include <vector>

#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/files/options.hpp"

namespace strom::pg::fdw_arrow {

/// A column of the new table.
struct TableColumn {
  std::string name;
  codec::SqlType type;
  std::string option, value;  // a column option; empty: none
  bool nullable;
};

/// Columns for all fields of the files that `options` name, and for the keys in the files' names. A NOTICE reports
/// types that a file names but that `named_types` does not allow. Throws PostgresError and StatusError: kTypeMismatch
/// where files differ, kUnsupported for a field that cannot be read, and the errors of opening files.
std::vector<TableColumn> import_columns(const files::TableOptions& options, codec::NamedTypes named_types);

/// Throws kTooManyColumns if CREATE FOREIGN TABLE cannot make a table with `columns` columns.
void require_declarable(const files::TableOptions& options, size_t columns);

/// The statement CREATE FOREIGN TABLE. The caller quotes `table`. May throw.
std::string create_statement(const std::string& table, const std::string& server, std::span<const TableColumn> columns,
                             const std::vector<catalog::Option>& options);

/// Quotes `name` as an identifier where needed. May throw.
std::string quote_name(const std::string& name);

}  // namespace strom::pg::fdw_arrow
