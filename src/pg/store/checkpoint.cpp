#include "pg/store/checkpoint.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/store/redo.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/table_lock.hpp"
#include "pg/store/turns.hpp"
#include "pg/store/visibility.hpp"
#include "store/log/base_file.hpp"
#include "store/rows/row_image.hpp"

namespace strom::pg::store {

namespace {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;

LOCKTAG checkpoint_lock(const Table* table) {
  return tag_of(TableLock::kCheckpoint, table->shared->database, table->shared->relation);
}

/// The point in time of the checkpoint: `snapshot` sees the changes before `position`, except those that were undone.
struct Point {
  uint64_t position;
  Snapshot snapshot;
  uint64_t next_xid;  // the first transaction id that `snapshot` does not count as ended
};

/// Flushes the server's WAL past the transactions that `snapshot` counts as ended. Then a crash can neither undo them
/// nor reuse their ids, and the file's rows are valid. A crash may reuse the ids of transactions that still run.
/// May ereport.
uint64_t flush_ended(Snapshot snapshot) {
  const FullTransactionId next = ReadNextFullTransactionId();
  XLogBeginInsert();
  XLogFlush(XLogInsert(RM_XLOG_ID, XLOG_NOOP));
  return U64FromFullTransactionId(next) - (XidFromFullTransactionId(next) - snapshot->xmax);
}

/// May ereport.
Point take_point(Table* table) {
  Point point;
  // The worker has other tables to look after.
  constexpr int kTries = 3;
  if (!take_lock_alone(table, kGate, while_writing != nullptr ? kTries : kAnyTries))
    ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                    errmsg("a commit has been waiting for something else too long for a checkpoint")));
  point.position = table->shared->log.appended;
  point.snapshot = RegisterSnapshot(GetLatestSnapshot());
  LWLockRelease(table->lock(kGate));
  point.next_xid = flush_ended(point.snapshot);
  // Changes of this transaction itself are not committed yet either.
  point.snapshot->curcid = FirstCommandId;
  return point;
}

/// Writes rows to the base file, chunk by chunk. Throws.
class RowWriter {
 public:
  RowWriter(Table* table, log::BaseWriter* writer, const Point& point, OwnRows own)
      : table_(table), writer_(writer), snapshot_(point.snapshot), own_(own), cells_(table->columns.size()) {
    if (own == OwnRows::kInDoubt) xid_ = U64FromFullTransactionId(guard([] { return GetTopFullTransactionId(); }));
  }

  void write_all() {
    const uint32_t used = table_->rows->used_slots();
    for (uint64_t chunk = 0; table_->rows->used_in(chunk, used) != 0; ++chunk) {
      boundary::check_for_interrupts();
      if (while_writing != nullptr) while_writing();
      write_chunk(chunk, table_->rows->used_in(chunk, used));
    }
  }

 private:
  void write_chunk(uint64_t chunk, uint32_t count) {
    constexpr uint32_t kBits = 64;
    const Table* table = table_;
    uint64_t* bits = bits_;
    Snapshot snapshot = snapshot_;
    const uint32_t seen = guard([=] { return visible_bits(table, chunk, count, snapshot, bits); });
    if (seen == 0 && own_ == OwnRows::kNone) return;
    for (uint32_t i = 0; i < count; ++i) {
      const auto slot = static_cast<Slot>(chunk * table->layout.chunk_rows + i);
      const bool is_seen = (bits[i / kBits] >> (i % kBits) & 1) != 0;
      if (is_seen || own_ == OwnRows::kInDoubt) write_slot(slot, is_seen);
    }
  }

  void write_slot(Slot slot, bool is_seen) {
    log::BaseRow row{slot};
    if (own_ == OwnRows::kInDoubt) {
      const rows::Xids xids = own_xids(slot);
      const bool is_ended = is_own(xids.xmax);
      if (!is_seen && (!is_own(xids.xmin) || is_ended)) return;
      if (!is_seen) row.xmin = xid_;
      if (is_seen && is_ended) row.xmax = xid_;
    }
    for (uint32_t i = 0; i < cells_.size(); ++i) cells_[i] = table_->rows->read(slot, i);
    image_.clear();
    rows::append_row(table_->shape, cells_, &image_);
    throw_if_failed(writer_->add(row, image_));
  }

  /// The ids of a version, if this transaction may have changed it. Its block has open changes then.
  rows::Xids own_xids(Slot slot) const {
    const rows::Rows& rows = *table_->rows;
    if (rows::Rows::stamp_of(rows.block_of(slot)).open == 0) return {rows::kNobody, rows::kNobody};
    const Table* table = table_;
    return guard([&rows, slot, table] {
      share_lock(table, kVersionLock);
      const rows::Xids xids = rows::Rows::xids(rows.look(slot));
      LWLockRelease(table->lock(kVersionLock));
      return xids;
    });
  }

  static bool is_own(TransactionId xid) {
    return xid != rows::kNobody && xid != rows::kFrozen && TransactionIdIsCurrentTransactionId(xid);
  }

  Table* table_;
  log::BaseWriter* writer_;
  Snapshot snapshot_;
  OwnRows own_;
  uint64_t xid_ = 0;
  std::vector<rows::Cell> cells_;
  std::string image_;
  uint64_t bits_[rows::kChunkRows / 64];
};

void write_base(Table* table, OwnRows own, XLogRecPtr wal) {
  const Point point = guard([table] { return take_point(table); });
  log::BaseHeader header;
  header.identity = {table->shared->store_id, GetSystemIdentifier(), table->shared->database, table->shared->relation};
  header.shape = table->shape;
  header.position = point.position;
  header.next_xid = point.next_xid;
  auto writer = value_or_throw(log::BaseWriter::begin(table->options.base_file, header));
  const auto rows = std::make_unique<RowWriter>(table, &writer, point, own);
  rows->write_all();
  // No other transaction may get this transaction's id once the id is in the file.
  if (own == OwnRows::kInDoubt) guard([wal] { XLogFlush(wal); });
  throw_if_failed(writer.finish(enableFsync));
  // The table's creation may have been taken back, and the file before this one removed.
  if (table->is_dropped()) unlink(table->options.base_file.c_str());
  guard([&point] { UnregisterSnapshot(point.snapshot); });
  const uint64_t position = point.position;
  guard([table, position, own] {
    LogState& state = table->shared->log;
    LWLockAcquire(table->lock(kFlushLock), LW_EXCLUSIVE);
    __atomic_store_n(&state.base, position, __ATOMIC_RELEASE);
    __atomic_store_n(&state.has_ids, own == OwnRows::kInDoubt ? 1U : 0U, __ATOMIC_RELEASE);
    // What was written behind the position may still be lost: only a checkpoint that holds it all makes up for that.
    if (state.written <= position) state.failed = 0;
    state.written = std::max(state.written, position);
    __atomic_store_n(&state.durable, std::max(state.durable, position), __ATOMIC_RELEASE);
    LWLockRelease(table->lock(kFlushLock));
  });
}

}  // namespace

void (*while_writing)() = nullptr;

bool try_checkpoint(Table* table) {
  const LOCKTAG tag = checkpoint_lock(table);
  if (LockAcquire(&tag, ExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL) return false;
  // The worker's look at the state was before it had the lock.
  const bool is_there = !table->is_dropped();
  if (is_there) boundary::entry([=] { write_base(table, OwnRows::kNone, 0); });
  LockRelease(&tag, ExclusiveLock, false);
  return is_there;
}

void bar_checkpoints(Oid relid) {
  const LOCKTAG tag = tag_of(TableLock::kCheckpoint, MyDatabaseId, relid);
  LockAcquire(&tag, ExclusiveLock, false, false);
}

bool wait_for_checkpoint(const Table* table) {
  const LOCKTAG tag = checkpoint_lock(table);
  const bool is_free = LockAcquire(&tag, ShareLock, false, true) != LOCKACQUIRE_NOT_AVAIL;
  if (!is_free) LockAcquire(&tag, ShareLock, false, false);
  LockRelease(&tag, ShareLock, false);
  return !is_free;
}

void checkpoint(Table* table, OwnRows own, XLogRecPtr wal) {
  const LOCKTAG tag = checkpoint_lock(table);
  LockAcquire(&tag, ExclusiveLock, false, false);
  boundary::entry([=] { write_base(table, own, wal); });
  // The next checkpoint would not see rows in doubt, so the lock is kept until this transaction ends.
  if (own == OwnRows::kNone) LockRelease(&tag, ExclusiveLock, false);
}

bool is_too_much_for_ring(const Table* table, uint64_t bytes) { return bytes > table->redo.ring_bytes() / 4; }

void make_room_in_ring(Table* table, uint64_t bytes) {
  if (reserve_in_ring(table, bytes)) return;
  const LOCKTAG tag = checkpoint_lock(table);
  LockAcquire(&tag, ExclusiveLock, false, false);
  // Another session may have made room while this session waited.
  while (!reserve_in_ring(table, bytes)) {
    CHECK_FOR_INTERRUPTS();
    // A checkpoint makes no room of what other commits have reserved. They append it without waiting for this lock.
    constexpr long kPauseUs = 1000;
    if (__atomic_load_n(&table->shared->log.reserved, __ATOMIC_ACQUIRE) + bytes > table->redo.ring_bytes())
      pg_usleep(kPauseUs);
    else
      boundary::entry([table] { write_base(table, OwnRows::kNone, 0); });
  }
  LockRelease(&tag, ExclusiveLock, false);
}

}  // namespace strom::pg::store
