// The changes of this session's transaction to store tables: records, undoes and commits them. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// A version that the transaction has ended, one that it has made, or both if one replaces the other.
struct Change {
  Slot ended, made;
  uint32_t aux_before;  // of the ended version
  SubTransactionId subtransaction;
};

/// Has this session's transactions end, from now on, with what store tables need: changes, regions, files.
void watch_transactions();

/// Makes room for one more change of the table, so that note_change() cannot fail. The first change of a transaction
/// fails on read-only servers. `redo_bytes`: upper limit of the change's redo. `record_bytes`: size of the new row in
/// the published region; 0 = no row or no region.
void prepare_change(Table* table, uint64_t redo_bytes, uint64_t record_bytes);
void note_change(Table* table, const Change& change);
/// A slot, with memory, that this transaction has taken in advance; kNoSlot: the caller takes one itself. Called after
/// prepare_change().
Slot take_spare_slot(Table* table);
/// Merges the last two changes into one: `made` replaces `ended`.
void merge_last_changes(Table* table, Slot ended, Slot made);
/// Undoes the last change.
void undo_last_change(Table* table);

/// The number of rows that this transaction has deleted from the table and not replaced.
uint64_t rows_ended(const Table* table);

/// The command that made a version, if this transaction both made and ended it: the version itself then has the number
/// of the command that ended it. False: it is not such a version.
bool find_first_command(const Table* table, Slot slot, CommandId* command);

/// Releases what this transaction holds of a table, and of its region, without having changed it. Called before the
/// region becomes another one.
void forget_unchanged(const Table* table);

/// True when this transaction has changed the table.
bool has_changes(const Table* table);

}  // namespace strom::pg::store
