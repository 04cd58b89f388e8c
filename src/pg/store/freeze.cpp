#include "pg/store/freeze.hpp"

#include "pg/store/change.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/turns.hpp"
#include "pg/store/visibility.hpp"

namespace strom::pg::store {

namespace {

constexpr uint32_t kMostPages = rows::kChunkRows / rows::kPageRows;

/// Some pages of a chunk.
struct Pages {
  bool chosen[kMostPages];
  uint32_t count;
  uint32_t with_memory;  // all of the chunk's pages, chosen or not
};

Slot first_of(const Table* table, uint64_t chunk, uint32_t page) {
  return static_cast<Slot>(chunk * table->layout.chunk_rows) + page * rows::kPageRows;
}
uint32_t pages_in(const Table* table) { return table->layout.chunk_rows / rows::kPageRows; }

bool is_at_rest(const Table* table, Slot first, TransactionId rest) {
  const rows::Rows& rows = *table->rows;
  // An earlier call had to leave the page half-way.
  if (rows.page_state(first) == rows::PageState::kReleased) return true;
  if (rows.page_state(first) == rows::PageState::kGone) return false;
  for (Slot slot = first; slot < first + rows::kPageRows; slot += rows::kBlockRows) {
    const rows::Stamp stamp = rows::Rows::stamp_of(rows.block_of(slot));
    if (stamp.open != 0) return false;
    if (stamp.newest != rows::kNobody && static_cast<int32>(stamp.newest - rest) >= 0) return false;
  }
  return true;
}

void choose_pages(const Table* table, uint64_t chunk, TransactionId rest, Pages* pages) {
  *pages = {};
  for (uint32_t page = 0; page < pages_in(table); ++page) {
    pages->chosen[page] = is_at_rest(table, first_of(table, chunk, page), rest);
    pages->count += pages->chosen[page] ? 1 : 0;
    pages->with_memory += table->rows->page_state(first_of(table, chunk, page)) == rows::PageState::kGone ? 0 : 1;
  }
}

bool is_worth_it(const Pages& pages, Freezes freezes) {
  // Freeing a few pages costs nearly as much as freeing all of them. And if many are in use, the others soon will be.
  constexpr uint32_t kFewest = 16, kPart = 4;
  if (freezes == Freezes::kAll) return pages.count != 0;
  return pages.count >= kFewest && pages.with_memory - pages.count <= pages.with_memory / kPart;
}

/// Pages that cannot be released are no longer chosen after this.
void release_pages(const Table* table, uint64_t chunk, Pages* pages) {
  pages->count = 0;
  for (uint32_t page = 0; page < pages_in(table); ++page) {
    if (!pages->chosen[page]) continue;
    const Slot first = first_of(table, chunk, page);
    pages->chosen[page] =
        table->rows->page_state(first) == rows::PageState::kReleased || table->rows->release_page(first, kRowLocked);
    pages->count += pages->chosen[page] ? 1 : 0;
  }
}

/// Waits until the lock was free for a moment. False: it was not for a long time.
bool wait_for_lock(LWLock* lock, TimestampTz begin) {
  constexpr int kPatienceMs = 100;
  constexpr long kPauseUs = 500;
  while (!LWLockConditionalAcquire(lock, LW_EXCLUSIVE)) {
    if (TimestampDifferenceExceeds(begin, GetCurrentTimestamp(), kPatienceMs)) return false;
    pg_usleep(kPauseUs);
  }
  LWLockRelease(lock);
  return true;
}

/// Waits until every session that may be reading versions has released the lock under which it does so. False: it would
/// take long, since a session publishes many rows, for example. The pages stay as they are for a later call.
bool wait_for_readers(const Table* table) {
  const TimestampTz begin = GetCurrentTimestamp();
  if (!wait_for_lock(table->lock(kRegionLock), begin)) return false;
  take_lock_alone(table, kVersionLock);
  LWLockRelease(table->lock(kVersionLock));
  for (int i = 0; i < kBucketLocks; ++i)
    if (!wait_for_lock(table->lock(kFirstBucket + i), begin)) return false;
  return true;
}

/// Frees the memory of the released pages that no writer has taken back meanwhile. Called after wait_for_readers().
void drop_pages(Table* table, uint64_t chunk, const Pages& pages) {
  LWLockAcquire(table->lock(kPageLock), LW_EXCLUSIVE);
  for (uint32_t page = 0; page < pages_in(table); ++page) {
    if (!pages.chosen[page]) continue;
    uint32_t count = 1;
    while (page + count < pages_in(table) && pages.chosen[page + count]) ++count;
    table->rows->drop_pages(first_of(table, chunk, page), count);
    page += count - 1;
  }
  LWLockRelease(table->lock(kPageLock));
}

/// False: readers did not let go for long, and would not for other chunks either.
bool freeze_chunk(Table* table, uint64_t chunk, TransactionId rest, Freezes freezes, GlobalVisState* horizon) {
  Pages pages;
  choose_pages(table, chunk, rest, &pages);
  if (!is_worth_it(pages, freezes)) return true;
  if (!LWLockConditionalAcquire(table->lock(kFreezeLock), LW_EXCLUSIVE)) return true;
  for (uint32_t page = 0; page < pages_in(table); ++page)
    if (pages.chosen[page]) sweep_slots(table, first_of(table, chunk, page), rows::kPageRows, horizon);
  for (uint32_t page = 0; page < pages_in(table); ++page)
    if (pages.chosen[page]) table->rows->begin_release(first_of(table, chunk, page));
  bool may_go = wait_for_readers(table);
  if (may_go) release_pages(table, chunk, &pages);
  if (may_go && pages.count != 0) {
    may_go = wait_for_readers(table);
    if (may_go) drop_pages(table, chunk, pages);
  }
  LWLockRelease(table->lock(kFreezeLock));
  return may_go;
}

}  // namespace

void freeze(Table* table, Relation relation, TransactionId rest, Freezes freezes) {
  GlobalVisState* horizon = GlobalVisTestFor(relation);
  const uint32_t used = table->rows->used_slots();
  for (uint64_t chunk = 0; table->rows->used_in(chunk, used) != 0; ++chunk) {
    CHECK_FOR_INTERRUPTS();
    if (!freeze_chunk(table, chunk, rest, freezes, horizon)) return;
  }
}

bool has_pages_at_rest(const Table* table, TransactionId rest, Freezes freezes) {
  const uint32_t used = table->rows->used_slots();
  for (uint64_t chunk = 0; table->rows->used_in(chunk, used) != 0; ++chunk) {
    Pages pages;
    choose_pages(table, chunk, rest, &pages);
    if (is_worth_it(pages, freezes)) return true;
  }
  return false;
}

bool hold_page(Table* table, Slot slot, boundary::RaisableError* error) {
  if (table->rows->keep_page(slot)) return true;
  LWLockAcquire(table->lock(kPageLock), LW_EXCLUSIVE);
  bool is_there;
  {
    const Status status = table->rows->bring_page(slot);
    is_there = status.is_ok();
    if (!is_there) *error = boundary::describe(status);
  }
  LWLockRelease(table->lock(kPageLock));
  return is_there;
}

}  // namespace strom::pg::store
