#include "pg/store/turns.hpp"

#include "pg/store/server_headers.hpp"

namespace strom::pg::store {

namespace {

LWLock* turn_lock(const Table* table, int which) { return table->lock(which == kGate ? kGateTurn : kVersionTurn); }

uint32_t* wanted(const Table* table, int which) { return &table->shared->wanted[which == kGate ? 0 : 1]; }

}  // namespace

void share_lock(const Table* table, int which) {
  if (__atomic_load_n(wanted(table, which), __ATOMIC_RELAXED) != 0) {
    LWLockAcquire(turn_lock(table, which), LW_SHARED);
    LWLockRelease(turn_lock(table, which));
  }
  LWLockAcquire(table->lock(which), LW_SHARED);
}

void take_lock_alone(const Table* table, int which) {
  constexpr int kPatienceMs = 30;
  constexpr long kPauseUs = 1000;
  for (int i = 0; i < kPatienceMs; ++i) {
    if (LWLockConditionalAcquire(table->lock(which), LW_EXCLUSIVE)) return;
    pg_usleep(kPauseUs);
  }
  // Whoever holds an LWLock is not interrupted, so the word does not stay.
  LWLockAcquire(turn_lock(table, which), LW_EXCLUSIVE);
  __atomic_store_n(wanted(table, which), 1U, __ATOMIC_RELEASE);
  LWLockAcquire(table->lock(which), LW_EXCLUSIVE);
  __atomic_store_n(wanted(table, which), 0U, __ATOMIC_RELEASE);
  LWLockRelease(turn_lock(table, which));
}

}  // namespace strom::pg::store
