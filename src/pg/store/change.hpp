// Changes to rows of a store table: rows are found by key, made and ended. Decides what a transaction may do to a row
// that another transaction is changing. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// The result of ending a version.
enum class EndResult : uint8_t {
  kDone,
  kOwn,      // this transaction has ended it already
  kUpdated,  // other transactions have ended it; `follower` is the row's newest version, which nobody has ended
  kDeleted,  // other transactions have ended it, and the row
};

struct EndOutcome {
  EndResult result;
  Slot follower;      // for kUpdated
  CommandId command;  // for kOwn: the command that ended it
};

/// The version with this key that `snapshot` sees; kNoSlot: none.
Slot find_by_key(const Table* table, const rows::Cell& key, Snapshot snapshot);
/// A further version with the key of `found`, which find_by_key() or this function has returned; kNoSlot: there is
/// none. The snapshot of a whole transaction sees two where the transaction has inserted a key again that another one
/// has deleted meanwhile. Other snapshots see one at most.
Slot find_further(const Table* table, Slot found, Snapshot snapshot);

/// Finds a row with this key that writers have to respect: inserting the key would raise 23505. Waits for transactions
/// that may undo it.
Slot find_live_key(const Table* table, Relation relation, const rows::Cell& key);

/// Prefetches the memory of the index that is needed for rows with these keys, so that insert_row() does not wait for
/// it.
void fetch_index(const Table* table, const rows::Cell* keys, int count);
/// fetch_rows() also prefetches the rows themselves, which are about to be changed. At most kFetchedTogether keys.
inline constexpr int kFetchedTogether = 64;
void fetch_rows(const Table* table, const rows::Cell* keys, int count);

/// Makes a row. Errors: 23505, but with `skips_duplicates` the result is kNoSlot instead; 53400 (the table is full),
/// 53200.
Slot insert_row(Table* table, Relation relation, const rows::Cell* cells, CommandId command, bool skips_duplicates);

/// Ends a version that the caller's snapshot sees, or a follower of such a version. Waits for other transactions. After
/// kDone, an UPDATE calls replace_row(). The caller's snapshot is active, so that no version of the row is freed: see
/// docs/dev/store.md. Where a transaction keeps one snapshot, `follower` is some newer version.
EndOutcome end_row(Table* table, Relation relation, Slot slot, CommandId command);

/// Makes the new version of a row after end_row() of `ended`. Errors as for insert_row().
Slot replace_row(Table* table, Relation relation, Slot ended, const rows::Cell* cells, CommandId command);

/// Called after the transaction that has ended the version. Does not raise.
void note_ended(Table* table, Slot slot) noexcept;

/// Frees the versions of the whole table that nobody can see any more, and freezes those that everybody sees. Returns
/// the number of freed slots.
uint64_t sweep(Table* table, Relation relation);
uint64_t sweep_slots(Table* table, Slot first, uint32_t count, GlobalVisState* horizon);

}  // namespace strom::pg::store
