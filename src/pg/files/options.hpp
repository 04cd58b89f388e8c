// Options of foreign tables over Arrow files and of their columns: their names and meanings.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/type_map.hpp"
#include "pg/files/file_list.hpp"

namespace strom::pg::files {

struct TableOptions {
  std::vector<std::string> files;       // from `file` or `files`
  std::string dir;                      // empty: none
  std::string suffix;                   // with its dot; empty: any
  std::optional<PathPattern> pattern;   // files that do not match are skipped
  bool missing_is_null = false;         // a field that a file lacks reads as NULL
  std::optional<int> parallel_workers;  // as the storage parameter of the same name
  bool writable = false;
  // Of record batches that are written:
  int64_t batch_bytes = int64_t{64} << 20, batch_rows = INT64_MAX;
  std::string compression = "none";
  bool statistics = true;
};

/// Options of IMPORT FOREIGN SCHEMA that do not become options of the table.
struct ImportOptions {
  codec::NamedTypes named_types = codec::NamedTypes::kTrusted;
};

/// Removes these options from `options` and returns them. Errors: kBadOption.
Result<ImportOptions> take_import_options(std::vector<catalog::Option>* options);

/// Parses the value of `named_types`. Errors: kBadOption.
Result<codec::NamedTypes> parse_named_types(const std::string& value);

/// The source of a column's values.
struct ColumnSource {
  enum class Kind {
    kField,          // a field of the file; `name` is its name
    kPath,           // `name` is a key of the pattern or a folder, or kPathName or kFileName
    kMetadata,       // `name` is KEY or FIELD.KEY of the file's custom metadata
    kMetadataSplit,  // the same, split into an element for each record batch
  };
  Kind kind = Kind::kField;
  std::string name;
};

inline constexpr std::string_view kPathName = "@pathname", kFileName = "@filename";

/// Parses options, and checks names, values and combinations. Errors: kBadOption.
Result<TableOptions> parse_table_options(std::span<const catalog::Option> options);

/// Parses the options of a column. Errors: kBadOption.
Result<ColumnSource> column_source(const catalog::ForeignColumn& column);

/// Checks the options of an object of catalog `catalog` (OID of pg_foreign_table, pg_attribute, ...) for the validator.
/// Errors: kBadOption; kPermissionDenied when a role without pg_read_server_files sets a table's path. May throw.
void validate_options(std::span<const catalog::Option> options, Oid catalog);

/// kPermissionDenied unless the current role may read server files. May throw.
void require_file_privilege();

/// The same for pg_write_server_files.
void require_write_privilege();

}  // namespace strom::pg::files
