#include "pg/table/heap/page_reader.hpp"

#include <cstring>
#include <utility>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/heap.hpp"

namespace strom::pg::table {

using boundary::guard;

namespace {

constexpr int64_t kReadyPerThread = 2;
constexpr int kPinnedAhead = 8;
constexpr OffsetNumber kMostItems = (BLCKSZ - SizeOfPageHeaderData) / sizeof(ItemIdData);
constexpr int64_t kMissesRemembered = 32;

/// The number of buffers that this backend may keep pinned: its share of shared buffers.
int64_t pin_limit() { return std::max<int64_t>(1, NBuffers / std::max(1, MaxBackends)); }

/// The number of buffers that all its scans keep pinned while nothing is fed. Half-read cursors keep theirs for long.
int64_t pins_of_backend = 0;

}  // namespace

PageReader::~PageReader() { pins_of_backend -= pins_; }

BlockNumber PageReader::chosen_blocks() const {
  const Relation relation = relation_;
  return blocks_.chosen_of(guard([=] { return RelationGetNumberOfBlocks(relation); }));
}

int64_t PageReader::limit(int threads) {
  const int64_t ready = kReadyPerThread * threads;
  const bool copies = RelationUsesLocalBuffers(relation_);
  most_pages_ =
      copies ? kStripePages : static_cast<int>(std::clamp<int64_t>(pin_limit() / (ready + threads), 1, kStripePages));
  return ready;
}

PageReader::Blocks PageReader::begin() {
  const Relation relation = relation_;
  const Snapshot snapshot = snapshot_;
  const BlockNumber count = guard([=] { return RelationGetNumberOfBlocks(relation); });
  if (sample_) blocks_.restrict_to(sample_->blocks(count));
  const BlockNumber chosen = blocks_.chosen_of(count);
  blocks_.begin(count);
  guard([&] {
    // The operating system itself reads consecutive blocks ahead.
    const int in_flight = chosen < count ? get_tablespace_io_concurrency(relation->rd_rel->reltablespace) : 1;
    read_ahead_ = static_cast<size_t>(std::max(1, in_flight));
    PredicateLockRelation(relation, snapshot);
    pgstat_count_heap_scan(relation);
    // As in PostgreSQL's own scans, a large table does not evict everything else from shared buffers.
    if (!RelationUsesLocalBuffers(relation) && chosen > static_cast<BlockNumber>(NBuffers) / 4)
      strategy_ = GetAccessStrategy(BAS_BULKREAD);
  });
  const int chunks_of_stripe = (kStripePages + most_pages_ - 1) / most_pages_;
  const int most_pages = (kStripePages + chunks_of_stripe - 1) / chunks_of_stripe;
  pages_in_chunk_ = static_cast<int>(std::clamp<int64_t>(chosen, 1, most_pages));
  return {count, chosen};
}

void PageReader::close() {
  if (strategy_ != nullptr) guard([this] { FreeAccessStrategy(strategy_); });
  strategy_ = nullptr;
  last_buffer_ = InvalidBuffer;
  upcoming_.clear();
}

std::unique_ptr<PageChunk> PageReader::new_chunk() {
  if (spare_.empty()) spare_.push_back(std::make_unique<PageChunk>());
  std::unique_ptr<PageChunk> chunk = std::move(spare_.back());
  spare_.pop_back();
  if (const auto pages = static_cast<size_t>(pages_in_chunk_); chunk->buffers.size() < pages) {
    chunk->buffers.resize(pages);
    chunk->blocks.resize(pages);
    chunk->refs.resize(pages);
    chunk->visible.resize(pages * MaxHeapTuplesPerPage);
    chunk->first_rows.resize(pages);
  }
  make_copies_room(chunk.get());
  chunk->pages = 0;
  chunk->rows = 0;
  chunk->most_rows = 0;
  chunk->is_all_visible = true;
  chunk->fill = nullptr;
  return chunk;
}

// Temporary tables have few buffers, and an application may leave many scans half read. PostgreSQL's own scans keep one
// page pinned in that case. So chunks of temporary tables copy their pages.
void PageReader::make_copies_room(PageChunk* chunk) const {
  const bool copies = RelationUsesLocalBuffers(relation_) || pins_of_backend + pages_in_chunk_ > pin_limit();
  const auto pages = static_cast<size_t>(copies ? pages_in_chunk_ : 0);
  if (copies && chunk->copies_room >= pages) return;
  chunk->copies.reset(copies ? new uint8_t[pages * BLCKSZ] : nullptr);
  chunk->copies_room = pages;
}

// The next block to read. Tells the operating system to read ahead, if earlier blocks were not in shared buffers.
// May ereport.
BlockNumber PageReader::next_block() {
  while (upcoming_.size() < read_ahead_ && !blocks_.at_end()) {
    upcoming_.push_back(blocks_.next());
    if (misses_ > 0 && read_ahead_ > 1) PrefetchBuffer(relation_, MAIN_FORKNUM, upcoming_.back());
  }
  const BlockNumber block = upcoming_.front();
  upcoming_.pop_front();
  return block;
}

// Adjacent blocks of the table are often in adjacent buffers. May ereport.
Buffer PageReader::pin_page(BlockNumber block) {
  const Buffer guess = last_buffer_ + 1;
  last_buffer_ = InvalidBuffer;
  if (guess > 1 && guess <= NBuffers) last_buffer_ = compat::pin_if_there(relation_, block, guess);
  if (last_buffer_ == InvalidBuffer) {
    const int64_t read = pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read;
    last_buffer_ = ReadBufferExtended(relation_, MAIN_FORKNUM, block, RBM_NORMAL, strategy_);
    misses_ = pgBufferUsage.shared_blks_read + pgBufferUsage.local_blks_read > read ? kMissesRemembered : misses_ - 1;
  }
  if (BufferIsLocal(last_buffer_)) return std::exchange(last_buffer_, InvalidBuffer);
  __builtin_prefetch(BufferGetPage(last_buffer_));
  return last_buffer_;
}

// Asks the snapshot about each tuple of a locked page. May ereport.
int PageReader::list_visible(BlockNumber block, Buffer buffer, OffsetNumber last, OffsetNumber* visible) {
  const Page page = BufferGetPage(buffer);
  int count = 0;
  const auto next = [&](OffsetNumber number) {
    if (sample_) return sample_->next_item(block, last);
    return number < last ? static_cast<OffsetNumber>(number + 1) : InvalidOffsetNumber;
  };
  for (OffsetNumber number = next(0); number != InvalidOffsetNumber; number = next(number)) {
    const ItemId item = PageGetItemId(page, number);
    if (!ItemIdIsNormal(item)) continue;
    if (ItemIdGetOffset(item) + ItemIdGetLength(item) > BLCKSZ || ItemIdGetLength(item) < SizeofHeapTupleHeader ||
        count == MaxHeapTuplesPerPage)
      ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED), errmsg("item %u of block %u of table \"%s\" is damaged", number,
                                                              block, RelationGetRelationName(relation_))));
    HeapTupleData tuple;
    tuple.t_tableOid = RelationGetRelid(relation_);
    tuple.t_data = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
    tuple.t_len = ItemIdGetLength(item);
    ItemPointerSet(&tuple.t_self, block, number);
    const bool is_visible = HeapTupleSatisfiesVisibility(&tuple, snapshot_, buffer);
    HeapCheckForSerializableConflictOut(is_visible, relation_, &tuple, buffer, snapshot_);
    if (is_visible) visible[count++] = number;
  }
  return count;
}

// Takes over the pin of a page. May ereport.
const uint8_t* PageReader::hold_page(PageChunk* chunk, Buffer buffer) {
  const auto at = static_cast<size_t>(chunk->pages);
  const auto* page = reinterpret_cast<const uint8_t*>(BufferGetPage(buffer));
  if (chunk->copies == nullptr) {
    chunk->buffers[at] = buffer;
    ++pins_;
    ++pins_of_backend;
    return page;
  }
  uint8_t* copy = chunk->copies.get() + at * BLCKSZ;
  std::memcpy(copy, page, BLCKSZ);
  ReleaseBuffer(buffer);
  return copy;
}

// Records the visible tuples of a pinned page. A page without any is not held. May ereport.
void PageReader::load_page(PageChunk* chunk, BlockNumber block, Buffer buffer) {
  heap_page_prune_opt(relation_, buffer);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  const Page page = BufferGetPage(buffer);
  compat::check_snapshot_age(snapshot_, relation_, page);
  const auto at = static_cast<size_t>(chunk->pages);
  OffsetNumber* visible = nullptr;
  OffsetNumber count = std::min<OffsetNumber>(PageGetMaxOffsetNumber(page), kMostItems);
  // All present tuples are visible. Later tuples get new items behind them, unless there are items that can be reused.
  if (!PageIsAllVisible(page) || snapshot_->takenDuringRecovery || PageHasFreeLinePointers(page) || sample_) {
    visible = chunk->visible.data() + at * MaxHeapTuplesPerPage;
    count = static_cast<OffsetNumber>(list_visible(block, buffer, count, visible));
  }
  if (!PageIsAllVisible(page)) chunk->is_all_visible = false;
  LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
  if (count == 0) {
    ReleaseBuffer(buffer);
    return;
  }
  chunk->blocks[at] = block;
  chunk->refs[at] = {hold_page(chunk, buffer), visible, count};
  chunk->most_rows += count;
  ++chunk->pages;
}

// Pins several pages before the first one is looked at, so that their headers can be prefetched. May ereport.
template <class AtEnd>
void PageReader::load_pages(PageChunk* chunk, AtEnd at_end) {
  Buffer buffers[kPinnedAhead];
  BlockNumber blocks[kPinnedAhead];
  const int room = std::min(chunk->copies != nullptr ? 1 : kPinnedAhead, pages_in_chunk_ - chunk->pages);
  int count = 0;
  for (; count < room && !at_end(); ++count) {
    blocks[count] = next_block();
    buffers[count] = pin_page(blocks[count]);
  }
  for (int i = 0; i < count; ++i) load_page(chunk, blocks[i], buffers[i]);
}

void PageReader::load(PageChunk* chunk, BlockNumber end) {
  guard([=, this] {
    BlockNumber stripe = InvalidBlockNumber;
    // If the whole table is read, chunks end with their stripe.
    const auto is_done = [&] {
      if (at_end() || (reads_whole_table() && position() >= end)) return true;
      return stripe != InvalidBlockNumber && reads_whole_table() && stripe_of(upcoming()) != stripe;
    };
    while (!is_done() && !is_full(*chunk)) {
      if (stripe == InvalidBlockNumber) stripe = stripe_of(upcoming());
      load_pages(chunk, is_done);
      if (InterruptPending) break;  // the chunk may be empty then; the caller serves interrupts first
    }
  });
}

void PageReader::load(PageChunk* chunk, std::deque<BlockNumber>* blocks) {
  guard([=, this] {
    for (; !blocks->empty() && !is_full(*chunk); blocks->pop_front())
      load_page(chunk, blocks->front(), pin_page(blocks->front()));
  });
}

void PageReader::release(const PageChunk& chunk) {
  for (int i = 0; i < chunk.pages && chunk.copies == nullptr; ++i) {
    --pins_;
    --pins_of_backend;
    ReleaseBuffer(chunk.buffers[i]);
  }
}

}  // namespace strom::pg::table
