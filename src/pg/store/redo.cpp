#include "pg/store/redo.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::store {

namespace {

LogState& log_of(const Table* table) { return table->shared->log; }

void refuse_failed_log(const Table* table) {
  if (log_of(table).failed == 0) return;
  ereport(ERROR,
          (errcode(ERRCODE_IO_ERROR), errmsg("the redo log of store table \"%s\" could not be written", table->name),
           errhint("Call pgstrom.store_checkpoint() when the cause has gone.")));
}

/// Writes [begin, end) of the log from the buffer to the file. False: it failed, and `error` says why. Holds plain data
/// only, since the caller may ereport.
bool write_range(Table* table, uint64_t begin, uint64_t end, boundary::RaisableError* error) {
  while (begin < end) {
    const uint64_t at = begin % kLogBuffer, part = std::min(end - begin, kLogBuffer - at);
    const Status status = table->redo.write(begin, table->log_buffer() + at, part);
    if (!status.is_ok()) {
      *error = boundary::describe(status);
      return false;
    }
    begin += part;
  }
  return true;
}

/// The caller holds kFlushLock. Errors are raised once the state is consistent again.
void write_out(Table* table) {
  LogState& state = log_of(table);
  LWLockAcquire(table->lock(kAppendLock), LW_SHARED);
  const uint64_t end = state.appended;
  const XLogRecPtr wal = state.wal;
  LWLockRelease(table->lock(kAppendLock));
  if (end == state.written) return;
  XLogFlush(wal);
  boundary::RaisableError error;
  const bool is_written = write_range(table, state.written, end, &error);
  __atomic_store_n(&state.is_stuck, is_written ? 0U : 1U, __ATOMIC_RELEASE);
  if (!is_written) boundary::raise(error);
  __atomic_store_n(&state.written, end, __ATOMIC_RELEASE);
}

}  // namespace

bool reserve_in_ring(const Table* table, uint64_t bytes) {
  LogState& state = log_of(table);
  // A record is appended first and released after. So in this order nothing is missed, though it may count twice.
  const uint64_t reserved = __atomic_add_fetch(&state.reserved, bytes, __ATOMIC_SEQ_CST);
  const uint64_t base = __atomic_load_n(&state.base, __ATOMIC_SEQ_CST);
  const uint64_t appended = __atomic_load_n(&state.appended, __ATOMIC_SEQ_CST);
  if (appended - base + reserved <= table->redo.ring_bytes()) return true;
  release_in_ring(table, bytes);
  return false;
}

void release_in_ring(const Table* table, uint64_t bytes) noexcept {
  __atomic_sub_fetch(&log_of(table).reserved, bytes, __ATOMIC_SEQ_CST);
}

bool is_stuck(const Table* table) { return __atomic_load_n(&log_of(table).is_stuck, __ATOMIC_ACQUIRE) != 0; }

uint64_t free_in_ring(const Table* table) {
  const LogState& state = log_of(table);
  const uint64_t used =
      __atomic_load_n(&state.appended, __ATOMIC_ACQUIRE) - __atomic_load_n(&state.base, __ATOMIC_ACQUIRE);
  return table->redo.ring_bytes() - std::min(used, table->redo.ring_bytes());
}

static_assert(kLogBuffer > ::strom::store::log::kMaxRecord, "append_record() would wait for room for ever");

uint64_t append_record(Table* table, void* record, uint32_t bytes, XLogRecPtr wal) {
  LogState& state = log_of(table);
  refuse_failed_log(table);
  for (;;) {
    LWLockAcquire(table->lock(kAppendLock), LW_EXCLUSIVE);
    const uint64_t position = state.appended;
    if (position + bytes - state.base > table->redo.ring_bytes()) {
      LWLockRelease(table->lock(kAppendLock));
      ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                      errmsg("the redo log of store table \"%s\" is full", table->name),
                      errdetail("The option \"redo_log_limit\" is %lu bytes.", table->redo.ring_bytes())));
    }
    if (position + bytes - __atomic_load_n(&state.written, __ATOMIC_ACQUIRE) <= kLogBuffer) {
      ::strom::store::log::seal_record(record, position, __atomic_load_n(&state.durable, __ATOMIC_ACQUIRE));
      const auto* from = static_cast<const uint8_t*>(record);
      const uint64_t at = position % kLogBuffer, part = std::min<uint64_t>(bytes, kLogBuffer - at);
      std::memcpy(table->log_buffer() + at, from, part);
      std::memcpy(table->log_buffer(), from + part, bytes - part);
      state.wal = std::max<uint64_t>(state.wal, wal);
      __atomic_store_n(&state.appended, position + bytes, __ATOMIC_RELEASE);
      LWLockRelease(table->lock(kAppendLock));
      return position + bytes;
    }
    LWLockRelease(table->lock(kAppendLock));
    write_redo(table);
  }
}

void write_redo(Table* table) {
  LWLockAcquire(table->lock(kFlushLock), LW_EXCLUSIVE);
  write_out(table);
  LWLockRelease(table->lock(kFlushLock));
}

void flush_redo(Table* table, uint64_t position) {
  LogState& state = log_of(table);
  while (__atomic_load_n(&state.durable, __ATOMIC_ACQUIRE) < position) {
    // The holder of the lock flushes for all waiting sessions, so this one may have nothing left to do.
    if (!LWLockAcquireOrWait(table->lock(kFlushLock), LW_EXCLUSIVE)) continue;
    if (state.durable >= position) {
      LWLockRelease(table->lock(kFlushLock));
      return;
    }
    refuse_failed_log(table);
    write_out(table);
    const uint64_t end = state.written;
    if (enableFsync) {
      boundary::RaisableError error;
      bool failed = false;
      {
        const Status status = table->redo.sync();
        failed = !status.is_ok();
        if (failed) error = boundary::describe(status);
      }
      if (failed) {
        // It is unknown what the device has, and another fsync would not tell.
        state.failed = 1;
        boundary::raise(error);
      }
    }
    __atomic_store_n(&state.durable, end, __ATOMIC_RELEASE);
    LWLockRelease(table->lock(kFlushLock));
  }
}

}  // namespace strom::pg::store
