// Rows that the current transaction has written to Arrow tables. See docs/dev/arrow.md, "Writing".
#pragma once

#include <memory>
#include <string>

#include "format/arrow/read/reader.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/codec/column_writer.hpp"

namespace strom::pg::files {

class PendingWrite;

/// Prepares a writable foreign table for a statement that writes to it, by its current definition: locks it, and opens
/// or makes its file. Main thread; may throw.
PendingWrite* begin_write(Oid relid);
/// Appends a row for command `command`. May ereport, and may throw.
void write_row(PendingWrite* write, TupleTableSlot* slot, CommandId command);
/// Appends `rows` rows; `columns` has one column for each attribute of the table. May ereport, and may throw.
void write_columns(PendingWrite* write, const codec::RegisterColumn* columns, int64_t rows, CommandId command);
/// Removes all rows. May throw.
void truncate_table(Oid relid);

/// True when this transaction has written to the table.
bool has_pending_rows(Oid relid);
/// The file `path` of table `relid` including the rows of this transaction that the active snapshot sees; nullptr when
/// there are no such rows. May throw.
std::shared_ptr<const format::arrow::FileReader> pending_reader(Oid relid, const std::string& path);

}  // namespace strom::pg::files
