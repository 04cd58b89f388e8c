#include "pg/store/visibility.hpp"

#include <algorithm>

#include "base/ones.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/transaction.hpp"
#include "pg/store/turns.hpp"

namespace strom::pg::store {

namespace {

uint32_t aux_of(const rows::Version& version) { return __atomic_load_n(&version.aux, __ATOMIC_ACQUIRE); }

/// The number of this transaction's command that made the version.
CommandId made_by(const Table* table, Slot slot, uint32_t aux, bool is_ended_by_us) {
  CommandId command;
  if (is_ended_by_us && find_first_command(table, slot, &command)) return command;
  return aux & kAuxMask;
}

enum class Quick : uint8_t { kSeen, kUnseen, kUnknown };

/// Decides by the bits of a version whose transactions ended before the snapshot's oldest running one; these are most
/// versions. Asking PostgreSQL for each version would take longer than the rest of a scan.
Quick quick_look(const rows::Version& version, Snapshot snapshot) {
  const rows::Xids xids = rows::Rows::xids(version);
  if (xids.xmin == rows::kNobody) return Quick::kUnseen;
  if (xids.xmin == rows::kFrozen && xids.xmax == rows::kNobody) return Quick::kSeen;
  const auto is_old = [snapshot](TransactionId xid) { return static_cast<int32>(xid - snapshot->xmin) < 0; };
  const uint32_t aux = aux_of(version);
  // Otherwise the slot, and so the bits, may belong to another version.
  if (rows::Rows::xids(version) != xids) return Quick::kUnknown;
  const bool is_made = xids.xmin == rows::kFrozen || ((aux & kXminCommitted) != 0 && is_old(xids.xmin));
  if (xids.xmax == rows::kNobody) return is_made ? Quick::kSeen : Quick::kUnknown;
  return (aux & kXmaxCommitted) != 0 && is_old(xids.xmax) ? Quick::kUnseen : Quick::kUnknown;
}

/// Decides for a version that is neither free nor settled.
bool is_seen(const Table* table, Slot slot, rows::Xids xids, uint32_t aux, Snapshot snapshot) {
  const bool may_be_own_end = xids.xmax != rows::kNobody && (aux & kXmaxCommitted) == 0;
  const bool is_own_end = may_be_own_end && TransactionIdIsCurrentTransactionId(xids.xmax);
  if (xids.xmin != rows::kFrozen) {
    if ((aux & kXminCommitted) == 0 && TransactionIdIsCurrentTransactionId(xids.xmin)) {
      if (made_by(table, slot, aux, is_own_end) >= snapshot->curcid) return false;
    } else {
      if (XidInMVCCSnapshot(xids.xmin, snapshot)) return false;
      if ((aux & kXminCommitted) == 0 && !TransactionIdDidCommit(xids.xmin)) return false;
    }
  }
  if (xids.xmax == rows::kNobody) return true;
  if (is_own_end) return (aux & kAuxMask) >= snapshot->curcid;
  if (XidInMVCCSnapshot(xids.xmax, snapshot)) return true;
  return (aux & kXmaxCommitted) == 0 && !TransactionIdDidCommit(xids.xmax);
}

}  // namespace

Fate fate_of(TransactionId xid) {
  if (TransactionIdIsCurrentTransactionId(xid)) return Fate::kOwn;
  if (TransactionIdIsInProgress(xid)) return Fate::kRunning;
  return TransactionIdDidCommit(xid) ? Fate::kCommitted : Fate::kAborted;
}

Fate fate_of_xmin(const rows::Version& version, rows::Xids xids) {
  if (xids.xmin == rows::kFrozen || (aux_of(version) & kXminCommitted) != 0) return Fate::kCommitted;
  return fate_of(xids.xmin);
}

bool is_visible(const Table* table, Slot slot, Snapshot snapshot) {
  const rows::Version& version = table->rows->look(slot);
  for (;;) {
    const rows::Xids xids = rows::Rows::xids(version);
    if (xids.xmin == rows::kNobody) return false;
    if (xids.xmin == rows::kFrozen && xids.xmax == rows::kNobody) return true;
    const uint32_t aux = aux_of(version);
    // Otherwise the bits may be those of another end, or of another version in the slot.
    if (rows::Rows::xids(version) == xids) return is_seen(table, slot, xids, aux, snapshot);
  }
}

/// The visible versions of a block, found by looking at each version. The caller holds the lock of versions.
static uint64_t look_at_versions(const Table* table, Slot first, uint32_t count, Snapshot snapshot) {
  uint64_t word = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const Quick quick = quick_look(table->rows->look(first + i), snapshot);
    const bool is_seen = quick == Quick::kUnknown ? is_visible(table, first + i, snapshot) : quick == Quick::kSeen;
    word |= uint64_t{is_seen} << i;
  }
  return word;
}

uint32_t visible_bits(const Table* table, uint64_t chunk, uint32_t count, Snapshot snapshot, uint64_t* bits) {
  const rows::Block* blocks = table->rows->blocks_of(chunk);
  const Slot first = static_cast<Slot>(chunk * table->layout.chunk_rows);
  constexpr uint64_t kAllRows = ~uint64_t{0};
  uint32_t seen = 0;
  bool is_locked = false;
  for (uint32_t begin = 0; begin < count; begin += rows::kBlockRows) {
    const rows::Block& block = blocks[begin / rows::kBlockRows];
    const uint32_t end = std::min(rows::kBlockRows, count - begin);
    uint64_t word = 0;
    if (rows::Rows::read_live(block, snapshot->xmin, &word)) {
      // Slots that came into use meanwhile are for later snapshots.
      if (end < rows::kBlockRows) word &= (uint64_t{1} << end) - 1;
    } else {
      if (!is_locked) share_lock(table, kVersionLock);
      is_locked = true;
      word = look_at_versions(table, first + begin, end, snapshot);
    }
    bits[begin / rows::kBlockRows] = word;
    seen += word == kAllRows ? rows::kBlockRows : base::count_ones(word);
  }
  if (is_locked) LWLockRelease(table->lock(kVersionLock));
  return seen;
}

bool is_removable(const rows::Version& version, GlobalVisState* horizon) {
  const rows::Xids xids = rows::Rows::xids(version);
  const uint32_t aux = aux_of(version);
  if (xids.xmin == rows::kNobody || xids.xmax == rows::kNobody || (aux & kXmaxCommitted) == 0) return false;
  if (xids.xmin != rows::kFrozen && (aux & kXminCommitted) == 0) return false;
  return GlobalVisTestIsRemovableXid(horizon, xids.xmax);
}

bool is_freezable(const rows::Version& version, rows::Xids xids, GlobalVisState* horizon) {
  if (xids.xmin == rows::kNobody || xids.xmin == rows::kFrozen || (aux_of(version) & kXminCommitted) == 0) return false;
  // Else the slot may be another version's, and so may the bit.
  return rows::Rows::xids(version) == xids && GlobalVisTestIsRemovableXid(horizon, xids.xmin);
}

}  // namespace strom::pg::store
