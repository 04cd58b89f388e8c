// Locks of SELECT … FOR UPDATE and FOR SHARE. They are in PostgreSQL's own table of locks, so that waits, deadlocks,
// NOWAIT, savepoints and the end of a transaction are as everywhere. A bit of the version (kRowLocked) says that
// somebody may hold one: other rows are changed without a look at that table. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Versions as PostgreSQL names rows.
inline ItemPointerData tid_of_version(Slot slot) {
  constexpr uint32_t kOffsetBits = 8;
  ItemPointerData tid;
  ItemPointerSet(&tid, slot >> kOffsetBits, static_cast<OffsetNumber>((slot & ((1U << kOffsetBits) - 1)) + 1));
  return tid;
}

/// A lock of a version, until the transaction ends. False: it is another's, and `policy` says not to wait for it.
bool take_row_lock(Relation relation, Slot slot, bool is_exclusive, LockWaitPolicy policy);
void release_row_lock(Relation relation, Slot slot, bool is_exclusive);

/// What became of an attempt to lock a row.
struct LockOutcome {
  Slot version;   // the newest one, which is locked now; kNoSlot: there is none, or it is to be skipped
  bool is_newer;  // than the one that was asked for
};

/// Locks a row that the statement's snapshot sees as version `slot`. READ COMMITTED goes on to newer versions.
/// Errors: 40001, 40P01, and 55P03 for LockWaitError.
LockOutcome lock_row(Table* table, Relation relation, Slot slot, bool is_exclusive, LockWaitPolicy policy);

}  // namespace strom::pg::store
