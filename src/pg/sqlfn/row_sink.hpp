// What takes the rows of a query: record batches (arrow_output.hpp), buffers of an export (export_buffers.hpp). Filled
// by query_cursor.cpp and cursor_columns.cpp.
#pragma once

#include <cstdint>

#include "pg/boundary/postgres.hpp"
#include "pg/codec/column_writer.hpp"

namespace strom::pg::sqlfn {

class RowSink {
 public:
  virtual ~RowSink() = default;
  /// One row. May ereport, and may throw.
  virtual void add(const Datum* values, const bool* nulls) = 0;
  void add(TupleTableSlot* slot) {
    slot_getallattrs(slot);
    add(slot->tts_values, slot->tts_isnull);
  }
  /// Rows [first, first + count) of columns. May ereport, and may throw.
  virtual void add(const codec::RegisterColumn* columns, int64_t first, int64_t count) = 0;
  /// Rows that it still takes when their texts are empty; not when it is full.
  virtual int64_t room() const = 0;
  virtual bool is_full() const = 0;
  /// Passes on what was added. May throw.
  virtual void flush() = 0;
};

}  // namespace strom::pg::sqlfn
