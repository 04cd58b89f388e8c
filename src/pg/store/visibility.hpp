// Which versions of rows a snapshot sees. The rules are those of heap tables: transaction ids and the server's record
// of commits. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// rows::Version::aux. The bits say that the version's transactions have committed, so that nobody has to ask again.
/// The rest is, in this order of time: the number of the command that made the version; the number of the command that
/// ended it; and, when that has committed, the slot of the following version, or kNoSlot.
inline constexpr uint32_t kXminCommitted = 1U << 31;
inline constexpr uint32_t kXmaxCommitted = 1U << 30;
inline constexpr uint32_t kRowLocked = 1U << 29;  // somebody may hold a lock on the row: see row_lock.hpp
inline constexpr uint32_t kAuxMask = kRowLocked - 1;

/// Changes rows::Version::aux to what `changed` makes of it, and returns what it was. Others may set bits meanwhile: a
/// transaction that has just committed sets kXminCommitted, and whoever locks the row kRowLocked.
template <class F>
uint32_t change_aux(rows::Version& version, F changed) {
  uint32_t before = __atomic_load_n(&version.aux, __ATOMIC_ACQUIRE);
  while (
      !__atomic_compare_exchange_n(&version.aux, &before, changed(before), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
  }
  return before;
}

/// The state of a transaction.
enum class Fate : uint8_t { kOwn, kRunning, kCommitted, kAborted };
Fate fate_of(TransactionId xid);
/// The state of the transaction that made a version, which must not be free.
Fate fate_of_xmin(const rows::Version& version, rows::Xids xids);

/// The caller holds a lock as for rows::Rows::look().
bool is_visible(const Table* table, Slot slot, Snapshot snapshot);

/// Sets a bit for each of the first `count` slots of a chunk, least significant first: whether `snapshot` sees it.
/// `bits` has room in whole words. Returns the number of visible slots.
uint32_t visible_bits(const Table* table, uint64_t chunk, uint32_t count, Snapshot snapshot, uint64_t* bits);

/// True if nobody can see the version any more and its transactions are finished, so that its slot may be used again.
bool is_removable(const rows::Version& version, GlobalVisState* horizon);
/// True if everybody sees that the version, in which `xids` were read, was made.
bool is_freezable(const rows::Version& version, rows::Xids xids, GlobalVisState* horizon);

}  // namespace strom::pg::store
