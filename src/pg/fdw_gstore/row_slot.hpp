// Converts rows of store tables to PostgreSQL's slots and back. May ereport.
#pragma once

#include "pg/store/memory.hpp"
#include "pg/store/row_lock.hpp"

namespace strom::pg::fdw_gstore {

inline void set_tid(store::Slot slot, ItemPointer tid) { *tid = store::tid_of_version(slot); }
inline store::Slot slot_of(ItemPointer tid) {
  constexpr int kOffsetBits = 8;
  return (ItemPointerGetBlockNumberNoCheck(tid) << kOffsetBits) |
         static_cast<store::Slot>(ItemPointerGetOffsetNumberNoCheck(tid) - 1);
}

/// Fills `slot` with a version's columns whose numbers are in `wanted` (all, if nullptr); other columns are NULL.
/// Values by reference are in the current memory context.
void fill_slot(const store::Table* table, store::Slot version, const bool* wanted, TupleTableSlot* slot);

/// Copies the values of a row, which are deformed, into a slot of the same columns. The caller may change some, and
/// stores the tuple.
void copy_values(const TupleTableSlot* row, TupleTableSlot* slot);

/// Makes a cell for each of the table's columns. The cells refer to the slot, to `spaces`, or to the current memory
/// context.
void cells_of(const store::Table* table, TupleTableSlot* slot, store::CellSpace* spaces, store::rows::Cell* cells);

}  // namespace strom::pg::fdw_gstore
