// Receives the rows of a query: as record batches (arrow_output.hpp) or as buffers of an export (export_buffers.hpp).
// query_cursor.cpp and cursor_columns.cpp fill it.
#pragma once

#include <cstdint>

#include "pg/boundary/postgres.hpp"
#include "pg/codec/column_writer.hpp"

namespace strom::pg::sqlfn {

class RowSink {
 public:
  virtual ~RowSink() = default;
  /// Adds a row. May ereport, and may throw.
  virtual void add(const Datum* values, const bool* nulls) = 0;
  void add(TupleTableSlot* slot) {
    slot_getallattrs(slot);
    add(slot->tts_values, slot->tts_isnull);
  }
  /// Adds rows [first, first + count) of columns. May ereport, and may throw.
  virtual void add(const codec::RegisterColumn* columns, int64_t first, int64_t count) = 0;
  /// The number of rows that it still accepts if their texts are empty. Not to be called when it is full.
  virtual int64_t room() const = 0;
  virtual bool is_full() const = 0;
  /// Writes out the rows so far. May throw.
  virtual void flush() = 0;
};

}  // namespace strom::pg::sqlfn
