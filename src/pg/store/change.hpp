// Rows of a store table: found by key, made, ended. What a transaction may do to a row that another one is changing is
// decided here. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// What became of an attempt to end a version.
enum class EndResult : uint8_t {
  kDone,
  kOwn,      // this transaction has ended it already
  kUpdated,  // another one has, and made the version `follower`
  kDeleted,  // another one has
};

struct EndOutcome {
  EndResult result;
  Slot follower;      // of kUpdated
  CommandId command;  // of kOwn: the number of the command that ended it
};

/// The version with this key that `snapshot` sees; kNoSlot: none.
Slot find_by_key(const Table* table, const rows::Cell& key, Snapshot snapshot);

/// Whether a row with this key is there for writers: 23505 would follow. Waits for transactions that may take it back.
Slot find_live_key(const Table* table, Relation relation, const rows::Cell& key);

/// Asks for the memory of the index that a row with each of these keys needs, so that insert_row() does not wait for
/// it.
void fetch_index(const Table* table, const rows::Cell* keys, int count);
/// The same, and for that of the rows themselves, which are going to be changed. At most kFetchedTogether keys.
inline constexpr int kFetchedTogether = 64;
void fetch_rows(const Table* table, const rows::Cell* keys, int count);

/// Makes a row. Errors: 23505, unless `skips_duplicates`, when the result is kNoSlot; 53400 (the table is full), 53200.
Slot insert_row(Table* table, Relation relation, const rows::Cell* cells, CommandId command, bool skips_duplicates);

/// Ends a version that the caller's snapshot sees, or that follows such a one. Waits for other transactions. With
/// kDone, the caller calls replace_row() or finish_delete() next.
EndOutcome end_row(Table* table, Relation relation, Slot slot, CommandId command);

/// The new version of a row, after end_row() of `ended`. Errors as of insert_row().
Slot replace_row(Table* table, Relation relation, Slot ended, const rows::Cell* cells, CommandId command);

/// After a transaction that has ended the version. Does not raise.
void note_ended(Table* table, Slot slot) noexcept;

/// Frees what nobody can see any more in the whole table, and marks what everybody sees. Returns how many slots were
/// freed.
uint64_t sweep(Table* table, Relation relation);

}  // namespace strom::pg::store
