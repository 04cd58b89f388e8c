// Rows that this transaction has written to Arrow tables, until it ends. docs/dev/arrow.md, "Writing".
#pragma once

#include <memory>
#include <string>

#include "format/arrow/read/reader.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/codec/column_writer.hpp"

namespace strom::pg::files {

class PendingWrite;

/// Makes a writable foreign table ready to be written to by a statement, as the table is defined now: locks it, opens
/// its file or makes one. Main thread; may throw.
PendingWrite* begin_write(Oid relid);
/// Appends a row of command `command`. May ereport, and may throw.
void write_row(PendingWrite* write, TupleTableSlot* slot, CommandId command);
/// Appends `rows` rows of columns, one for each attribute of the table. May ereport, and may throw.
void write_columns(PendingWrite* write, const codec::RegisterColumn* columns, int64_t rows, CommandId command);
/// No rows are left. May throw.
void truncate_table(Oid relid);

/// This transaction has written to the table.
bool has_pending_rows(Oid relid);
/// The file `path` of table `relid` with the rows that this transaction has written and the active snapshot sees;
/// nullptr when there are none. May throw.
std::shared_ptr<const format::arrow::FileReader> pending_reader(Oid relid, const std::string& path);

}  // namespace strom::pg::files
