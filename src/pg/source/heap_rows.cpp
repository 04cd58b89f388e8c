#include "pg/source/heap_rows.hpp"

#include <algorithm>

#include "engine/block/tile.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/heap.hpp"

namespace strom::pg::source {

using boundary::guard;
using format::heap::Storage;
using registry::TypeId;

namespace {

constexpr int kMostPages = 64;  // of a chunk
constexpr int64_t kReadyPerThread = 2;
constexpr int kPinnedAhead = 8;
constexpr int kPrefetchedLines = 6;  // page header and about 90 line pointers
constexpr int64_t kRowsInPageGuess = 64;
constexpr int64_t kPadding = engine::block::kTilePadding;

uint8_t alignment_of(char align) {
  switch (align) {
    case TYPALIGN_CHAR: return 1;
    case TYPALIGN_SHORT: return 2;
    case TYPALIGN_INT: return 4;
    default: return 8;
  }
}

/// Buffers that this backend may keep pinned: its share of the pool.
int64_t pin_limit(Relation relation) {
  if (RelationUsesLocalBuffers(relation)) return std::max(1, num_temp_buffers / 4);
  return std::max<int64_t>(1, NBuffers / std::max(1, MaxBackends));
}

}  // namespace

/// Pages that are pinned, their visible tuples, and the columns made of them.
struct HeapRows::Chunk {
  int64_t index = 0;
  int pages = 0;
  int64_t rows = 0;
  std::vector<Buffer> buffers;
  std::vector<BlockNumber> blocks;
  std::vector<int64_t> first_rows;            // of each page
  std::vector<format::heap::TupleRef> tuples;  // with the row's number in its page beside it
  std::vector<OffsetNumber> numbers;
  // Of the engine thread that reads the chunk.
  std::vector<std::unique_ptr<uint8_t[]>> memory;  // values and flags of each column
  int64_t capacity = 0;
  std::vector<format::heap::ColumnOut> out;

  BlockNumber block_of(int64_t row) const {
    const auto page = std::upper_bound(first_rows.begin(), first_rows.begin() + pages, row) - first_rows.begin() - 1;
    return blocks[static_cast<size_t>(page)];
  }
};

struct HeapRows::Kept {
  std::vector<ItemPointerData> rows;
};

bool heap_storage(const FormData_pg_attribute& attribute, TypeId type, Storage* storage) {
  using registry::Phys;
  const Phys phys = registry::type_info(type).phys;
  if (attribute.attlen == -1) {
    if (phys != Phys::kStr && type != TypeId::kNumeric) return false;
    *storage = type == TypeId::kNumeric ? Storage::kNumeric : Storage::kText;
    return true;
  }
  if (phys == Phys::kStr || type == TypeId::kNumeric || attribute.attlen <= 0) return false;
  if (attribute.attlen == 2 && phys == Phys::kI32) {
    *storage = Storage::kInt2;
    return true;
  }
  if (attribute.attlen != registry::phys_size(phys)) return false;
  switch (attribute.attlen) {
    case 1: *storage = Storage::kBool; return phys == Phys::kBool;
    case 4: *storage = Storage::kWord4; return true;
    case 8: *storage = Storage::kWord8; return true;
    case 16: *storage = Storage::kWord16; return true;
    default: return false;
  }
}

HeapRows::HeapRows(Relation relation, Snapshot snapshot, const std::vector<AttrNumber>& attnums,
                   const std::vector<engine::plan::ValueType>& types)
    : relation_(relation), snapshot_(snapshot), table_name_(RelationGetRelationName(relation)), attnums_(attnums) {
  const TupleDesc descriptor = RelationGetDescr(relation);
  std::vector<format::heap::AttributeLayout> layouts;
  for (int i = 0; i < descriptor->natts; ++i) {
    const FormData_pg_attribute& attribute = *TupleDescAttr(descriptor, i);
    layouts.push_back({attribute.attlen, alignment_of(attribute.attalign)});
  }
  std::vector<format::heap::WantedColumn> wanted;
  for (size_t i = 0; i < attnums.size(); ++i) {
    Storage storage;
    if (!heap_storage(*TupleDescAttr(descriptor, attnums[i] - 1), types[i].type, &storage))
      throw boundary::StatusError(Status(ErrorCode::kInternal, "column of table \"" + table_name_ + "\" cannot be read"));
    wanted.push_back({attnums[i] - 1, storage, types[i].scale});
  }
  decoder_ = std::make_unique<const format::heap::TupleDecoder>(std::move(layouts), std::move(wanted));
}

HeapRows::~HeapRows() = default;

int64_t HeapRows::total_rows() const {
  const Relation relation = relation_;
  return guard([=] { return static_cast<int64_t>(RelationGetNumberOfBlocks(relation)); }) * kRowsInPageGuess;
}

// ---- The calling thread ----

int64_t HeapRows::limit(int threads) {
  const int64_t ready = kReadyPerThread * threads;
  pages_in_chunk_ = static_cast<int>(std::clamp<int64_t>(pin_limit(relation_) / (ready + threads), 1, kMostPages));
  return ready;
}

void HeapRows::start() {
  const Relation relation = relation_;
  const Snapshot snapshot = snapshot_;
  guard([&] {
    block_count_ = RelationGetNumberOfBlocks(relation);
    PredicateLockRelation(relation, snapshot);
    pgstat_count_heap_scan(relation);
    // As PostgreSQL's own scans: a large table does not push everything else out of the pool.
    if (!RelationUsesLocalBuffers(relation) && block_count_ > static_cast<BlockNumber>(NBuffers) / 4)
      strategy_ = GetAccessStrategy(BAS_BULKREAD);
  });
  started_ = true;
}

HeapRows::Chunk* HeapRows::new_chunk() {
  if (free_.empty()) {
    chunks_.push_back(std::make_unique<Chunk>());
    Chunk* chunk = chunks_.back().get();
    const auto pages = static_cast<size_t>(pages_in_chunk_);
    chunk->buffers.resize(pages);
    chunk->blocks.resize(pages);
    chunk->first_rows.resize(pages);
    chunk->tuples.resize(pages * MaxHeapTuplesPerPage);
    chunk->numbers.resize(pages * MaxHeapTuplesPerPage);
    free_.push_back(chunk);
  }
  Chunk* chunk = free_.back();
  chunk->pages = 0;
  chunk->rows = 0;
  return chunk;
}

// Neighbours in the table are often neighbours in the pool. May ereport.
Buffer HeapRows::pin_page(BlockNumber block) {
  const Buffer guess = last_buffer_ + 1;
  last_buffer_ = InvalidBuffer;
  if (guess > 1 && guess <= NBuffers) last_buffer_ = compat::pin_if_there(relation_, block, guess);
  if (last_buffer_ == InvalidBuffer) last_buffer_ = ReadBufferExtended(relation_, MAIN_FORKNUM, block, RBM_NORMAL, strategy_);
  if (BufferIsLocal(last_buffer_)) return std::exchange(last_buffer_, InvalidBuffer);
  const auto* line_pointers = reinterpret_cast<const uint8_t*>(BufferGetPage(last_buffer_));
  for (int line = 0; line < kPrefetchedLines; ++line) __builtin_prefetch(line_pointers + line * 64);
  return last_buffer_;
}

// Notes the visible tuples of a pinned page; without any, the page is not kept. May ereport.
void HeapRows::load_page(Chunk* chunk, BlockNumber block, Buffer buffer) {
  heap_page_prune_opt(relation_, buffer);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  const Page page = BufferGetPage(buffer);
  compat::check_snapshot_age(snapshot_, relation_, page);
  const bool all_visible = PageIsAllVisible(page) && !snapshot_->takenDuringRecovery;
  const OffsetNumber last = PageGetMaxOffsetNumber(page);
  const auto* bytes = reinterpret_cast<const uint8_t*>(page);
  format::heap::TupleRef* tuples = chunk->tuples.data() + chunk->rows;
  OffsetNumber* numbers = chunk->numbers.data() + chunk->rows;
  int64_t rows = 0;
  for (OffsetNumber number = FirstOffsetNumber; number <= last; ++number) {
    const ItemId item = PageGetItemId(page, number);
    if (!ItemIdIsNormal(item)) continue;
    const unsigned offset = ItemIdGetOffset(item), size = ItemIdGetLength(item);
    if (offset + size > BLCKSZ)
      ereport(ERROR, (errcode(ERRCODE_DATA_CORRUPTED),
                      errmsg("line pointer %u of block %u of table \"%s\" leads outside of the page", number, block,
                             RelationGetRelationName(relation_))));
    if (!all_visible) {
      HeapTupleData tuple;
      tuple.t_tableOid = RelationGetRelid(relation_);
      tuple.t_data = reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
      tuple.t_len = size;
      ItemPointerSet(&tuple.t_self, block, number);
      const bool visible = HeapTupleSatisfiesVisibility(&tuple, snapshot_, buffer);
      HeapCheckForSerializableConflictOut(visible, relation_, &tuple, buffer, snapshot_);
      if (!visible) continue;
    }
    tuples[rows] = {bytes + offset, size};
    numbers[rows++] = number;
  }
  LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
  if (rows == 0) {
    ReleaseBuffer(buffer);
    return;
  }
  const auto place = static_cast<size_t>(chunk->pages);
  chunk->buffers[place] = buffer;
  chunk->blocks[place] = block;
  chunk->first_rows[place] = chunk->rows;
  chunk->rows += rows;
  ++chunk->pages;
}

// Pins some pages before the first is looked at, so that their line pointers are on their way. May ereport.
void HeapRows::load_pages(Chunk* chunk) {
  Buffer buffers[kPinnedAhead];
  const BlockNumber first = block_;
  const int room = std::min(kPinnedAhead, pages_in_chunk_ - chunk->pages);
  const int count = static_cast<int>(std::min<BlockNumber>(static_cast<BlockNumber>(room), block_count_ - block_));
  for (int i = 0; i < count; ++i) buffers[i] = pin_page(block_++);
  for (int i = 0; i < count; ++i) load_page(chunk, first + static_cast<BlockNumber>(i), buffers[i]);
}

bool HeapRows::feed() {
  if (!started_) start();
  unpin_released();
  if (block_ >= block_count_) return false;
  Chunk* chunk = new_chunk();
  guard([&] {
    const int64_t before = chunk->rows;
    while (block_ < block_count_ && chunk->pages < pages_in_chunk_) {
      load_pages(chunk);
      if (InterruptPending && chunk->rows > 0) break;
    }
    compat::count_scanned_rows(relation_, chunk->rows - before);
  });
  if (chunk->rows == 0) return false;
  free_.pop_back();
  std::lock_guard lock(mutex_);
  chunk->index = next_chunk_++;
  active_[chunk->index] = chunk;
  return true;
}

void HeapRows::unpin_released() {
  std::vector<std::pair<int64_t, bool>> released;
  {
    std::lock_guard lock(mutex_);
    released.swap(released_);
  }
  for (const auto& [index, declined] : released) {
    Chunk* chunk;
    {
      std::lock_guard lock(mutex_);
      const auto found = active_.find(index);
      chunk = found->second;
      active_.erase(found);
    }
    if (declined) keep(*chunk);
    guard([chunk] {
      for (int i = 0; i < chunk->pages; ++i) ReleaseBuffer(chunk->buffers[i]);
    });
    free_.push_back(chunk);
  }
}

void HeapRows::keep(const Chunk& chunk) {
  std::vector<ItemPointerData>& rows = kept_[chunk.index].rows;
  rows.resize(static_cast<size_t>(chunk.rows));
  for (int64_t i = 0; i < chunk.rows; ++i)
    ItemPointerSet(&rows[static_cast<size_t>(i)], chunk.block_of(i), chunk.numbers[static_cast<size_t>(i)]);
}

void HeapRows::close() {
  for (const auto& [index, chunk] : active_) {
    guard([chunk = chunk] {
      for (int i = 0; i < chunk->pages; ++i) ReleaseBuffer(chunk->buffers[i]);
    });
    free_.push_back(chunk);
  }
  active_.clear();
  released_.clear();
  kept_.clear();
  to_forget_.clear();
  if (strategy_ != nullptr) guard([this] { FreeAccessStrategy(strategy_); });
  strategy_ = nullptr;
  started_ = false;
  block_ = block_count_ = 0;
  last_buffer_ = InvalidBuffer;
  next_chunk_ = 0;
}

// ---- Engine threads ----

HeapRows::Chunk* HeapRows::active(int64_t index) const {
  std::lock_guard lock(mutex_);
  const auto found = active_.find(index);
  return found == active_.end() ? nullptr : found->second;
}

Result<columnar::BatchView> HeapRows::chunk(int64_t index) const {
  Chunk* chunk = active(index);
  columnar::BatchView view;
  view.rows = chunk->rows;
  const std::vector<format::heap::WantedColumn>& wanted = decoder_->wanted();
  if (wanted.empty()) return view;
  if (chunk->capacity < chunk->rows) {
    chunk->capacity = chunk->rows + chunk->rows / 4;
    chunk->memory.clear();
    chunk->out.clear();
    for (const auto& column : wanted) {
      // new[] aligns to 16, which is what the widest values need.
      const size_t rows = static_cast<size_t>(chunk->capacity + kPadding);
      const size_t bytes = rows * static_cast<size_t>(storage_width(column.storage));
      chunk->memory.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[bytes + rows]));
      chunk->out.push_back({chunk->memory.back().get(), chunk->memory.back().get() + bytes, false});
    }
  }
  const int64_t bad = decoder_->decode(chunk->tuples.data(), chunk->rows, chunk->out.data());
  if (bad >= 0)
    return Status(ErrorCode::kCorruptFile, "row of table \"" + table_name_ + "\" is damaged")
        .with_detail("It is item " + std::to_string(chunk->numbers[static_cast<size_t>(bad)]) + " of block " +
                     std::to_string(chunk->block_of(bad)) + ".");
  for (const auto& out : chunk->out) {
    columnar::ColumnView column;
    column.is_register = true;
    column.length = chunk->rows;
    column.values = out.values;
    column.flags = out.has_flags ? out.flags : nullptr;
    view.columns.push_back(column);
  }
  return view;
}

void HeapRows::release(int64_t chunk, bool declined) {
  std::lock_guard lock(mutex_);
  released_.emplace_back(chunk, declined);
}

std::string HeapRows::describe(int64_t) const { return "table \"" + table_name_ + "\""; }

// ---- Declined rows ----

// Chunks that are released by now have told all their declined rows before the caller asks for them.
void HeapRows::begin_recheck() {
  unpin_released();
  to_forget_.clear();
  for (const auto& [index, kept] : kept_) to_forget_.push_back(index);
}

void HeapRows::end_recheck() {
  for (const int64_t index : to_forget_) kept_.erase(index);
  to_forget_.clear();
}

void HeapRows::read(int64_t index, int64_t row, MemoryContext memory, Datum* values, bool* nulls) {
  ItemPointerData position;
  if (const auto found = kept_.find(index); found != kept_.end()) {
    position = found->second.rows[static_cast<size_t>(row)];
  } else {
    const Chunk* chunk = active(index);
    ItemPointerSet(&position, chunk->block_of(row), chunk->numbers[static_cast<size_t>(row)]);
  }
  const Relation relation = relation_;
  const Snapshot snapshot = snapshot_;
  const AttrNumber* attnums = attnums_.data();
  const size_t count = attnums_.size();
  guard([=] {
    HeapTupleData tuple;
    Buffer buffer;
    tuple.t_self = position;
    if (!heap_fetch(relation, snapshot, &tuple, &buffer, false))
      elog(ERROR, "row (%u,%u) of table \"%s\" is gone", ItemPointerGetBlockNumber(&position),
           ItemPointerGetOffsetNumber(&position), RelationGetRelationName(relation));
    const TupleDesc descriptor = RelationGetDescr(relation);
    MemoryContext caller = MemoryContextSwitchTo(memory);
    for (size_t i = 0; i < count; ++i) {
      const Form_pg_attribute attribute = TupleDescAttr(descriptor, attnums[i] - 1);
      values[i] = heap_getattr(&tuple, attnums[i], descriptor, &nulls[i]);
      if (!nulls[i]) values[i] = datumCopy(values[i], attribute->attbyval, attribute->attlen);
    }
    MemoryContextSwitchTo(caller);
    ReleaseBuffer(buffer);
  });
}

}  // namespace strom::pg::source
