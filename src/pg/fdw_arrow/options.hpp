// Options of foreign tables over Arrow files: which there are, what they mean, and the files that they name.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/catalog/foreign_table.hpp"

namespace strom::pg::fdw_arrow {

struct TableOptions {
  std::vector<std::string> files;       // of `file` or `files`
  std::string dir;                      // empty = none
  std::string suffix;                   // with its dot; empty = any
  std::optional<int> parallel_workers;  // as the storage parameter of the same name
};

/// Checks names, values and combinations. Errors: kBadOption.
Result<TableOptions> parse_table_options(std::span<const catalog::Option> options);

/// Name of the file's field that a column reads: option `field`, else the column's own name.
std::string field_name_of(const catalog::ForeignColumn& column);

/// Paths of all files of a table; those of `dir` are its regular files whose name does not begin with a dot, sorted by
/// name, sub-folders left out. Errors: kFileNotFound, kPermissionDenied, kIoError for a folder that cannot be read.
Result<std::vector<std::string>> list_files(const TableOptions& options);

/// The validator's work for options of an object of catalog `catalog` (OID of pg_foreign_table, pg_attribute, ...).
/// Errors: kBadOption; kPermissionDenied for a table's path set by a role without pg_read_server_files. May throw.
void validate_options(std::span<const catalog::Option> options, Oid catalog);

/// kPermissionDenied unless the current role may read server files. May throw.
void require_file_privilege();

}  // namespace strom::pg::fdw_arrow
