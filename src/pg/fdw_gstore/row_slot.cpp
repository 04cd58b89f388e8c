#include "pg/fdw_gstore/row_slot.hpp"

namespace strom::pg::fdw_gstore {

void fill_slot(const store::Table* table, store::Slot version, const bool* wanted, TupleTableSlot* slot) {
  ExecClearTuple(slot);
  const int attributes = slot->tts_tupleDescriptor->natts;
  std::memset(slot->tts_isnull, true, static_cast<size_t>(attributes));
  for (uint32_t i = 0; i < table->columns.size(); ++i) {
    const store::StoreColumn& column = table->columns[i];
    if (wanted != nullptr && !wanted[i]) continue;
    const int at = column.attnum - 1;
    slot->tts_values[at] = store::from_cell(column, table->rows->read(version, i), &slot->tts_isnull[at]);
  }
  ExecStoreVirtualTuple(slot);
  set_tid(version, &slot->tts_tid);
}

void copy_values(const TupleTableSlot* row, TupleTableSlot* slot) {
  ExecClearTuple(slot);
  const auto attributes = static_cast<size_t>(slot->tts_tupleDescriptor->natts);
  std::memcpy(slot->tts_values, row->tts_values, attributes * sizeof(Datum));
  std::memcpy(slot->tts_isnull, row->tts_isnull, attributes * sizeof(bool));
}

void cells_of(const store::Table* table, TupleTableSlot* slot, store::CellSpace* spaces, store::rows::Cell* cells) {
  slot_getallattrs(slot);
  for (size_t i = 0; i < table->columns.size(); ++i) {
    const store::StoreColumn& column = table->columns[i];
    const int at = column.attnum - 1;
    store::set_cell(column, slot->tts_values[at], slot->tts_isnull[at], &spaces[i], &cells[i]);
  }
}

}  // namespace strom::pg::fdw_gstore
