// SELECT … FOR UPDATE and FOR SHARE on store tables. May ereport.
#include "pg/fdw_gstore/callbacks.hpp"
#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/store/row_lock.hpp"

namespace store = strom::pg::store;
namespace gstore = strom::pg::fdw_gstore;

RowMarkType strom_gstore_row_mark(RangeTblEntry*, LockClauseStrength strength) {
  switch (strength) {
    case LCS_NONE: return ROW_MARK_COPY;
    case LCS_FORKEYSHARE: return ROW_MARK_KEYSHARE;
    case LCS_FORSHARE: return ROW_MARK_SHARE;
    case LCS_FORNOKEYUPDATE: return ROW_MARK_NOKEYEXCLUSIVE;
    case LCS_FORUPDATE: return ROW_MARK_EXCLUSIVE;
  }
  return ROW_MARK_COPY;
}

void strom_gstore_lock_row(EState* estate, ExecRowMark* mark, Datum row, TupleTableSlot* slot, bool* is_newer) {
  store::Table* table = store::open_table(mark->relation);
  // No foreign key can refer to a store table, so two kinds of locks are sufficient.
  const bool is_exclusive = mark->markType == ROW_MARK_EXCLUSIVE || mark->markType == ROW_MARK_NOKEYEXCLUSIVE;
  const store::Slot seen = gstore::slot_of(reinterpret_cast<ItemPointer>(DatumGetPointer(row)));
  const store::LockOutcome outcome = store::lock_row(table, mark->relation, seen, is_exclusive, mark->waitPolicy);
  if (outcome.version == store::rows::kNoSlot) {
    ExecClearTuple(slot);
    return;
  }
  // The values are only read while this row is processed.
  MemoryContext before = MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
  gstore::fill_slot(table, outcome.version, nullptr, slot);
  MemoryContextSwitchTo(before);
  slot->tts_tableOid = RelationGetRelid(mark->relation);
  *is_newer = outcome.is_newer;
}
