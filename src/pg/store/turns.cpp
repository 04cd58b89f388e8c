#include "pg/store/turns.hpp"

#include "pg/store/server_headers.hpp"

namespace strom::pg::store {

namespace {

LWLock* turn_lock(const Table* table, int which) { return table->lock(which == kGate ? kGateTurn : kVersionTurn); }

uint32_t* wanted(const Table* table, int which) { return &table->shared->wanted[which == kGate ? 0 : 1]; }

/// Tries for about so many milliseconds.
bool try_for(LWLock* lock, int patience_ms) {
  constexpr long kPauseUs = 1000;
  for (int i = 0; i < patience_ms; ++i) {
    if (LWLockConditionalAcquire(lock, LW_EXCLUSIVE)) return true;
    pg_usleep(kPauseUs);
  }
  return false;
}

/// Waits for some time, in the end with others waiting.
bool try_lock_alone(const Table* table, int which) {
  constexpr int kPatienceMs = 30, kTurnMs = 500;
  if (try_for(table->lock(which), kPatienceMs)) return true;
  // Whoever holds an LWLock is not interrupted, so the word does not stay.
  LWLockAcquire(turn_lock(table, which), LW_EXCLUSIVE);
  __atomic_store_n(wanted(table, which), 1U, __ATOMIC_RELEASE);
  const bool is_taken = try_for(table->lock(which), kTurnMs);
  __atomic_store_n(wanted(table, which), 0U, __ATOMIC_RELEASE);
  LWLockRelease(turn_lock(table, which));
  return is_taken;
}

}  // namespace

void share_lock(const Table* table, int which) {
  if (__atomic_load_n(wanted(table, which), __ATOMIC_RELAXED) != 0) {
    LWLockAcquire(turn_lock(table, which), LW_SHARED);
    LWLockRelease(turn_lock(table, which));
  }
  LWLockAcquire(table->lock(which), LW_SHARED);
}

bool take_lock_alone(const Table* table, int which, int tries) {
  constexpr int kPauses = 10;
  constexpr long kPauseUs = 100'000;
  for (int i = 1; !try_lock_alone(table, which); ++i) {
    if (i == tries) return false;
    for (int pause = 0; pause < kPauses; ++pause) {
      CHECK_FOR_INTERRUPTS();
      pg_usleep(kPauseUs);
    }
  }
  return true;
}

}  // namespace strom::pg::store
