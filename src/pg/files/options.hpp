// Options of foreign tables over Arrow files and of their columns: which there are, and what they mean.
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
  std::vector<std::string> files;       // of `file` or `files`
  std::string dir;                      // empty = none
  std::string suffix;                   // with its dot; empty = any
  std::optional<PathPattern> pattern;   // files that do not match are left out
  bool missing_is_null = false;         // fields that a file does not have
  std::optional<int> parallel_workers;  // as the storage parameter of the same name
  bool writable = false;
  // Of record batches that are written:
  int64_t batch_bytes = int64_t{64} << 20, batch_rows = INT64_MAX;
  std::string compression = "none";
  bool statistics = true;
};

/// Options of IMPORT FOREIGN SCHEMA that are not the table's.
struct ImportOptions {
  codec::NamedTypes named_types = codec::NamedTypes::kTrusted;
};

/// Takes them out of `options`. Errors: kBadOption.
Result<ImportOptions> take_import_options(std::vector<catalog::Option>* options);

/// The value of `named_types`. Errors: kBadOption.
Result<codec::NamedTypes> parse_named_types(const std::string& value);

/// Where a column's values come from.
struct ColumnSource {
  enum class Kind {
    kField,          // of the file's; `name` is the field's
    kPath,           // `name` is a key of the pattern, of a folder, or kPathName or kFileName
    kMetadata,       // `name` is KEY or FIELD.KEY of the file's custom metadata
    kMetadataSplit,  // the same, an element for each record batch
  };
  Kind kind = Kind::kField;
  std::string name;
};

inline constexpr std::string_view kPathName = "@pathname", kFileName = "@filename";

/// Checks names, values and combinations. Errors: kBadOption.
Result<TableOptions> parse_table_options(std::span<const catalog::Option> options);

/// Errors: kBadOption.
Result<ColumnSource> column_source(const catalog::ForeignColumn& column);

/// The validator's work for options of an object of catalog `catalog` (OID of pg_foreign_table, pg_attribute, ...).
/// Errors: kBadOption; kPermissionDenied for a table's path set by a role without pg_read_server_files. May throw.
void validate_options(std::span<const catalog::Option> options, Oid catalog);

/// kPermissionDenied unless the current role may read server files. May throw.
void require_file_privilege();

/// The same for pg_write_server_files.
void require_write_privilege();

}  // namespace strom::pg::files
