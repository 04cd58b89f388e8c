// CREATE TABLE for the columns of an Arrow file, with the types that Arrow_Fdw gives them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arrow_files/named_type.hpp"
#include "arrow_files/sql_type.hpp"
#include "base/status.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::tool {

/// The built-in type that the metadata name, where values of the field's layout are read as that type from what
/// arrow2csv writes.
std::optional<std::string> metadata_type(const columnar::Field& field);

struct SqlTable {
  std::string name;             // may have a schema before a dot
  std::string reference;        // the name in SQL, in place of `name`
  std::string tablespace;       // empty: none
  std::string partition_of;     // empty: none
  std::string partition_bound;  // FOR VALUES …; empty: DEFAULT
  std::string foreign_file;     // not empty: a foreign table over this file
  NamedTypeOf named = metadata_type;
  bool has_constraints = true;  // NOT NULL
};

/// The statement, with its semicolon and line end. Columns that cannot be read are comments.
std::string create_table(const std::vector<columnar::Field>& fields, const SqlTable& table);

/// Names for the columns, as IMPORT FOREIGN SCHEMA gives them: what is too long is cut, what is empty or there already
/// is given another name.
std::vector<std::string> column_names(const std::vector<columnar::Field>& fields);

/// The file's columns, of which those of FixedSizeBinary have a type in their metadata, char(n) or bytea, by a sample
/// of their values. Errors: those of reading.
Result<std::vector<columnar::Field>> with_binary_types(const format::arrow::FileReader& file);

/// In double quotes; the parts of a name with a schema one by one.
std::string quote_table_name(const std::string& name);

}  // namespace strom::tool
