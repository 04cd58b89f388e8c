#include "pg/store/transaction.hpp"

#include <string>

#include "pg/boundary/boundary.hpp"
#include "pg/store/change.hpp"
#include "pg/store/checkpoint.hpp"
#include "pg/store/files.hpp"
#include "pg/store/published.hpp"
#include "pg/store/redo.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/turns.hpp"
#include "pg/store/visibility.hpp"
#include "pg/store/worker.hpp"
#include "store/rows/row_image.hpp"

namespace strom::pg::store {

namespace {

/// The command that made a version which the same transaction has ended.
struct FirstCommand {
  Slot slot;  // key of the hash table
  CommandId command;
};

/// The number of slots that a transaction with many rows takes at a time.
constexpr uint32_t kMostSpare = 32;

/// The changes of one table. Allocated in TopTransactionContext.
struct Changes {
  Changes* next;
  Table* table;
  Change* list;
  uint64_t count, capacity;
  uint64_t ended_rows;
  uint64_t redo_bytes;   // upper limit
  uint64_t reserved;     // in the ring of the redo log
  HTAB* first_commands;  // of FirstCommand; nullptr: none
  Region* region;        // nullptr: the table has none
  uint64_t* extents;     // for each entry of `list` the extent reserved for its new row; 0: none
  uint64_t next_extent;  // for the next change
  uint64_t most_record;  // size of the largest one, in bytes
  PublishSpace space;
  uint32_t spare_begin, spare_end;
  Slot spare[kMostSpare];  // slots for further rows
  bool is_gated;           // holds kGate
  bool is_in_base;         // its rows are in the base file instead of the log
};

Changes* all_changes = nullptr;

Changes* changes_of(const Table* table) {
  for (Changes* changes = all_changes; changes != nullptr; changes = changes->next)
    if (changes->table == table) return changes;
  return nullptr;
}

/// Marks the slot as free.
void release_slot(Table* table, Slot slot) {
  rows::Rows& rows = *table->rows;
  if (table->key() >= 0) {
    const uint64_t bucket = rows.bucket_of(slot);
    LWLockAcquire(table->bucket_lock(bucket), LW_EXCLUSIVE);
    rows.unlink(bucket, slot);
    rows.set_free(slot);
    LWLockRelease(table->bucket_lock(bucket));
  } else {
    rows.set_free(slot);
  }
  rows.finish_change(slot);
  if (rows.has_heap()) {
    LWLockAcquire(table->lock(kHeapLock), LW_EXCLUSIVE);
    rows.free_values(slot);
    LWLockRelease(table->lock(kHeapLock));
  }
  LWLockAcquire(table->lock(kSlotsLock), LW_EXCLUSIVE);
  rows.give_slot(slot);
  LWLockRelease(table->lock(kSlotsLock));
}

/// Undoes the last change.
void undo_last(Changes* changes) {
  const Change change = changes->list[--changes->count];
  Table* table = changes->table;
  rows::Rows& rows = *table->rows;
  if (change.ended != rows::kNoSlot) {
    rows::Version& version = rows.version(change.ended);
    LWLock* lock = table->lock_of_version(change.ended);
    LWLockAcquire(lock, LW_EXCLUSIVE);
    rows.set_xmax(change.ended, rows::kNobody);
    const uint32_t command = change.aux_before & kAuxMask;
    change_aux(version, [command](uint32_t now) { return (now & ~kAuxMask) | command; });
    rows.finish_change(change.ended);
    LWLockRelease(lock);
    if (changes->first_commands != nullptr) hash_search(changes->first_commands, &change.ended, HASH_REMOVE, nullptr);
    if (change.made == rows::kNoSlot) --changes->ended_rows;
  }
  if (change.made != rows::kNoSlot) {
    release_slot(table, change.made);
    if (change.ended == rows::kNoSlot) __atomic_fetch_sub(&table->shared->row_count, 1, __ATOMIC_ACQ_REL);
  }
  if (changes->region != nullptr && changes->extents[changes->count] != 0)
    release_extent(table, changes->region, changes->extents[changes->count]);
}

/// Releases an extent that was not used because of an error.
void drop_next_extent(Changes* changes) {
  if (changes->next_extent != 0) release_extent(changes->table, changes->region, changes->next_extent);
  changes->next_extent = 0;
}

void give_back_spare(Changes* changes) {
  if (changes->spare_begin == changes->spare_end) return;
  Table* table = changes->table;
  LWLockAcquire(table->lock(kSlotsLock), LW_EXCLUSIVE);
  // In reverse order, so that they are taken in their original order again.
  while (changes->spare_end != changes->spare_begin) table->rows->give_slot(changes->spare[--changes->spare_end]);
  LWLockRelease(table->lock(kSlotsLock));
}

bool is_ended_by_us(const rows::Version& version) {
  const TransactionId xmax = rows::Rows::xids(version).xmax;
  return xmax != rows::kNobody && TransactionIdIsCurrentTransactionId(xmax);
}

/// Prefetches the region's memory for the changes from `begin` on, so that they do not wait for it one by one.
void fetch_in_region(const Changes* changes, uint64_t begin, uint64_t end) {
  const rows::Rows& rows = *changes->table->rows;
  const auto key = static_cast<uint32_t>(changes->table->key());
  const auto for_each_key = [&](auto call) {
    for (uint64_t i = begin; i < end; ++i) {
      const Slot slot = changes->list[i].made;
      if (slot != rows::kNoSlot) call(rows.read(slot, key).view());
    }
  };
  const region::Writer& writer = changes->region->writer;
  for_each_key([&](std::string_view bytes) { writer.fetch_buckets(bytes); });
  for_each_key([&](std::string_view bytes) { writer.fetch_record(bytes); });
}

/// Updates the region that clients read. It runs after setting the bits of versions that this transaction has made, and
/// before those of versions that it has ended, because other transactions may then use their slots. Versions are
/// skipped if this transaction both made and ended them, or if another transaction has ended and published them.
void publish_to_region(Changes* changes) {
  const Table* table = changes->table;
  Region* region = changes->region;
  const rows::Rows& rows = *table->rows;
  region->writer.begin_publish();
  for (uint64_t i = 0; i < changes->count; ++i) {
    constexpr uint64_t kTogether = 64;
    if (i % kTogether == 0 && changes->count > 1) fetch_in_region(changes, i, std::min(changes->count, i + kTogether));
    const Change& change = changes->list[i];
    bool is_last = false;
    if (change.made != rows::kNoSlot) {
      const rows::Version& version = rows.look(change.made);
      is_last = (__atomic_load_n(&version.aux, __ATOMIC_ACQUIRE) & kXmaxCommitted) == 0 && !is_ended_by_us(version);
      if (is_last)
        publish_row(table, region, change.made, changes->extents[i], changes->space);
      else
        release_in_region(region, changes->extents[i]);
    }
    if (change.ended == rows::kNoSlot) continue;
    const rows::Cell key = rows.read(change.ended, static_cast<uint32_t>(table->key()));
    if (!is_last || !rows.has_key(change.made, key)) publish_end(table, region, key);
  }
  region->writer.end_publish();
}

/// Marks changes as finished, together for a block: rows that one statement makes are adjacent.
class FinishedChanges {
 public:
  explicit FinishedChanges(const rows::Rows& rows) : rows_(rows) {}
  FinishedChanges(const FinishedChanges&) = delete;
  FinishedChanges& operator=(const FinishedChanges&) = delete;
  ~FinishedChanges() { tell(); }

  void add(Slot slot) {
    if (slot / rows::kBlockRows != slot_ / rows::kBlockRows) tell();
    slot_ = slot;
    ++count_;
  }

 private:
  void tell() {
    if (count_ != 0) rows_.finish_changes(slot_, count_);
    count_ = 0;
  }

  const rows::Rows& rows_;
  Slot slot_ = rows::kNoSlot;
  uint32_t count_ = 0;
};

/// Sets the bits of the versions that this transaction has made.
void publish_made(const Changes* changes) {
  const rows::Rows& rows = *changes->table->rows;
  FinishedChanges finished(rows);
  for (uint64_t i = 0; i < changes->count; ++i) {
    const Slot made = changes->list[i].made;
    if (made == rows::kNoSlot) continue;
    __atomic_fetch_or(&rows.version(made).aux, kXminCommitted, __ATOMIC_ACQ_REL);
    finished.add(made);
  }
}

/// Publishes what spares other sessions questions: which transactions have committed, and which versions followed.
void publish(Changes* changes) {
  Table* table = changes->table;
  // A transaction that publishes a row afterwards finds these bits set.
  if (changes->region != nullptr) LWLockAcquire(table->lock(kRegionLock), LW_EXCLUSIVE);
  publish_made(changes);
  if (changes->region != nullptr) publish_to_region(changes);
  for (uint64_t i = 0; i < changes->count; ++i) {
    const Change& change = changes->list[i];
    if (change.ended == rows::kNoSlot) continue;
    rows::Version& version = table->rows->version(change.ended);
    const uint32_t ended = kXmaxCommitted | change.made;
    change_aux(version, [ended](uint32_t now) { return (now & (kXminCommitted | kRowLocked)) | ended; });
    table->rows->finish_change(change.ended);
    note_ended(table, change.ended);
  }
  if (changes->region != nullptr) LWLockRelease(table->lock(kRegionLock));
  __atomic_fetch_sub(&table->shared->row_count, changes->ended_rows, __ATOMIC_ACQ_REL);
}

/// Writes a WAL record with the transaction's id.
XLogRecPtr log_transaction_id() {
  XLogBeginInsert();
  return XLogInsert(RM_XLOG_ID, XLOG_NOOP);
}

void release_reserved(Changes* changes, uint64_t bytes) {
  release_in_ring(changes->table, bytes);
  changes->reserved -= bytes;
}

/// Builds the redo of a table's changes. Throws.
class RedoBuilder {
 public:
  /// At most so many bytes are appended for operations of `bytes` bytes.
  static uint64_t most_bytes(uint64_t bytes) {
    constexpr uint64_t kAlign = 8;
    return bytes + (bytes / kEnough + 1) * (sizeof(log::RecordHeader) + kAlign);
  }

  RedoBuilder(Changes* changes, XLogRecPtr wal)
      : changes_(changes),
        table_(changes->table),
        wal_(wal),
        xid_(U64FromFullTransactionId(boundary::guard([] { return GetTopFullTransactionId(); }))),
        cells_(changes->table->shape.columns.size()) {
    log::begin_record(&record_);
  }

  void add(const Change& change) {
    // Not before there is another change: the last record says that it is the last one.
    if (record_.size() >= kEnough) append(false);
    if (change.ended != rows::kNoSlot) log::append_operation(log::Operation::kEnd, change.ended, {}, &record_);
    if (change.made != rows::kNoSlot) {
      table_->rows->read_row(change.made, cells_);
      log::append_operation(log::Operation::kInsert, change.made, {}, &record_);
      rows::append_row(table_->shape, cells_, &record_);
    }
  }

  /// Returns the position behind the last record.
  uint64_t finish() {
    append(true);
    return end_;
  }

 private:
  static constexpr uint64_t kEnough = 256 << 10;

  void append(bool is_last) {
    log::end_record(xid_, is_last, &record_);
    void* bytes = record_.data();
    const auto size = static_cast<uint32_t>(record_.size());
    Table* table = table_;
    const XLogRecPtr wal = wal_;
    end_ = boundary::guard([=] { return append_record(table, bytes, size, wal); });
    release_reserved(changes_, std::min<uint64_t>(size, changes_->reserved));
    log::begin_record(&record_);
  }

  Changes* changes_;
  Table* table_;
  XLogRecPtr wal_;
  uint64_t xid_, end_ = 0;
  std::vector<rows::Cell> cells_;
  std::string record_;
};

void write_redo_of(Changes* changes, XLogRecPtr wal) {
  Table* table = changes->table;
  share_lock(table, kGate);
  changes->is_gated = true;
  const uint64_t end = boundary::entry([=] {
    RedoBuilder builder(changes, wal);
    for (uint64_t i = 0; i < changes->count; ++i) builder.add(changes->list[i]);
    return builder.finish();
  });
  release_reserved(changes, changes->reserved);
  // Also where the commit itself is not waited for (synchronous_commit = off): a later commit of anybody may bring it
  // to the device before the redo, and after a crash other tables would have the transaction and this one would not.
  const bool waits = table->options.durability == Durability::kSync;
  // Without a worker, nobody else would write the redo soon.
  if (waits || is_stuck(table) || !ensure_worker()) flush_redo(table, end);
}

/// The next table in the order of OIDs. The order is fixed, since sessions wait for each other's checkpoints, and at
/// the gates for those that wait for a checkpoint.
Changes* next_changes(Oid after) {
  Changes* next = nullptr;
  for (Changes* changes = all_changes; changes != nullptr; changes = changes->next)
    if (changes->table->relid > after && (next == nullptr || changes->table->relid < next->table->relid))
      next = changes;
  return next;
}

/// Runs before the gate of any table is taken, so that no checkpoint waits for the gate of another one.
void before_commit() {
  bool any = false;
  for (Changes* changes = all_changes; changes != nullptr; changes = changes->next) any = any || changes->count != 0;
  if (!any) return;
  const XLogRecPtr wal = log_transaction_id();
  for (Changes* changes = next_changes(InvalidOid); changes != nullptr; changes = next_changes(changes->table->relid)) {
    if (changes->count == 0) continue;
    if (is_too_much_for_ring(changes->table, changes->redo_bytes)) {
      checkpoint(changes->table, OwnRows::kInDoubt, wal);
      changes->is_in_base = true;
    } else {
      const uint64_t most = RedoBuilder::most_bytes(changes->redo_bytes);
      make_room_in_ring(changes->table, most);
      changes->reserved = most;
    }
  }
  for (Changes* changes = next_changes(InvalidOid); changes != nullptr; changes = next_changes(changes->table->relid))
    if (changes->count != 0 && !changes->is_in_base) write_redo_of(changes, wal);
}

void leave_gate(Changes* changes) {
  LWLock* gate = changes->table->lock(kGate);
  if (changes->is_gated && LWLockHeldByMe(gate)) LWLockRelease(gate);
  changes->is_gated = false;
}

void settle_changes(XactEvent event) {
  if (all_changes == nullptr) return;
  switch (event) {
    case XACT_EVENT_PRE_COMMIT: before_commit(); break;
    case XACT_EVENT_COMMIT:
      for (Changes* changes = all_changes; changes != nullptr; changes = changes->next) {
        drop_next_extent(changes);
        give_back_spare(changes);
        publish(changes);
        leave_gate(changes);
      }
      all_changes = nullptr;
      break;
    case XACT_EVENT_ABORT:
      for (Changes* changes = all_changes; changes != nullptr; changes = changes->next) {
        drop_next_extent(changes);
        while (changes->count != 0) undo_last(changes);
        give_back_spare(changes);
        release_reserved(changes, changes->reserved);
        leave_gate(changes);
      }
      all_changes = nullptr;
      break;
    case XACT_EVENT_PRE_PREPARE:
      ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                      errmsg("cannot PREPARE a transaction that has changed store tables")));
      break;
    default: break;
  }
}

/// Forgets a table without changes. Afterwards the table's region may become another one.
void forget(Changes** link) {
  Changes* changes = *link;
  *link = changes->next;
  drop_next_extent(changes);
  give_back_spare(changes);
  if (changes->first_commands != nullptr) hash_destroy(changes->first_commands);
  for (void* memory : {static_cast<void*>(changes->extents), static_cast<void*>(changes->space.cells),
                       static_cast<void*>(changes->space.record)})
    if (memory != nullptr) pfree(memory);
  pfree(changes->list);
  pfree(changes);
}

void forget_unchanged_tables() {
  for (Changes** link = &all_changes; *link != nullptr;) {
    if ((*link)->count == 0)
      forget(link);
    else
      link = &(*link)->next;
  }
}

void settle_changes_of_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent) {
  for (Changes* changes = all_changes; changes != nullptr; changes = changes->next) {
    if (event == SUBXACT_EVENT_ABORT_SUB)
      while (changes->count != 0 && changes->list[changes->count - 1].subtransaction >= own) undo_last(changes);
    if (event == SUBXACT_EVENT_COMMIT_SUB)
      for (uint64_t i = changes->count; i > 0 && changes->list[i - 1].subtransaction >= own; --i)
        changes->list[i - 1].subtransaction = parent;
  }
  // The subtransaction's locks go next, and other sessions may then make the region anew.
  if (event == SUBXACT_EVENT_ABORT_SUB) forget_unchanged_tables();
}

// Changes come first: they are undone in regions and memory that the others empty. An emptied file would get pages
// again, or the process would end where no memory is left.

void on_transaction(XactEvent event, void*) {
  settle_changes(event);
  settle_regions(event);
  settle_files(event);
}

void on_subtransaction(SubXactEvent event, SubTransactionId own, SubTransactionId parent, void*) {
  settle_changes_of_subtransaction(event, own, parent);
  settle_regions_of_subtransaction(event);
  settle_files_of_subtransaction(event);
}

Changes* begin_changes(Table* table) {
  constexpr uint64_t kFirst = 8;
  watch_transactions();
  // The commit holds the gates of all of them, and PostgreSQL has room for 200 such locks. More would be noticed too
  // late.
  constexpr int kMostTables = 100;
  int count = 0;
  for (Changes* other = all_changes; other != nullptr; other = other->next) ++count;
  if (count >= kMostTables)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a transaction can change at most %d store tables", kMostTables),
                    errhint("Change the others in another transaction.")));
  auto* changes = static_cast<Changes*>(MemoryContextAllocZero(TopTransactionContext, sizeof(Changes)));
  changes->table = table;
  changes->capacity = kFirst;
  changes->list = static_cast<Change*>(MemoryContextAlloc(TopTransactionContext, kFirst * sizeof(Change)));
  changes->region = region_of(table);
  if (changes->region != nullptr) {
    changes->extents = static_cast<uint64_t*>(MemoryContextAlloc(TopTransactionContext, kFirst * sizeof(uint64_t)));
    changes->space.cells =
        static_cast<rows::Cell*>(MemoryContextAlloc(TopTransactionContext, table->columns.size() * sizeof(rows::Cell)));
  }
  changes->next = all_changes;
  all_changes = changes;
  return changes;
}

void note_first_command(Changes* changes, const Change& change) {
  const rows::Version& version = changes->table->rows->version(change.ended);
  if ((change.aux_before & kXminCommitted) != 0 || rows::Rows::xids(version).xmin == rows::kFrozen) return;
  if (changes->first_commands == nullptr) {
    HASHCTL control{};
    control.keysize = sizeof(Slot);
    control.entrysize = sizeof(FirstCommand);
    control.hcxt = TopTransactionContext;
    constexpr long kExpected = 16;
    changes->first_commands = hash_create("versions made and ended by one transaction", kExpected, &control,
                                          HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  }
  auto* entry = static_cast<FirstCommand*>(hash_search(changes->first_commands, &change.ended, HASH_ENTER, nullptr));
  entry->command = change.aux_before & kAuxMask;
}

/// Reserves an extent for the next row, and memory to make its record.
void reserve_record(Changes* changes, uint64_t bytes) {
  drop_next_extent(changes);
  if (bytes == 0) return;
  if (bytes > changes->most_record) {
    constexpr uint64_t kStep = 1024;
    const uint64_t wanted = (bytes / kStep + 1) * kStep;
    void* before = changes->space.record;
    changes->space.record = static_cast<uint64_t*>(before == nullptr ? MemoryContextAlloc(TopTransactionContext, wanted)
                                                                     : repalloc(before, wanted));
    changes->most_record = wanted;
  }
  changes->next_extent = reserve_extent(changes->table, changes->region, bytes);
}

}  // namespace

void watch_transactions() {
  static bool is_registered = false;
  if (is_registered) return;
  is_registered = true;
  RegisterXactCallback(on_transaction, nullptr);
  RegisterSubXactCallback(on_subtransaction, nullptr);
}

void prepare_change(Table* table, uint64_t redo_bytes, uint64_t record_bytes) {
  Changes* changes = changes_of(table);
  if (changes == nullptr) changes = begin_changes(table);
  changes->redo_bytes += redo_bytes;
  if (changes->count == changes->capacity) {
    changes->list = static_cast<Change*>(repalloc_huge(changes->list, changes->capacity * 2 * sizeof(Change)));
    if (changes->region != nullptr)
      changes->extents =
          static_cast<uint64_t*>(repalloc_huge(changes->extents, changes->capacity * 2 * sizeof(uint64_t)));
    changes->capacity *= 2;
  }
  if (changes->region != nullptr) reserve_record(changes, record_bytes);
}

void note_change(Table* table, const Change& change) {
  Changes* changes = changes_of(table);
  changes->list[changes->count] = change;
  changes->list[changes->count].subtransaction = GetCurrentSubTransactionId();
  if (changes->region != nullptr) {
    changes->extents[changes->count] = change.made != rows::kNoSlot ? changes->next_extent : 0;
    if (change.made != rows::kNoSlot) changes->next_extent = 0;
  }
  ++changes->count;
  if (change.ended == rows::kNoSlot) __atomic_fetch_add(&table->shared->row_count, 1, __ATOMIC_ACQ_REL);
  if (change.made == rows::kNoSlot) ++changes->ended_rows;
  if (change.ended != rows::kNoSlot) note_first_command(changes, change);
}

void merge_last_changes(Table* table, [[maybe_unused]] Slot ended, Slot made) {
  Changes* changes = changes_of(table);
  Assert(changes->count >= 2 && changes->list[changes->count - 2].ended == ended);
  changes->list[changes->count - 2].made = made;
  if (changes->region != nullptr) changes->extents[changes->count - 2] = changes->extents[changes->count - 1];
  --changes->count;
  --changes->ended_rows;
  __atomic_fetch_sub(&table->shared->row_count, 1, __ATOMIC_ACQ_REL);
}

Slot take_spare_slot(Table* table) {
  // If the table is nearly full, the remaining slots are left to other sessions.
  constexpr uint64_t kMany = 64, kPlenty = 1 << 16;
  Changes* changes = changes_of(table);
  if (changes->spare_begin == changes->spare_end && changes->count >= kMany) {
    changes->spare_begin = changes->spare_end = 0;
    LWLockAcquire(table->lock(kSlotsLock), LW_EXCLUSIVE);
    while (changes->spare_end < kMostSpare && table->rows->spare_slots() > kPlenty) {
      const Result<Slot> taken = table->rows->take_slot();
      if (!taken.is_ok()) break;
      changes->spare[changes->spare_end++] = taken.value();
    }
    LWLockRelease(table->lock(kSlotsLock));
  }
  return changes->spare_begin == changes->spare_end ? rows::kNoSlot : changes->spare[changes->spare_begin++];
}

void undo_last_change(Table* table) { undo_last(changes_of(table)); }

uint64_t rows_ended(const Table* table) {
  const Changes* changes = changes_of(table);
  return changes == nullptr ? 0 : changes->ended_rows;
}

bool find_first_command(const Table* table, Slot slot, CommandId* command) {
  const Changes* changes = changes_of(table);
  if (changes == nullptr || changes->first_commands == nullptr) return false;
  const auto* entry = static_cast<const FirstCommand*>(hash_search(changes->first_commands, &slot, HASH_FIND, nullptr));
  if (entry == nullptr) return false;
  *command = entry->command;
  return true;
}

void forget_unchanged(const Table* table) {
  for (Changes** link = &all_changes; *link != nullptr; link = &(*link)->next) {
    if ((*link)->table != table || (*link)->count != 0) continue;
    forget(link);
    return;
  }
}

bool has_changes(const Table* table) {
  const Changes* changes = changes_of(table);
  return changes != nullptr && changes->count != 0;
}

}  // namespace strom::pg::store
