// What this session's transaction has done to store tables: how it is taken back, how it is committed. All of it may
// ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// One version that a transaction has ended, one that it has made, or both, the one for the other.
struct Change {
  Slot ended, made;
  uint32_t aux_before;  // of the ended version
  SubTransactionId subtransaction;
};

/// Makes room for one more change of the table, so that note_change() cannot fail. In the session's first change of a
/// transaction: refuses read-only servers.
/// `redo_bytes`: of the change's redo, at most; `record_bytes`: of the new row in the published region, 0 = no row or
/// no region.
void prepare_change(Table* table, uint64_t redo_bytes, uint64_t record_bytes);
void note_change(Table* table, const Change& change);
/// A slot, with memory, that this transaction has taken together with others; kNoSlot: one has to be taken alone. After
/// prepare_change().
Slot take_spare_slot(Table* table);
/// The last two changes are one: `ended` was ended, and `made` made in its place.
void merge_last_changes(Table* table, Slot ended, Slot made);
/// Takes back the last change.
void undo_last_change(Table* table);

/// Rows that this transaction has deleted from the table, without others in their place.
uint64_t rows_ended(const Table* table);

/// The command that made a version, where the version has the number of the command that ended it instead: both are of
/// this transaction. False: it is another one's.
bool find_first_command(const Table* table, Slot slot, CommandId* command);

/// This transaction has changed the table.
bool has_changes(const Table* table);

}  // namespace strom::pg::store
