// Row locks of SELECT … FOR UPDATE and FOR SHARE. They are in PostgreSQL's own lock table, so waits, deadlocks, NOWAIT,
// savepoints and the end of a transaction work as for all locks. A bit of the version (kRowLocked) says that somebody
// may hold such a lock. Writers look into the lock table only if it is set. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// A version as a row id of PostgreSQL.
inline ItemPointerData tid_of_version(Slot slot) {
  constexpr uint32_t kOffsetBits = 8;
  ItemPointerData tid;
  ItemPointerSet(&tid, slot >> kOffsetBits, static_cast<OffsetNumber>((slot & ((1U << kOffsetBits) - 1)) + 1));
  return tid;
}

/// Locks a version until the transaction ends. False: another transaction holds the lock, and `policy` says not to
/// wait.
bool take_row_lock(Relation relation, Slot slot, bool is_exclusive, LockWaitPolicy policy);
void release_row_lock(Relation relation, Slot slot, bool is_exclusive);

/// The result of locking a row.
struct LockOutcome {
  Slot version;   // the newest version, now locked; kNoSlot: there is none, or the row is to be skipped
  bool is_newer;  // it is newer than the requested version
};

/// Locks a row that the statement's snapshot sees as version `slot`. READ COMMITTED follows the row to newer versions.
/// Errors: 40001, 40P01, and 55P03 for LockWaitError.
LockOutcome lock_row(Table* table, Relation relation, Slot slot, bool is_exclusive, LockWaitPolicy policy);

}  // namespace strom::pg::store
