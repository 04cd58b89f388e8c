// Which columns of a writable table go to which fields of its file, as the catalogs say at one moment. Used by
// PendingWrite, which makes a new binding when the table has been altered.
#pragma once

#include <memory>
#include <string>

#include "columnar/schema.hpp"
#include "format/arrow/read/reader.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/codec/column_writer.hpp"

namespace strom::pg::files {

struct Binding {
  std::string signature;  // of the table then
  std::unique_ptr<codec::RowWriter> rows;
};

/// Everything of a table's columns that a binding is made of: two that are equal give the same binding. May throw.
std::string binding_signature(const catalog::ForeignTable& table);

/// Rows of `table` for file `path` of `schema`. May throw: kTypeMismatch when they do not fit together.
/// `may_narrow`: fields may have types that hold fewer values than their columns. `dictionary_of`: for fields that have
/// one.
std::unique_ptr<Binding> make_binding(const catalog::ForeignTable& table, const columnar::Schema& schema,
                                      const std::string& path, bool may_narrow,
                                      const codec::DictionaryOf& dictionary_of);

/// May throw: kUnsupported when a column could not be read from `file`, to which it is about to be written.
void require_readable(const catalog::ForeignTable& table, const format::arrow::FileReader& file);

/// What a file without rows is to have: a field for each column. Fields of `old` stay where the columns can be written
/// to them, and where no column belongs to them. May throw.
columnar::Schema schema_for(const catalog::ForeignTable& table, const columnar::Schema& old);

}  // namespace strom::pg::files
