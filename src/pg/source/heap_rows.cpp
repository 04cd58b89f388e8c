#include "pg/source/heap_rows.hpp"

#include <algorithm>
#include <cstring>

#include "engine/block/tile.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/codec/numeric.hpp"
#include "pg/compat/heap.hpp"

namespace strom::pg::source {

using boundary::guard;
using format::heap::Storage;
using registry::TypeId;

namespace {

constexpr int kMostPages = 64;  // of a chunk, and pages of a stripe
constexpr int64_t kReadyPerThread = 2;
constexpr int kPinnedAhead = 8;
/// Of a chunk that a device reads; a smaller table is divided among the threads.
constexpr BlockNumber kMostDirectBlocks = 2048, kLeastDirectBlocks = 64;
/// Chunks in a row of which most comes back, before devices read no more of the table.
constexpr int kMostRefusals = 3;
constexpr OffsetNumber kMostItems = (BLCKSZ - SizeOfPageHeaderData) / sizeof(ItemIdData);
constexpr int64_t kMissesRemembered = 32;
constexpr int kPagesInCache = 1;      // ahead of the one that is decoded
constexpr size_t kBeforeNumeric = 2;  // bytes that base::read_ordinary_numeric() may read
constexpr double kRowsInPageGuess = 64;
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
int64_t pin_limit() { return std::max<int64_t>(1, NBuffers / std::max(1, MaxBackends)); }

/// Those that all of its scans keep pinned while nothing is fed: half-read cursors have theirs for long.
int64_t pins_of_backend = 0;

/// The first block of the stripe that `block` is in. A group of the column cache is some stripes.
BlockNumber stripe_of(BlockNumber block) {
  const BlockNumber begin = group_begin(block);
  return begin + (block - begin) / kMostPages * kMostPages;
}

}  // namespace

/// Pages that are pinned or copied, their visible tuples, and the columns made of them.
struct HeapRows::Chunk {
  int64_t index = 0;
  int pages = 0;
  int64_t rows = 0;                   // known when the chunk has been read
  std::unique_ptr<uint8_t[]> copies;  // of the pages; nullptr: these are pinned, in `buffers`
  size_t copies_room = 0;             // pages
  std::vector<Buffer> buffers;
  std::vector<BlockNumber> blocks;
  std::vector<format::heap::PageRef> refs;
  std::vector<OffsetNumber>
      visible;  // MaxHeapTuplesPerPage for each page: items that the snapshot sees, where it was asked
  int64_t most_rows = 0;
  // Of the engine thread that reads the chunk.
  std::vector<int64_t> first_rows;                 // of each page
  std::vector<OffsetNumber> numbers;               // of each row's item in its page
  std::vector<std::unique_ptr<uint8_t[]>> memory;  // values and flags of each column
  int64_t capacity = 0;
  std::vector<format::heap::ColumnOut> out;
  std::vector<int64_t> table_oids;  // the values of tableoid, where it is wanted
  // Where the rows are kept: nothing of the above but `index` and `rows` then.
  bool is_kept = false;
  CachedTable::Kept kept;
  BlockNumber begin = 0;  // of the group
  // Where they will be.
  CachedTable::Fill* fill = nullptr;
  CachedTable::Part part;
  // What a device reads by itself: nothing of the above but `index`.
  std::shared_ptr<DirectPages> direct;
};

struct HeapRows::Kept {
  std::vector<ItemPointerData> rows;
};

bool heap_storage(const FormData_pg_attribute& attribute, TypeId type, Storage* storage) {
  using registry::Phys;
  const Phys phys = registry::type_info(type).phys;
  const bool numeric = type == TypeId::kNumeric || type == TypeId::kDecimal;
  if (attribute.attlen == -1) {
    if (phys != Phys::kStr && !numeric) return false;
    *storage = numeric ? Storage::kNumeric : Storage::kText;
    return true;
  }
  if (phys == Phys::kStr || numeric || attribute.attlen <= 0) return false;
  switch (type) {
    case TypeId::kOid:
    case TypeId::kEnum: *storage = Storage::kUnsigned4; return attribute.attlen == 4;
    case TypeId::kInt1: *storage = Storage::kInt1; return attribute.attlen == 1;
    case TypeId::kFloat2: *storage = Storage::kHalf; return attribute.attlen == 2;
    case TypeId::kChar: *storage = Storage::kUnsigned1; return attribute.attlen == 1;
    case TypeId::kMacaddr: *storage = Storage::kMac6; return attribute.attlen == 6;
    case TypeId::kMacaddr8: *storage = Storage::kMac8; return attribute.attlen == 8;
    case TypeId::kTimeTz: *storage = Storage::kWord12; return attribute.attlen == 12;
    default: break;
  }
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
    : relation_(relation),
      snapshot_(snapshot),
      table_name_(RelationGetRelationName(relation)),
      table_oid_(RelationGetRelid(relation)),
      attnums_(attnums) {
  const TupleDesc descriptor = RelationGetDescr(relation);
  std::vector<format::heap::WantedColumn> wanted;
  for (size_t i = 0; i < attnums.size(); ++i) {
    if (attnums[i] < 0) continue;
    Storage storage;
    if (!heap_storage(*TupleDescAttr(descriptor, attnums[i] - 1), types[i].type, &storage))
      throw boundary::StatusError(
          Status(ErrorCode::kInternal, "column of table \"" + table_name_ + "\" cannot be read"));
    wanted.push_back({attnums[i] - 1, storage});
    if (storage == Storage::kNumeric)
      numeric_scales_.push_back(types[i].type == TypeId::kDecimal ? base::kOwnScale : types[i].scale);
    else
      numeric_scales_.push_back(0);
    if (TupleDescAttr(descriptor, attnums[i] - 1)->atthasmissing) set_missing(types[i], &wanted.back());
  }
  set_decoder(std::move(wanted));
}

HeapRows::HeapRows(Relation relation, Snapshot snapshot, std::vector<format::heap::WantedColumn> wanted)
    : relation_(relation),
      snapshot_(snapshot),
      table_name_(RelationGetRelationName(relation)),
      table_oid_(RelationGetRelid(relation)),
      numeric_scales_(wanted.size()),
      uses_cache_(false) {
  for (const auto& column : wanted) attnums_.push_back(static_cast<AttrNumber>(column.attribute + 1));
  set_decoder(std::move(wanted));
}

void HeapRows::set_decoder(std::vector<format::heap::WantedColumn> wanted) {
  const TupleDesc descriptor = RelationGetDescr(relation_);
  for (int i = 0; i < descriptor->natts; ++i) {
    const FormData_pg_attribute& attribute = *TupleDescAttr(descriptor, i);
    layouts_.push_back({attribute.attlen, alignment_of(attribute.attalign)});
  }
  decoder_ = std::make_unique<const format::heap::TupleDecoder>(BLCKSZ, layouts_, std::move(wanted));
}

// The column was added with a default when there were rows already.
void HeapRows::set_missing(const engine::plan::ValueType& type, format::heap::WantedColumn* column) {
  struct Value {
    Datum datum;
    bool is_null;
  };
  const TupleDesc descriptor = RelationGetDescr(relation_);
  const auto attnum = static_cast<AttrNumber>(column->attribute + 1);
  const Value value = guard([=] {
    Value found;
    found.datum = getmissingattr(descriptor, attnum, &found.is_null);
    return found;
  });
  if (value.is_null) return;
  Missing& missing = missing_.emplace_back();
  bool held = true;
  if (column->storage == Storage::kNumeric)
    guard([&] { codec::stored_bytes(value.datum, &missing.bytes); });
  else
    held = codec::register_bytes(type.type, type.scale, value.datum, &missing.bytes) == codec::Encoded::kDone;
  missing.bytes.insert(0, kBeforeNumeric, '\0');
  missing.view = {missing.bytes.data() + kBeforeNumeric, static_cast<int64_t>(missing.bytes.size() - kBeforeNumeric)};
  column->missing_flag = held ? 0 : format::heap::kValueOfHost;
  const bool by_view = column->storage == Storage::kText || column->storage == Storage::kNumeric;
  column->missing = by_view ? static_cast<const void*>(&missing.view) : missing.view.ptr;
}

HeapRows::~HeapRows() { pins_of_backend -= pins_; }

int64_t HeapRows::total_rows() const {
  const Relation relation = relation_;
  const FormData_pg_class& statistics = *relation->rd_rel;
  const double in_page = statistics.reltuples > 0 && statistics.relpages > 0
                             ? static_cast<double>(statistics.reltuples) / statistics.relpages
                             : kRowsInPageGuess;
  const BlockNumber count = guard([=] { return RelationGetNumberOfBlocks(relation); });
  return static_cast<int64_t>(blocks_.chosen_of(count) * in_page);
}

// ---- The calling thread ----

int64_t HeapRows::limit(int threads) {
  const int64_t ready = kReadyPerThread * threads;
  threads_ = threads;
  const bool copies = RelationUsesLocalBuffers(relation_);
  most_pages_ =
      copies ? kMostPages : static_cast<int>(std::clamp<int64_t>(pin_limit() / (ready + threads), 1, kMostPages));
  return ready;
}

void HeapRows::start() {
  const Relation relation = relation_;
  const Snapshot snapshot = snapshot_;
  const BlockNumber count = guard([=] { return RelationGetNumberOfBlocks(relation); });
  if (sample_) blocks_.restrict_to(sample_->blocks(count));
  const BlockNumber chosen = blocks_.chosen_of(count);
  blocks_.begin(count);
  fetched_blocks_ += chosen;
  skipped_blocks_ += count - chosen;
  guard([&] {
    // The operating system reads ahead by itself where blocks follow each other.
    const int in_flight = chosen < count ? get_tablespace_io_concurrency(relation->rd_rel->reltablespace) : 1;
    read_ahead_ = static_cast<size_t>(std::max(1, in_flight));
    PredicateLockRelation(relation, snapshot);
    pgstat_count_heap_scan(relation);
    // As PostgreSQL's own scans: a large table does not push everything else out of the pool.
    if (!RelationUsesLocalBuffers(relation) && chosen > static_cast<BlockNumber>(NBuffers) / 4)
      strategy_ = GetAccessStrategy(BAS_BULKREAD);
  });
  const int chunks_of_stripe = (kMostPages + most_pages_ - 1) / most_pages_;
  const int most_pages = (kMostPages + chunks_of_stripe - 1) / chunks_of_stripe;
  pages_in_chunk_ = static_cast<int>(std::clamp<int64_t>(chosen, 1, most_pages));
  open_cache(count);
  open_direct(count);
  started_ = true;
}

// Of a table that is read whole. A device has no table's number.
void HeapRows::open_direct(BlockNumber pages) {
  buffers_until_ = 0;
  refusals_ = 0;
  const bool reads_columns_only = std::all_of(attnums_.begin(), attnums_.end(), [](AttrNumber n) { return n > 0; });
  if (!devices_read_ || !reads_columns_only || blocks_.is_restricted() || sample_ || pages < kLeastDirectBlocks) return;
  const Relation relation = relation_;
  const Snapshot snapshot = snapshot_;
  if (!guard([=] { return DirectBlocks::are_possible(relation, snapshot); })) return;
  direct_ = std::make_unique<DirectBlocks>(
      relation_, columnar::PageLayout{BLCKSZ, DataChecksumsEnabled(), layouts_, decoder_->wanted(), numeric_scales_});
}

// Of a table that is read whole.
void HeapRows::open_cache(BlockNumber pages) {
  if (!uses_cache_ || blocks_.is_restricted() || sample_) return;
  cache_ = CachedTable::open(relation_, snapshot_, pages, column_ids());
  group_end_ = 0;
  fill_ = nullptr;
}

// Of those that lie in tuples.
std::vector<ColumnId> HeapRows::column_ids() const {
  std::vector<ColumnId> columns;
  for (size_t i = 0; i < decoder_->wanted().size(); ++i)
    columns.push_back(column_id(decoder_->wanted()[i], numeric_scales_[i]));
  return columns;
}

columnar::RowsOrigin HeapRows::origin(const std::vector<uint32_t>& columns) const {
  if (!uses_cache_ || blocks_.is_restricted() || sample_) return {};
  const std::vector<ColumnId> all = column_ids();
  std::vector<ColumnId> wanted;
  for (const uint32_t column : columns) {
    if (attnums_[column] < 0) return {};
    const auto before = std::count_if(attnums_.begin(), attnums_.begin() + column, [](AttrNumber a) { return a < 0; });
    wanted.push_back(all[column - static_cast<size_t>(before)]);
  }
  const Relation relation = relation_;
  const BlockNumber pages = guard([=] { return RelationGetNumberOfBlocks(relation); });
  return CachedTable::origin(relation_, snapshot_, pages, wanted);
}

HeapRows::Chunk* HeapRows::new_chunk() {
  if (free_.empty()) {
    chunks_.push_back(std::make_unique<Chunk>());
    free_.push_back(chunks_.back().get());
  }
  Chunk* chunk = free_.back();
  if (const auto pages = static_cast<size_t>(pages_in_chunk_); chunk->buffers.size() < pages) {
    chunk->buffers.resize(pages);
    chunk->blocks.resize(pages);
    chunk->refs.resize(pages);
    chunk->visible.resize(pages * MaxHeapTuplesPerPage);
    chunk->first_rows.resize(pages);
  }
  make_copies_room(chunk);
  chunk->pages = 0;
  chunk->rows = 0;
  chunk->most_rows = 0;
  chunk->is_kept = false;
  chunk->fill = nullptr;
  chunk->direct.reset();
  return chunk;
}

// Buffers of temporary tables are few, and an application may leave many scans half read, of which PostgreSQL's own
// keep one page pinned: chunks of such copy their pages.
void HeapRows::make_copies_room(Chunk* chunk) const {
  const bool copies = RelationUsesLocalBuffers(relation_) || pins_of_backend + pages_in_chunk_ > pin_limit();
  const auto pages = static_cast<size_t>(copies ? pages_in_chunk_ : 0);
  if (copies && chunk->copies_room >= pages) return;
  chunk->copies.reset(copies ? new uint8_t[pages * BLCKSZ] : nullptr);
  chunk->copies_room = pages;
}

// Tells the operating system about blocks that will be read, as long as the pool does not have those before them. May
// ereport.
BlockNumber HeapRows::next_block() {
  while (upcoming_.size() < read_ahead_ && !blocks_.at_end()) {
    upcoming_.push_back(blocks_.next());
    if (misses_ > 0 && read_ahead_ > 1) PrefetchBuffer(relation_, MAIN_FORKNUM, upcoming_.back());
  }
  const BlockNumber block = upcoming_.front();
  upcoming_.pop_front();
  return block;
}

// Neighbours in the table are often neighbours in the pool. May ereport.
Buffer HeapRows::pin_page(BlockNumber block) {
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
int HeapRows::list_visible(BlockNumber block, Buffer buffer, OffsetNumber last, OffsetNumber* visible) {
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

// Takes over the pin. May ereport.
const uint8_t* HeapRows::hold_page(Chunk* chunk, Buffer buffer) {
  const auto place = static_cast<size_t>(chunk->pages);
  const auto* page = reinterpret_cast<const uint8_t*>(BufferGetPage(buffer));
  if (chunk->copies == nullptr) {
    chunk->buffers[place] = buffer;
    ++pins_;
    ++pins_of_backend;
    return page;
  }
  uint8_t* copy = chunk->copies.get() + place * BLCKSZ;
  std::memcpy(copy, page, BLCKSZ);
  ReleaseBuffer(buffer);
  return copy;
}

// Notes the visible tuples of a pinned page; without any, the page is not kept. May ereport.
void HeapRows::load_page(Chunk* chunk, BlockNumber block, Buffer buffer) {
  heap_page_prune_opt(relation_, buffer);
  LockBuffer(buffer, BUFFER_LOCK_SHARE);
  const Page page = BufferGetPage(buffer);
  compat::check_snapshot_age(snapshot_, relation_, page);
  const auto place = static_cast<size_t>(chunk->pages);
  OffsetNumber* visible = nullptr;
  OffsetNumber count = std::min<OffsetNumber>(PageGetMaxOffsetNumber(page), kMostItems);
  // All that is there now is visible. What comes later gets new items behind these, unless there are some to be used
  // again.
  if (!PageIsAllVisible(page) || snapshot_->takenDuringRecovery || PageHasFreeLinePointers(page) || sample_) {
    visible = chunk->visible.data() + place * MaxHeapTuplesPerPage;
    count = static_cast<OffsetNumber>(list_visible(block, buffer, count, visible));
  }
  if (fill_ != nullptr && !PageIsAllVisible(page)) fill_->dropped = true;
  LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
  if (count == 0) {
    ReleaseBuffer(buffer);
    return;
  }
  chunk->blocks[place] = block;
  chunk->refs[place] = {hold_page(chunk, buffer), visible, count};
  chunk->most_rows += count;
  ++chunk->pages;
}

// Pins some pages before the first is looked at, so that their headers are on their way. May ereport.
void HeapRows::load_pages(Chunk* chunk) {
  Buffer buffers[kPinnedAhead];
  BlockNumber blocks[kPinnedAhead];
  const int room = std::min(chunk->copies != nullptr ? 1 : kPinnedAhead, pages_in_chunk_ - chunk->pages);
  int count = 0;
  for (; count < room && !at_chunk_end(); ++count) {
    blocks[count] = next_block();
    buffers[count] = pin_page(blocks[count]);
  }
  for (int i = 0; i < count; ++i) load_page(chunk, blocks[i], buffers[i]);
}

bool HeapRows::feed() {
  if (!started_) start();
  unpin_released();
  if (!returned_.empty()) return feed_returned();
  if (at_end()) {
    if (free_.size() == chunks_.size()) drop_chunks();
    return false;
  }
  Chunk* chunk = new_chunk();
  if (cache_ != nullptr && blocks_.position() >= group_end_ && feed_kept(chunk)) return true;
  if (direct_ != nullptr && blocks_.position() >= buffers_until_ && feed_direct(chunk)) return true;
  guard([&] {
    stripe_ = InvalidBlockNumber;
    while (!at_chunk_end() && chunk->pages < pages_in_chunk_) {
      if (stripe_ == InvalidBlockNumber)
        stripe_ = stripe_of(upcoming_.empty() ? blocks_.position() : upcoming_.front());
      load_pages(chunk);
      if (InterruptPending) break;  // the chunk may be empty then; the caller looks at it before it asks again
    }
  });
  if (chunk->pages == 0 && fill_ == nullptr && at_end()) return false;
  add_to_cache(chunk);
  activate(chunk);
  return true;
}

void HeapRows::activate(Chunk* chunk) {
  free_.pop_back();
  std::lock_guard lock(mutex_);
  chunk->index = next_chunk_++;
  active_[chunk->index] = chunk;
}

HeapRows::NextGroup HeapRows::look_up_group(BlockNumber begin) {
  if (next_group_ && next_group_->begin == begin) return *std::exchange(next_group_, std::nullopt);
  NextGroup group{begin, std::min(group_end(begin), blocks_.count())};
  group.is_kept = cache_->look_up(begin, group.end, &group.kept, &group.fill);
  return group;
}

// At the beginning of a group: true when the chunk is the whole of it.
bool HeapRows::feed_kept(Chunk* chunk) {
  NextGroup group = look_up_group(blocks_.position());
  chunk->begin = group.begin;
  group_end_ = group.end;
  fill_ = group.fill;
  if (!group.is_kept) return false;
  chunk->kept = std::move(group.kept);
  chunk->is_kept = true;
  chunk->rows = format::heap::RowPlaces::rows(chunk->kept.places);
  blocks_.skip_to(group_end_);
  kept_blocks_ += group_end_ - chunk->begin;
  activate(chunk);
  return true;
}

// Up to where devices may read, when that are to be `most` blocks: not what is kept on the host, or is to be kept and
// has to come by there.
BlockNumber HeapRows::direct_end(BlockNumber most) {
  if (cache_ == nullptr) return blocks_.count();
  while (group_end_ < blocks_.count() && group_end_ - blocks_.position() < most) {
    next_group_ = look_up_group(group_end_);
    if (next_group_->is_kept || next_group_->fill != nullptr) break;
    group_end_ = next_group_->end;
  }
  return group_end_;
}

// True when the chunk is for a device to read.
bool HeapRows::feed_direct(Chunk* chunk) {
  if (fill_ != nullptr && cache_->is_full()) {
    fill_->dropped = true;
    cache_->end_feeding(std::exchange(fill_, nullptr));
  }
  if (fill_ != nullptr) {
    buffers_until_ = group_end_;
    return false;
  }
  const auto share = blocks_.count() / static_cast<BlockNumber>(kReadyPerThread * threads_);
  const BlockNumber most = std::clamp(share, kLeastDirectBlocks, kMostDirectBlocks);
  chunk->direct = direct_->take(blocks_.position(), direct_end(most), most, &buffers_until_);
  if (chunk->direct == nullptr) return false;
  blocks_.skip_to(chunk->direct->first_block() + chunk->direct->pages());
  ++direct_chunks_;
  activate(chunk);
  return true;
}

// Blocks that a device has not read, of any group.
bool HeapRows::feed_returned() {
  Chunk* chunk = new_chunk();
  CachedTable::Fill* const fill = std::exchange(fill_, nullptr);
  guard([&] {
    for (; !returned_.empty() && chunk->pages < pages_in_chunk_; returned_.pop_front())
      load_page(chunk, returned_.front(), pin_page(returned_.front()));
  });
  fill_ = fill;
  activate(chunk);
  return true;
}

// A chunk that a device has read is released.
void HeapRows::take_back(const DirectPages& direct) {
  --direct_chunks_;
  const auto given_back = static_cast<int64_t>(direct.given_back().size());
  direct_blocks_ += direct.pages() - given_back;
  returned_.insert(returned_.end(), direct.given_back().begin(), direct.given_back().end());
  refusals_ = given_back * 2 > direct.pages() ? refusals_ + 1 : 0;
  if (refusals_ < kMostRefusals || direct_ == nullptr) return;
  direct_->close();
  direct_.reset();
}

// The chunk has its pages, and its group is to be kept.
void HeapRows::add_to_cache(Chunk* chunk) {
  if (fill_ == nullptr) return;
  if (!fill_->dropped) {
    chunk->fill = fill_;
    ++fill_->chunks;
  }
  if (at_group_end()) cache_->end_feeding(std::exchange(fill_, nullptr));
}

// A table of a thousand partitions would keep the memory of all of them. Nothing is being read.
void HeapRows::drop_chunks() {
  free_.clear();
  chunks_.clear();
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
    if (chunk->direct != nullptr) chunk->rows = chunk->direct->rows();
    if (declined) keep(*chunk);
    if (chunk->fill != nullptr) cache_->add(chunk->fill, chunk->index, std::move(chunk->part));
    guard([this, chunk] {
      unpin(*chunk);
      compat::count_scanned_rows(relation_, chunk->rows);
    });
    if (chunk->direct != nullptr) take_back(*chunk->direct);
    free_.push_back(chunk);
  }
}

// May ereport.
void HeapRows::unpin(const Chunk& chunk) {
  for (int i = 0; i < chunk.pages && chunk.copies == nullptr; ++i) {
    --pins_;
    --pins_of_backend;
    ReleaseBuffer(chunk.buffers[i]);
  }
  if (chunk.direct != nullptr) chunk.direct->release();
}

void HeapRows::keep(const Chunk& chunk) {
  std::vector<ItemPointerData>& rows = kept_[chunk.index].rows;
  rows.resize(static_cast<size_t>(chunk.rows));
  for (int64_t i = 0; i < chunk.rows; ++i) rows[static_cast<size_t>(i)] = place_of(chunk, i);
}

ItemPointerData HeapRows::place_of(const Chunk& chunk, int64_t row) const {
  ItemPointerData place;
  if (chunk.direct != nullptr) return chunk.direct->place_of(row);
  if (chunk.is_kept) {
    const auto found = format::heap::RowPlaces::find(chunk.kept.places, row);
    ItemPointerSet(&place, chunk.begin + found.page, found.item);
    return place;
  }
  const auto begin = chunk.first_rows.begin();
  const auto page = static_cast<size_t>(std::upper_bound(begin, begin + chunk.pages, row) - begin - 1);
  ItemPointerSet(&place, chunk.blocks[page], chunk.numbers[static_cast<size_t>(row)]);
  return place;
}

HeapTupleData HeapRows::tuple(int64_t index, int64_t row) const {
  const Chunk* chunk = active(index);
  HeapTupleData tuple;
  tuple.t_self = place_of(*chunk, row);
  tuple.t_tableOid = table_oid_;
  const auto begin = chunk->first_rows.begin();
  const auto page = static_cast<size_t>(std::upper_bound(begin, begin + chunk->pages, row) - begin - 1);
  auto* bytes = reinterpret_cast<Page>(const_cast<uint8_t*>(chunk->refs[page].bytes));
  const ItemId item = PageGetItemId(bytes, ItemPointerGetOffsetNumber(&tuple.t_self));
  tuple.t_data = reinterpret_cast<HeapTupleHeader>(PageGetItem(bytes, item));
  tuple.t_len = ItemIdGetLength(item);
  return tuple;
}

void HeapRows::close() {
  if (cache_ != nullptr) unpin_released();
  for (const auto& [index, chunk] : active_) {
    guard([this, chunk = chunk] { unpin(*chunk); });
    free_.push_back(chunk);
  }
  if (direct_ != nullptr) direct_->close();
  direct_.reset();
  next_group_.reset();
  returned_.clear();
  direct_chunks_ = 0;
  active_.clear();
  released_.clear();
  kept_.clear();
  to_forget_.clear();
  if (strategy_ != nullptr) guard([this] { FreeAccessStrategy(strategy_); });
  strategy_ = nullptr;
  if (cache_ != nullptr) cache_->close();
  cache_.reset();
  started_ = false;
  last_buffer_ = InvalidBuffer;
  next_chunk_ = 0;
  upcoming_.clear();
}

// ---- Engine threads ----

HeapRows::Chunk* HeapRows::active(int64_t index) const {
  std::lock_guard lock(mutex_);
  const auto found = active_.find(index);
  return found == active_.end() ? nullptr : found->second;
}

void HeapRows::make_room(Chunk* chunk) const {
  for (auto& out : chunk->out) out.has_flags = out.has_packed = false;
  const int64_t needed = std::max<int64_t>(chunk->most_rows, 1);  // pages without rows, too, make columns
  if (chunk->capacity >= needed) return;
  chunk->capacity = needed + needed / 4;
  const auto rows = static_cast<size_t>(chunk->capacity + kPadding);
  chunk->numbers.resize(rows);
  if (std::count(attnums_.begin(), attnums_.end(), TableOidAttributeNumber) > 0)
    chunk->table_oids.assign(rows, table_oid_);
  chunk->memory.clear();
  chunk->out.clear();
  for (const auto& column : decoder_->wanted()) {
    // new[] aligns to 16, which is what the widest values need.
    const size_t bytes = rows * static_cast<size_t>(storage_width(column.storage));
    chunk->memory.push_back(std::unique_ptr<uint8_t[]>(new uint8_t[bytes + rows]));
    chunk->out.push_back({chunk->memory.back().get(), chunk->memory.back().get() + bytes, false});
  }
}

Status HeapRows::decode(Chunk* chunk) const {
  const auto pages = static_cast<size_t>(chunk->pages);
  for (size_t i = 0; i < std::min<size_t>(kPagesInCache, pages); ++i) decoder_->prefetch(chunk->refs[i].bytes);
  int64_t row = 0;
  for (size_t i = 0; i < pages; ++i) {
    const uint8_t* next = i + kPagesInCache < pages ? chunk->refs[i + kPagesInCache].bytes : nullptr;
    const format::heap::PageRows some =
        decoder_->decode(chunk->refs[i], next, row, chunk->capacity, chunk->numbers.data(), chunk->out.data());
    if (some.bad_item != 0)
      return Status(ErrorCode::kCorruptFile, "item " + std::to_string(some.bad_item) + " of block " +
                                                 std::to_string(chunk->blocks[i]) + " of table \"" + table_name_ +
                                                 "\" is damaged");
    chunk->first_rows[i] = row;
    row += some.rows;
  }
  chunk->rows = row;
  if (chunk->fill != nullptr) make_part(chunk);
  return Status::ok();
}

void HeapRows::make_part(Chunk* chunk) const {
  CachedTable::Part& part = chunk->part;
  part.take(*decoder_, numeric_scales_, chunk->out, chunk->rows);
  part.blocks.assign(chunk->blocks.begin(), chunk->blocks.begin() + chunk->pages);
  part.first_rows.assign(chunk->first_rows.begin(), chunk->first_rows.begin() + chunk->pages);
  part.numbers.assign(chunk->numbers.begin(), chunk->numbers.begin() + chunk->rows);
}

columnar::BatchView HeapRows::view_kept(Chunk* chunk) const {
  columnar::BatchView view;
  view.rows = chunk->rows;
  size_t i = 0;  // in chunk->kept
  for (const AttrNumber attnum : attnums_) {
    if (attnum < 0) chunk->table_oids.assign(static_cast<size_t>(chunk->rows + kPadding), table_oid_);
    view.columns.push_back(attnum < 0 ? table_oid_view(*chunk) : chunk->kept.columns[i++]);
  }
  if (i == attnums_.size()) view.origin = chunk->kept.origin;  // which numbers columns of the cache only
  return view;
}

columnar::ColumnView HeapRows::table_oid_view(const Chunk& chunk) {
  columnar::ColumnView column;
  column.is_register = true;
  column.length = chunk.rows;
  column.values = chunk.table_oids.data();
  return column;
}

Result<columnar::BatchView> HeapRows::chunk(int64_t index) const {
  Chunk* chunk = active(index);
  if (chunk->is_kept) return view_kept(chunk);
  if (chunk->direct != nullptr) {
    columnar::BatchView view;
    view.rows = 0;
    view.pages = chunk->direct;
    return view;
  }
  make_room(chunk);
  STROM_TRY(decode(chunk));
  columnar::BatchView view;
  view.rows = chunk->rows;
  size_t i = 0;  // in chunk->out
  for (const AttrNumber attnum : attnums_) {
    if (attnum < 0) {
      view.columns.push_back(table_oid_view(*chunk));
      continue;
    }
    columnar::ColumnView column;
    column.is_register = true;
    column.length = chunk->rows;
    const format::heap::ColumnOut& out = chunk->out[i];
    column.values = out.values;
    column.flags = out.has_flags ? out.flags : nullptr;
    column.has_packed = out.has_packed;
    column.is_stored_numeric = decoder_->wanted()[i].storage == Storage::kNumeric;
    column.scale = numeric_scales_[i++];
    view.columns.push_back(column);
  }
  return view;
}

void HeapRows::release(int64_t chunk, bool declined) {
  std::lock_guard lock(mutex_);
  released_.emplace_back(chunk, declined);
}

std::string HeapRows::describe(int64_t) const { return "table \"" + table_name_ + "\""; }

bool HeapRows::at_stripe_end() const {
  if (stripe_ == InvalidBlockNumber || blocks_.is_restricted() || sample_) return false;
  return stripe_of(upcoming_.empty() ? blocks_.position() : upcoming_.front()) != stripe_;
}

// What is kept is cut as it would be if it were read.
std::vector<engine::exec::ChunkSource::Stripe> HeapRows::stripes(int64_t index) const {
  const Chunk* chunk = active(index);
  if (!chunk->is_kept) return {{0, chunk->pages > 0 ? stripe_of(chunk->blocks[0]) / kMostPages : 0}};
  std::vector<Stripe> stripes;
  const int64_t pages = format::heap::RowPlaces::pages(chunk->kept.places);
  for (int64_t page = 0; page < pages; page += kMostPages)
    stripes.push_back({format::heap::RowPlaces::first_row(chunk->kept.places, page),
                       stripe_of(chunk->begin + static_cast<BlockNumber>(page)) / kMostPages});
  return stripes;
}

uint64_t HeapRows::place(int64_t index) const {
  const Chunk* chunk = active(index);
  const BlockNumber first = chunk->is_kept             ? chunk->begin
                            : chunk->direct != nullptr ? chunk->direct->first_block()
                                                       : chunk->blocks[0];
  return static_cast<uint64_t>(table_oid_) << 32 | first;
}

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
    position = place_of(*active(index), row);
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
      values[i] = heap_getattr(&tuple, attnums[i], descriptor, &nulls[i]);
      if (nulls[i] || attnums[i] < 0) continue;
      const Form_pg_attribute attribute = TupleDescAttr(descriptor, attnums[i] - 1);
      values[i] = datumCopy(values[i], attribute->attbyval, attribute->attlen);
    }
    MemoryContextSwitchTo(caller);
    ReleaseBuffer(buffer);
  });
}

}  // namespace strom::pg::source
