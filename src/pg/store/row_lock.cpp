#include "pg/store/row_lock.hpp"

#include "pg/compat/conditional_lock.hpp"
#include "pg/store/freeze.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/visibility.hpp"

namespace strom::pg::store {

namespace {

LOCKMODE mode_of(bool is_exclusive) { return is_exclusive ? ExclusiveLock : ShareLock; }

void raise_not_available(Relation relation) {
  ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                  errmsg("could not obtain lock on row in relation \"%s\"", RelationGetRelationName(relation))));
}

/// True if this transaction may have locked rows.
bool locks_rows = false;

/// After a restart of the server nothing would say that a prepared transaction has locked rows.
void on_transaction(XactEvent event, void*) {
  if (event == XACT_EVENT_PRE_PREPARE && locks_rows)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot PREPARE a transaction that has locked rows of store tables")));
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT) locks_rows = false;
}

void note_locks() {
  static bool is_registered = false;
  if (!is_registered) RegisterXactCallback(on_transaction, nullptr);
  is_registered = locks_rows = true;
}

/// The state of a version that a session wants to lock.
struct Found {
  TransactionId wait;  // a transaction whose end decides about the version
  bool is_own;         // this transaction has made or ended it
  bool is_ended;       // by this transaction or by a committed one
  Slot follower;
};

/// Sets the bit. The caller holds `lock`, the bucket's lock.
void mark_locked(Table* table, Slot slot, LWLock* lock) {
  boundary::RaisableError error;
  table->rows->begin_change(slot, rows::kNobody);
  const bool is_there = hold_page(table, slot, &error);
  if (is_there) __atomic_fetch_or(&table->rows->version(slot).aux, kRowLocked, __ATOMIC_ACQ_REL);
  table->rows->finish_change(slot);
  if (is_there) return;
  LWLockRelease(lock);
  boundary::raise(error);
}

/// Takes the bucket's lock, so that no writer interferes. Sets the bit that makes writers check for row locks.
Found look_at(Table* table, Slot slot) {
  LWLock* lock = table->lock_of_version(slot);
  LWLockAcquire(lock, LW_EXCLUSIVE);
  const rows::Version& version = table->rows->look(slot);
  const rows::Xids xids = rows::Rows::xids(version);
  const uint32_t aux = __atomic_load_n(&version.aux, __ATOMIC_ACQUIRE);
  Found found{InvalidTransactionId, false, false, rows::kNoSlot};
  if (xids.xmax == rows::kNobody) {
    found.is_own = fate_of_xmin(version, xids) == Fate::kOwn;
    if ((aux & kRowLocked) == 0) mark_locked(table, slot, lock);
  } else if ((aux & kXmaxCommitted) != 0) {
    found.is_ended = true;
    found.follower = aux & kAuxMask;
  } else if (TransactionIdIsCurrentTransactionId(xids.xmax)) {
    found.is_ended = found.is_own = true;
  } else {
    found.wait = xids.xmax;
  }
  LWLockRelease(lock);
  return found;
}

/// Waits for a transaction as the policy says. False: the row is to be skipped.
bool wait_for(TransactionId xid, Relation relation, Slot slot, LockWaitPolicy policy) {
  if (policy == LockWaitBlock) {
    ItemPointerData tid = tid_of_version(slot);
    XactLockTableWait(xid, relation, &tid, XLTW_Lock);
    return true;
  }
  if (compat::has_transaction_ended(xid)) return true;
  if (policy == LockWaitError) raise_not_available(relation);
  return false;
}

}  // namespace

bool take_row_lock(Relation relation, Slot slot, bool is_exclusive, LockWaitPolicy policy) {
  ItemPointerData tid = tid_of_version(slot);
  const LOCKMODE mode = mode_of(is_exclusive);
  if (policy == LockWaitBlock) {
    LockTuple(relation, &tid, mode);
    return true;
  }
  if (compat::try_lock_tuple(relation, &tid, mode)) return true;
  if (policy == LockWaitError) raise_not_available(relation);
  return false;
}

void release_row_lock(Relation relation, Slot slot, bool is_exclusive) {
  ItemPointerData tid = tid_of_version(slot);
  UnlockTuple(relation, &tid, mode_of(is_exclusive));
}

LockOutcome lock_row(Table* table, Relation relation, Slot slot, bool is_exclusive, LockWaitPolicy policy) {
  constexpr LockOutcome kNone{rows::kNoSlot, false};
  note_locks();
  for (bool is_newer = false;; is_newer = true) {
    // The bit is set first. A writer that has not seen it has set xmax before, and the second look finds that.
    Found found = look_at(table, slot);
    if (found.is_own) return found.is_ended ? kNone : LockOutcome{slot, is_newer};
    bool is_locked = false;
    while (!found.is_ended) {
      if (!is_locked && !take_row_lock(relation, slot, is_exclusive, policy)) return kNone;
      is_locked = true;
      found = look_at(table, slot);
      if (!found.is_ended && !TransactionIdIsValid(found.wait)) return {slot, is_newer};
      if (TransactionIdIsValid(found.wait) && !wait_for(found.wait, relation, slot, policy)) {
        release_row_lock(relation, slot, is_exclusive);
        return kNone;
      }
    }
    if (is_locked) release_row_lock(relation, slot, is_exclusive);
    if (IsolationUsesXactSnapshot())
      ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                      errmsg(found.follower != rows::kNoSlot ? "could not serialize access due to concurrent update"
                                                             : "could not serialize access due to concurrent delete")));
    if (found.follower == rows::kNoSlot) return kNone;
    slot = found.follower;
  }
}

}  // namespace strom::pg::store
