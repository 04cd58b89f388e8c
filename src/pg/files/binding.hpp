// Maps the columns of a writable table to the fields of its file, as the catalogs define them at one moment.
// PendingWrite makes a new binding after the table has been altered.
#pragma once

#include <memory>
#include <string>

#include "columnar/schema.hpp"
#include "format/arrow/read/reader.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/column_writer.hpp"

namespace strom::pg::files {

struct Binding {
  std::string signature;  // binding_signature() of the table at that time
  std::unique_ptr<codec::RowWriter> rows;
};

/// Everything about a table's columns that a binding depends on. Equal signatures give equal bindings. May throw.
std::string binding_signature(const catalog::ForeignTable& table);

/// Binds `table` to file `path` with `schema`. May throw: kTypeMismatch when they do not fit together. `may_narrow`:
/// fields may have types that hold fewer values than their columns. `dictionary_of` serves fields with a dictionary.
std::unique_ptr<Binding> make_binding(const catalog::ForeignTable& table, const columnar::Schema& schema,
                                      const std::string& path, bool may_narrow,
                                      const codec::DictionaryOf& dictionary_of);

/// May throw: kUnsupported when `table` could not read a column back from `file`.
void require_readable(const catalog::ForeignTable& table, const format::arrow::FileReader& file);

/// The schema of a file without rows: a field for each column. Fields of `old` stay if a column can be written to them,
/// or if no column belongs to them. May throw.
columnar::Schema schema_for(const catalog::ForeignTable& table, const columnar::Schema& old);

}  // namespace strom::pg::files
