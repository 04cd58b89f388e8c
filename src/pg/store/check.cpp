#include "pg/store/check.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/store/published.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/transaction.hpp"
#include "pg/store/turns.hpp"
#include "pg/store/visibility.hpp"
#include "store/log/base_file.hpp"

namespace strom::pg::store {

namespace {

[[noreturn]] void raise_wrong(const Table* table, const char* what, uint64_t where) {
  ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("store table \"%s\" is damaged", table->name),
                  errdetail("%s %lu.", what, where)));
  pg_unreachable();
}

/// Checks that chains have only versions of their own buckets, and that they end.
uint64_t check_chains(const Table* table) {
  const rows::Rows& rows = *table->rows;
  uint64_t linked = 0;
  for (uint64_t bucket = 0; bucket < table->layout.bucket_count; ++bucket) {
    constexpr uint64_t kOften = 0xFFF;
    if ((bucket & kOften) == 0) CHECK_FOR_INTERRUPTS();
    LWLock* lock = table->bucket_lock(bucket);
    LWLockAcquire(lock, LW_SHARED);
    uint64_t length = 0;
    for (Slot slot = rows.head(bucket); slot != rows::kNoSlot; slot = rows.next(slot)) {
      if (slot >= rows.used_slots() || ++length > rows.used_slots())
        raise_wrong(table, "A chain of the index leads nowhere: bucket", bucket);
      if (rows::Rows::xids(rows.look(slot)).xmin == rows::kNobody)
        raise_wrong(table, "The index leads to a free slot:", slot);
      if (rows.bucket_of(slot) != bucket) raise_wrong(table, "A version is in a wrong bucket: slot", slot);
    }
    LWLockRelease(lock);
    linked += length;
  }
  return linked;
}

/// Checks that the index finds each row of the snapshot by its key.
uint64_t check_rows(const Table* table, Snapshot snapshot) {
  const rows::Rows& rows = *table->rows;
  const uint32_t used = rows.used_slots();
  uint64_t seen = 0;
  for (Slot slot = 1; slot < used; ++slot) {
    constexpr Slot kOften = 0xFFF;
    if ((slot & kOften) == 0) CHECK_FOR_INTERRUPTS();
    share_lock(table, kVersionLock);
    const bool is_there = is_visible(table, slot, snapshot);
    LWLockRelease(table->lock(kVersionLock));
    if (!is_there) continue;
    ++seen;
    if (table->key() < 0) continue;
    const uint64_t bucket = rows.bucket_of(slot);
    LWLock* lock = table->bucket_lock(bucket);
    LWLockAcquire(lock, LW_SHARED);
    Slot at = rows.head(bucket);
    while (at != rows::kNoSlot && at != slot) at = rows.next(at);
    LWLockRelease(lock);
    if (at != slot) raise_wrong(table, "The index does not lead to a row: slot", slot);
  }
  return seen;
}

/// Checks the counters of chunks. Only valid while nobody changes the table.
void check_counters(const Table* table) {
  const rows::Rows& rows = *table->rows;
  const uint32_t used = rows.used_slots();
  for (uint64_t chunk = 0; rows.used_in(chunk, used) != 0; ++chunk) {
    const uint32_t before = __atomic_load_n(&rows.info(chunk).settled, __ATOMIC_ACQUIRE);
    uint32_t settled = 0;
    const auto first = static_cast<Slot>(chunk * table->layout.chunk_rows);
    share_lock(table, kVersionLock);
    for (uint32_t i = 0; i < rows.used_in(chunk, used); ++i)
      settled += rows::Rows::xids(rows.look(first + i)) == rows::Xids{rows::kFrozen, rows::kNobody} ? 1 : 0;
    LWLockRelease(table->lock(kVersionLock));
    if (settled != before && __atomic_load_n(&rows.info(chunk).settled, __ATOMIC_ACQUIRE) == before)
      raise_wrong(table, "A chunk does not count its rows: chunk", chunk);
  }
}

/// Checks that blocks mark the versions that nobody has ended. Only valid while nobody changes the table.
void check_blocks(const Table* table) {
  const rows::Rows& rows = *table->rows;
  const uint32_t used = rows.used_slots();
  for (Slot first = 0; first < used; first += rows::kBlockRows) {
    const rows::Block& block = rows.block_of(first);
    const auto own = static_cast<TransactionId>(XidFromFullTransactionId(ReadNextFullTransactionId()));
    uint64_t before, after, expected = 0;
    if (!rows::Rows::read_live(block, own, &before)) continue;
    share_lock(table, kVersionLock);
    for (uint32_t i = 0; i < rows::kBlockRows; ++i) {
      const rows::Xids xids = rows::Rows::xids(rows.look(first + i));
      expected |= uint64_t{xids.xmin != rows::kNobody && xids.xmax == rows::kNobody} << i;
    }
    LWLockRelease(table->lock(kVersionLock));
    if (before != expected && rows::Rows::read_live(block, own, &after) && before == after)
      raise_wrong(table, "A block does not mark its rows: slot", first);
  }
}

/// Checks every block of the base file and every record of the log. `*position` is where the log begins.
Status check_files_once(const Table* table, uint64_t* position) {
  STROM_ASSIGN(const auto base, log::BaseReader::open(table->options.base_file));
  *position = base.header().position;
  STROM_TRY(base.read_rows([](const log::BaseRow&, std::span<const rows::Cell>) {
    boundary::check_for_interrupts();
    return Status::ok();
  }));
  // Before the records are read, since others go on writing.
  const uint64_t written = __atomic_load_n(&table->shared->log.written, __ATOMIC_ACQUIRE);
  uint64_t end = *position;
  const auto replayed = table->redo.replay(*position, [&end](const log::RecordHeader& header, std::string_view) {
    boundary::check_for_interrupts();
    end = header.position + header.bytes;
    return Status::ok();
  });
  // What was written behind the end meanwhile may look like a record that is missing.
  if (end >= written) return Status::ok();
  STROM_TRY(replayed.status());
  return log::damaged(table->options.redo_log_file, end, "records are missing");
}

/// Throws.
void check_files(const Table* table) {
  constexpr int kTries = 10;
  for (int i = 1;; ++i) {
    uint64_t position = 0;
    const Status status = check_files_once(table, &position);
    if (status.is_ok()) return;
    // A checkpoint may have happened meanwhile, so that the ring's bytes are of other records.
    if (i == kTries || __atomic_load_n(&table->shared->log.base, __ATOMIC_ACQUIRE) == position)
      boundary::throw_if_failed(status);
  }
}

}  // namespace

uint64_t check_table(Table* table) {
  if (table->key() >= 0) check_chains(table);
  check_counters(table);
  check_blocks(table);
  const uint64_t rows = check_rows(table, GetActiveSnapshot());
  if (!has_changes(table)) check_region(table);
  boundary::entry([table] { check_files(table); });
  return rows;
}

}  // namespace strom::pg::store
