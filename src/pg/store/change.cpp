#include "pg/store/change.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/store/checkpoint.hpp"
#include "pg/store/freeze.hpp"
#include "pg/store/published.hpp"
#include "pg/store/row_lock.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/transaction.hpp"
#include "pg/store/turns.hpp"
#include "pg/store/visibility.hpp"

namespace strom::pg::store {

namespace {

constexpr int kMostFreed = 32;

/// Slots that were removed from their chains.
struct FreedSlots {
  Slot slots[kMostFreed];
  int count = 0;
};

uint32_t aux_of(const rows::Version& version) { return __atomic_load_n(&version.aux, __ATOMIC_ACQUIRE); }

void give_back(Table* table, const FreedSlots& freed) {
  if (freed.count == 0) return;
  if (table->rows->has_heap()) {
    LWLockAcquire(table->lock(kHeapLock), LW_EXCLUSIVE);
    for (int i = 0; i < freed.count; ++i) table->rows->free_values(freed.slots[i]);
    LWLockRelease(table->lock(kHeapLock));
  }
  LWLockAcquire(table->lock(kSlotsLock), LW_EXCLUSIVE);
  for (int i = 0; i < freed.count; ++i) table->rows->give_slot(freed.slots[i]);
  LWLockRelease(table->lock(kSlotsLock));
}

/// Removes versions that nobody can see from a bucket's chain. The caller holds the bucket's lock.
void prune(const Table* table, uint64_t bucket, GlobalVisState* horizon, FreedSlots* freed) {
  rows::Rows& rows = *table->rows;
  for (Slot* link = &rows.head(bucket); *link != rows::kNoSlot && freed->count < kMostFreed;) {
    const Slot slot = *link;
    if (!is_removable(rows.look(slot), horizon)) {
      link = &rows.next(slot);
      continue;
    }
    *link = rows.next(slot);
    rows.set_free(slot);
    freed->slots[freed->count++] = slot;
  }
}

/// Finds a row with this key in the chain, by the rules of a unique index. `wait`: a transaction that has to end first.
Slot find_conflict(const Table* table, uint64_t bucket, const rows::Cell& key, Slot own, TransactionId* wait) {
  rows::Rows& rows = *table->rows;
  *wait = InvalidTransactionId;
  for (Slot slot = rows.head(bucket); slot != rows::kNoSlot; slot = rows.next(slot)) {
    const rows::Version& version = rows.look(slot);
    const rows::Xids xids = rows::Rows::xids(version);
    if (slot == own || xids.xmin == rows::kNobody || (aux_of(version) & kXmaxCommitted) != 0 ||
        !rows.has_key(slot, key))
      continue;
    const Fate begun = fate_of_xmin(version, xids);
    if (begun == Fate::kAborted) continue;
    if (begun == Fate::kRunning) {
      *wait = xids.xmin;
      return slot;
    }
    if (xids.xmax == rows::kNobody) return slot;
    const Fate ended = fate_of(xids.xmax);
    if (ended == Fate::kAborted) return slot;
    if (ended != Fate::kRunning) continue;
    *wait = xids.xmax;
    return slot;
  }
  return rows::kNoSlot;
}

/// The rule of PostgreSQL's BuildIndexValueDescription(): keys may come from defaults and triggers.
bool may_see_key(const Table* table) {
  const Oid role = GetUserId();
  return check_enable_rls(table->relid, InvalidOid, true) != RLS_ENABLED &&
         (pg_class_aclcheck(table->relid, role, ACL_SELECT) == ACLCHECK_OK ||
          pg_attribute_aclcheck(table->relid, table->key_column().attnum, role, ACL_SELECT) == ACLCHECK_OK);
}

/// Raises PostgreSQL's error of unique indexes.
void raise_duplicate(const Table* table, Relation relation, const rows::Cell& key) {
  const StoreColumn& column = table->key_column();
  const bool tells_key = may_see_key(table);
  bool is_null;
  const Datum value = from_cell(column, key, &is_null);
  Oid output;
  bool is_varlena;
  getTypeOutputInfo(column.type, &output, &is_varlena);
  const char* name = table->shape.columns[static_cast<size_t>(table->key())].name.c_str();
  ereport(
      ERROR,
      (errcode(ERRCODE_UNIQUE_VIOLATION),
       errmsg("duplicate key value violates the primary key of store table \"%s\"", RelationGetRelationName(relation)),
       tells_key ? errdetail("Key (%s)=(%s) already exists.", name, OidOutputFunctionCall(output, value)) : 0,
       errtable(relation)));
}

/// Frees a version if nobody can see it any more. The caller holds the lock of versions.
void free_if_removable(Table* table, Slot slot, GlobalVisState* horizon, FreedSlots* freed) {
  rows::Rows& rows = *table->rows;
  if (!is_removable(rows.look(slot), horizon)) return;
  LWLock* lock = table->lock_of_version(slot);
  LWLockAcquire(lock, LW_EXCLUSIVE);
  // Another session may have freed the slot meanwhile, and the slot may be in use again.
  if (is_removable(rows.look(slot), horizon) && (table->key() < 0 || rows.unlink(rows.bucket_of(slot), slot))) {
    rows.set_free(slot);
    freed->slots[freed->count++] = slot;
  }
  LWLockRelease(lock);
  if (freed->count < kMostFreed) return;
  give_back(table, *freed);
  freed->count = 0;
}

/// Frees versions that this session has ended. It looks only at every few versions, because each look may have to
/// compute the horizon. Versions ended by other sessions are left to these sessions and to the sweep. So updates do not
/// make tables grow, and the slots that are used again are in the processor's caches.
void free_ended(Table* table, Relation relation) {
  EndedVersions* ended = &table->ended;
  if (ended->count < ended->next_look) return;
  GlobalVisState* horizon = GlobalVisTestFor(relation);
  const uint32_t used = table->rows->used_slots();
  FreedSlots freed;
  uint32_t kept = 0;
  share_lock(table, kVersionLock);
  for (uint32_t i = 0; i < ended->count; ++i) {
    const Slot slot = ended->slots[i];
    if (slot >= used) continue;
    free_if_removable(table, slot, horizon, &freed);
    const rows::Xids xids = rows::Rows::xids(table->rows->look(slot));
    // Somebody can still see the version; or the slot has another version by now, which does no harm.
    if (xids.xmax != rows::kNobody) ended->slots[kept++] = slot;
  }
  LWLockRelease(table->lock(kVersionLock));
  // If some transaction runs for long, the versions are left to the sweep.
  ended->count = kept < EndedVersions::kMost / 2 ? kept : 0;
  ended->next_look = ended->count + EndedVersions::kEnough;
  give_back(table, freed);
}

/// Takes a slot, with memory, for a new version.
Slot take_slot(Table* table, Relation relation) {
  if (const Slot spare = take_spare_slot(table); spare != rows::kNoSlot) return spare;
  for (int sweeps = 0;; ++sweeps) {
    boundary::RaisableError error;
    bool is_full = false;
    {
      LWLockAcquire(table->lock(kSlotsLock), LW_EXCLUSIVE);
      const Result<Slot> taken = table->rows->take_slot();
      LWLockRelease(table->lock(kSlotsLock));
      if (taken.is_ok()) return taken.value();
      is_full = taken.status().code() == ErrorCode::kOverBudget;
      error = boundary::describe(taken.status());
    }
    if (!is_full) boundary::raise(error);
    if (sweeps == 0 && sweep(table, relation) != 0) continue;
    // The snapshot of a checkpoint may be all that keeps old versions.
    constexpr int kMostSweeps = 3;
    if (sweeps == kMostSweeps || !wait_for_checkpoint(table))
      ereport(ERROR,
              (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("store table \"%s\" is full", table->name),
               errdetail("Its option \"max_num_rows\" is %lu. Old versions of rows take places, too, as long as a "
                         "snapshot may see them.",
                         table->shape.max_rows),
               errhint("Delete rows, end old transactions, or copy the rows into a table with a larger limit.")));
    sweep(table, relation);
  }
}

void write_values(Table* table, Slot slot, const rows::Cell* cells) {
  const std::span<const rows::Cell> row(cells, table->columns.size());
  const bool needs_heap = table->rows->needs_heap(row);
  if (needs_heap) LWLockAcquire(table->lock(kHeapLock), LW_EXCLUSIVE);
  boundary::RaisableError error;
  bool is_failed;
  {
    const Status status = table->rows->write(slot, row);
    is_failed = !status.is_ok();
    if (is_failed) error = boundary::describe(status);
  }
  if (needs_heap) LWLockRelease(table->lock(kHeapLock));
  if (is_failed) boundary::raise(error);
}

/// bytes_of(): the bytes of a row's values. redo_bytes_of(): these and the overhead in the redo log.
uint64_t bytes_of(const Table* table, const rows::Cell* cells) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < table->columns.size(); ++i) bytes += cells[i].is_null ? 0 : cells[i].bytes;
  return bytes;
}
uint64_t redo_bytes_of(const Table* table, const rows::Cell* cells) {
  constexpr uint64_t kSlotAndKind = 8, kColumn = 5;  // a value's length, and a bit
  return bytes_of(table, cells) + kSlotAndKind + kColumn * table->columns.size();
}

void check_row(const Table* table, Relation relation, const rows::Cell* cells) {
  const uint64_t bytes = bytes_of(table, cells);
  if (bytes > rows::kMaxRowBytes)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a row of store table \"%s\" has %lu bytes, %lu are the limit", table->name, bytes,
                           rows::kMaxRowBytes)));
  if (table->key() < 0) return;
  const auto key = static_cast<size_t>(table->key());
  if (cells[key].is_null)
    ereport(ERROR, (errcode(ERRCODE_NOT_NULL_VIOLATION),
                    errmsg("null value in column \"%s\" of relation \"%s\" violates not-null constraint",
                           table->shape.columns[key].name.c_str(), table->name),
                    errtablecol(relation, table->key_column().attnum)));
  constexpr uint32_t kMaxKey = 2000;
  if (cells[key].bytes > kMaxKey)
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("a key of store table \"%s\" has %u bytes, %u are the limit", table->name, cells[key].bytes,
                           kMaxKey)));
}

void check_command(CommandId command) {
  if (command > kAuxMask)
    ereport(ERROR,
            (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("a transaction has too many commands for store tables")));
}

/// Makes a version that other sessions do not see yet and that is not in the index. Records it as `change`.made.
Slot make_version(Table* table, Relation relation, const rows::Cell* cells, CommandId command, Change change) {
  prepare_change(table, redo_bytes_of(table, cells), table->shared->region != 0 ? record_bytes_of(table, cells) : 0);
  const TransactionId xid = GetCurrentTransactionId();
  free_ended(table, relation);
  const Slot slot = take_slot(table, relation);
  change.made = slot;
  table->rows->begin_change(slot, xid);
  boundary::RaisableError error;
  if (!hold_page(table, slot, &error)) {
    table->rows->finish_change(slot);
    LWLockAcquire(table->lock(kSlotsLock), LW_EXCLUSIVE);
    table->rows->give_slot(slot);
    LWLockRelease(table->lock(kSlotsLock));
    boundary::raise(error);
  }
  __atomic_store_n(&table->rows->version(slot).aux, command, __ATOMIC_RELEASE);
  table->rows->compare_and_set(slot, {rows::kNobody, rows::kNobody}, {xid, rows::kNobody});
  note_change(table, change);
  write_values(table, slot, cells);
  return slot;
}

/// Adds a version to the index. False: its key exists already.
bool link_unique(Table* table, Relation relation, Slot slot, const rows::Cell& key, bool checks, Slot* found) {
  const uint64_t bucket = table->rows->bucket_of(key);
  LWLock* lock = table->bucket_lock(bucket);
  GlobalVisState* horizon = GlobalVisTestFor(relation);
  for (;;) {
    FreedSlots freed;
    TransactionId wait = InvalidTransactionId;
    LWLockAcquire(lock, LW_EXCLUSIVE);
    prune(table, bucket, horizon, &freed);
    *found = checks ? find_conflict(table, bucket, key, slot, &wait) : rows::kNoSlot;
    if (*found == rows::kNoSlot) table->rows->link(bucket, slot);
    LWLockRelease(lock);
    give_back(table, freed);
    if (*found == rows::kNoSlot) return true;
    if (!TransactionIdIsValid(wait)) return false;
    XactLockTableWait(wait, relation, nullptr, XLTW_InsertIndex);
  }
}

}  // namespace

Slot find_by_key(const Table* table, const rows::Cell& key, Snapshot snapshot) {
  rows::Rows& rows = *table->rows;
  const uint64_t bucket = rows.bucket_of(key);
  LWLock* lock = table->bucket_lock(bucket);
  LWLockAcquire(lock, LW_SHARED);
  Slot slot = rows.head(bucket);
  while (slot != rows::kNoSlot && !(rows.has_key(slot, key) && is_visible(table, slot, snapshot)))
    slot = rows.next(slot);
  LWLockRelease(lock);
  return slot;
}

Slot find_further(const Table* table, Slot found, Snapshot snapshot) {
  if (!IsolationUsesXactSnapshot()) return rows::kNoSlot;
  rows::Rows& rows = *table->rows;
  // The snapshot sees the version, so it stays in its chain.
  const rows::Cell key = rows.read(found, static_cast<uint32_t>(table->key()));
  LWLock* lock = table->bucket_lock(rows.bucket_of(found));
  LWLockAcquire(lock, LW_SHARED);
  Slot slot = rows.next(found);
  while (slot != rows::kNoSlot && !(rows.has_key(slot, key) && is_visible(table, slot, snapshot)))
    slot = rows.next(slot);
  LWLockRelease(lock);
  return slot;
}

void fetch_index(const Table* table, const rows::Cell* keys, int count) {
  const rows::Rows& rows = *table->rows;
  const Slot* heads[kFetchedTogether];
  Slot firsts[kFetchedTogether];
  count = std::min(count, kFetchedTogether);
  for (int i = 0; i < count; ++i) {
    heads[i] = &rows.head(rows.bucket_of(keys[i]));
    __builtin_prefetch(heads[i], 1);
  }
  // The chains may change before they are used; prefetching is only a hint.
  share_lock(table, kVersionLock);
  for (int i = 0; i < count; ++i) {
    firsts[i] = __atomic_load_n(heads[i], __ATOMIC_RELAXED);
    if (firsts[i] == rows::kNoSlot) continue;
    rows.fetch_version(firsts[i]);
    rows.fetch_key(firsts[i]);
  }
  // In a full table, one chain in five has a second version.
  for (int i = 0; i < count; ++i) {
    const Slot second = firsts[i] == rows::kNoSlot ? rows::kNoSlot : rows.next(firsts[i]);
    if (second == rows::kNoSlot) continue;
    rows.fetch_version(second);
    rows.fetch_key(second);
  }
  LWLockRelease(table->lock(kVersionLock));
}

void fetch_rows(const Table* table, const rows::Cell* keys, int count) {
  fetch_index(table, keys, count);
  const rows::Rows& rows = *table->rows;
  for (int i = 0; i < std::min(count, kFetchedTogether); ++i) {
    const Slot newest = __atomic_load_n(&rows.head(rows.bucket_of(keys[i])), __ATOMIC_RELAXED);
    if (newest == rows::kNoSlot) continue;
    __builtin_prefetch(&rows.block_of(newest), 1);
    // The version before it, which nobody sees any more, will be freed.
    const Slot before = rows.next(newest);
    if (before == rows::kNoSlot) continue;
    __builtin_prefetch(&rows.version(before), 1);
    __builtin_prefetch(&rows.block_of(before), 1);
    rows.fetch_values(before);
  }
}

Slot insert_row(Table* table, Relation relation, const rows::Cell* cells, CommandId command, bool skips_duplicates) {
  check_command(command);
  check_row(table, relation, cells);
  const uint64_t count = __atomic_load_n(&table->shared->row_count, __ATOMIC_ACQUIRE);
  if (count >= table->shape.max_rows + rows_ended(table))
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED), errmsg("store table \"%s\" is full", table->name),
                    errdetail("The option \"max_num_rows\" is %lu.", table->shape.max_rows)));
  const Slot slot = make_version(table, relation, cells, command, {rows::kNoSlot, rows::kNoSlot, 0, 0});
  Slot found = rows::kNoSlot;
  if (table->key() < 0) return slot;
  const rows::Cell& key = cells[table->key()];
  if (link_unique(table, relation, slot, key, true, &found)) return slot;
  undo_last_change(table);
  if (!skips_duplicates) raise_duplicate(table, relation, key);
  if (!IsolationUsesXactSnapshot()) return rows::kNoSlot;
  share_lock(table, kVersionLock);
  const rows::Version& version = table->rows->look(found);
  const bool is_hidden =
      fate_of_xmin(version, rows::Rows::xids(version)) != Fate::kOwn && !is_visible(table, found, GetActiveSnapshot());
  LWLockRelease(table->lock(kVersionLock));
  if (is_hidden)
    ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                    errmsg("could not serialize access due to concurrent update")));
  return rows::kNoSlot;
}

/// Ends a version, or says who has ended it.
static EndOutcome end_version(Table* table, Relation relation, Slot slot, CommandId command) {
  check_command(command);
  constexpr uint64_t kSlotAndKind = 8;
  prepare_change(table, kSlotAndKind, 0);
  const TransactionId xid = GetCurrentTransactionId();
  LWLock* lock = table->lock_of_version(slot);
  for (bool is_row_locked = false;;) {
    LWLockAcquire(lock, LW_EXCLUSIVE);
    const rows::Version& found = table->rows->look(slot);
    const rows::Xids xids = rows::Rows::xids(found);
    const uint32_t aux = aux_of(found);
    TransactionId wait = InvalidTransactionId;
    EndOutcome outcome{EndResult::kDone, rows::kNoSlot, 0};
    if (xids.xmax == rows::kNobody && (aux & kRowLocked) != 0 && !is_row_locked) {
      LWLockRelease(lock);
      take_row_lock(relation, slot, true, LockWaitBlock);
      is_row_locked = true;
      continue;
    }
    if (xids.xmax == rows::kNobody) {
      boundary::RaisableError error;
      table->rows->begin_change(slot, xid);
      if (!hold_page(table, slot, &error)) {
        table->rows->finish_change(slot);
        LWLockRelease(lock);
        if (is_row_locked) release_row_lock(relation, slot, true);
        boundary::raise(error);
      }
      rows::Version& version = table->rows->version(slot);
      table->rows->set_xmax(slot, xid);
      // note_change() records what it was, to undo the change.
      outcome.command = change_aux(version, [command](uint32_t now) { return (now & ~kAuxMask) | command; });
    } else if ((aux & kXmaxCommitted) != 0) {
      outcome.follower = aux & kAuxMask;
      outcome.result = outcome.follower != rows::kNoSlot ? EndResult::kUpdated : EndResult::kDeleted;
    } else if (TransactionIdIsCurrentTransactionId(xids.xmax)) {
      outcome.result = EndResult::kOwn;
      outcome.command = aux & kAuxMask;
    } else {
      // The transaction runs, or it has ended and has not set the bit yet.
      wait = xids.xmax;
    }
    LWLockRelease(lock);
    if (!TransactionIdIsValid(wait)) {
      if (is_row_locked) release_row_lock(relation, slot, true);
      if (outcome.result == EndResult::kDone) note_change(table, {slot, rows::kNoSlot, outcome.command, 0});
      return outcome;
    }
    ItemPointerData tid = tid_of_version(slot);
    XactLockTableWait(wait, relation, &tid, XLTW_Update);
  }
}

/// Follows a row from a version that was committed to its newest version, as kUpdated, or to its end. Waits for
/// transactions that are about to end a version, and for those that have locked the newest one.
static EndOutcome follow(Table* table, Relation relation, Slot slot) {
  bool is_row_locked = false;
  for (;;) {
    LWLock* lock = table->lock_of_version(slot);
    LWLockAcquire(lock, LW_SHARED);
    const rows::Version& version = table->rows->look(slot);
    const TransactionId xmax = rows::Rows::xids(version).xmax;
    const uint32_t aux = aux_of(version);
    LWLockRelease(lock);
    if (xmax == rows::kNobody && (aux & kRowLocked) != 0 && !is_row_locked) {
      take_row_lock(relation, slot, true, LockWaitBlock);
      is_row_locked = true;
      continue;
    }
    const bool is_ended = (aux & kXmaxCommitted) != 0;
    if (xmax != rows::kNobody && !is_ended && !TransactionIdIsCurrentTransactionId(xmax)) {
      ItemPointerData tid = tid_of_version(slot);
      XactLockTableWait(xmax, relation, &tid, XLTW_Update);
      continue;
    }
    if (is_row_locked) release_row_lock(relation, slot, true);
    is_row_locked = false;
    if (xmax == rows::kNobody) return {EndResult::kUpdated, slot, 0};
    const uint32_t rest = aux & kAuxMask;
    if (!is_ended) return {EndResult::kOwn, rows::kNoSlot, rest};
    if (rest == rows::kNoSlot) return {EndResult::kDeleted, rows::kNoSlot, 0};
    slot = rest;
  }
}

EndOutcome end_row(Table* table, Relation relation, Slot slot, CommandId command) {
  const EndOutcome outcome = end_version(table, relation, slot, command);
  // A transaction with one snapshot fails, whatever has become of the row.
  if (outcome.result != EndResult::kUpdated || IsolationUsesXactSnapshot()) return outcome;
  return follow(table, relation, outcome.follower);
}

Slot replace_row(Table* table, Relation relation, Slot ended, const rows::Cell* cells, CommandId command) {
  check_row(table, relation, cells);
  const Slot slot = make_version(table, relation, cells, command, {rows::kNoSlot, rows::kNoSlot, 0, 0});
  merge_last_changes(table, ended, slot);
  if (table->key() < 0) return slot;
  const rows::Cell& key = cells[table->key()];
  Slot found;
  if (!link_unique(table, relation, slot, key, !table->rows->has_key(ended, key), &found))
    raise_duplicate(table, relation, key);
  return slot;
}

void note_ended(Table* table, Slot slot) noexcept {
  EndedVersions* ended = &table->ended;
  if (ended->count < EndedVersions::kMost) ended->slots[ended->count++] = slot;
}

uint64_t sweep_slots(Table* table, Slot first, uint32_t count, GlobalVisState* horizon) {
  rows::Rows& rows = *table->rows;
  FreedSlots freed;
  uint64_t freed_slots = 0;
  share_lock(table, kVersionLock);
  for (Slot slot = first; slot < first + count; ++slot) {
    const rows::Version& version = rows.look(slot);
    if (is_removable(version, horizon)) {
      const int before = freed.count;
      free_if_removable(table, slot, horizon, &freed);
      freed_slots += freed.count == before ? 0 : 1;
    } else if (const rows::Xids xids = rows::Rows::xids(version); is_freezable(version, xids, horizon)) {
      rows.compare_and_set(slot, xids, {rows::kFrozen, xids.xmax});
    }
  }
  LWLockRelease(table->lock(kVersionLock));
  give_back(table, freed);
  return freed_slots;
}

uint64_t sweep(Table* table, Relation relation) {
  const rows::Rows& rows = *table->rows;
  // The horizons are computed anew, which GlobalVisTestFor() does not do for a transaction with an id.
  GetOldestNonRemovableTransactionId(relation);
  GlobalVisState* horizon = GlobalVisTestFor(relation);
  const uint32_t used = rows.used_slots();
  uint64_t freed_slots = 0;
  for (uint64_t chunk = 0; rows.used_in(chunk, used) != 0; ++chunk) {
    const uint32_t count = rows.used_in(chunk, used);
    if (__atomic_load_n(&rows.info(chunk).settled, __ATOMIC_ACQUIRE) == count) continue;
    CHECK_FOR_INTERRUPTS();
    freed_slots += sweep_slots(table, static_cast<Slot>(chunk * table->layout.chunk_rows), count, horizon);
  }
  return freed_slots;
}

}  // namespace strom::pg::store
