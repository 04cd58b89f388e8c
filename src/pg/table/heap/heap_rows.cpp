#include "pg/table/heap/heap_rows.hpp"

#include <algorithm>
#include <filesystem>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/heap.hpp"
#include "pg/explain/lines.hpp"
#include "pg/table/heap/block_ranges.hpp"

namespace strom::pg::table {

using boundary::guard;

namespace {
constexpr double kRowsInPageGuess = 64;
}

HeapRows::HeapRows(Relation relation, Snapshot snapshot, const std::vector<AttrNumber>& attnums,
                   const std::vector<engine::plan::ValueType>& types)
    : relation_(relation),
      snapshot_(snapshot),
      columns_(relation, attnums, types),
      uses_cache_(true),
      feeder_(std::make_unique<source::RowFeeder<HeapRows>>(*this)),
      reader_(relation, snapshot) {}

HeapRows::HeapRows(Relation relation, Snapshot snapshot, std::vector<format::heap::WantedColumn> wanted)
    : relation_(relation),
      snapshot_(snapshot),
      columns_(relation, std::move(wanted)),
      uses_cache_(false),
      feeder_(std::make_unique<source::RowFeeder<HeapRows>>(*this)),
      reader_(relation, snapshot) {}

int64_t HeapRows::total_rows() const {
  const FormData_pg_class& statistics = *relation_->rd_rel;
  const double in_page = statistics.reltuples > 0 && statistics.relpages > 0
                             ? static_cast<double>(statistics.reltuples) / statistics.relpages
                             : kRowsInPageGuess;
  return static_cast<int64_t>(reader_.chosen_blocks() * in_page);
}

columnar::RowsOrigin HeapRows::origin(const std::vector<uint32_t>& columns) const {
  if (!uses_cache_ || !reader_.reads_whole_table()) return {};
  const std::vector<ColumnId> wanted = columns_.ids_of(columns);
  if (wanted.size() != columns.size()) return {};
  const Relation relation = relation_;
  const BlockNumber pages = guard([=] { return RelationGetNumberOfBlocks(relation); });
  return CachedTable::origin(relation_, snapshot_, pages, wanted);
}

// A table's files may be anywhere in its tablespace.
std::string HeapRows::storage() const {
  const Oid space = relation_->rd_rel->reltablespace;
  if (!OidIsValid(space)) return DataDir;
  std::error_code error;
  const auto folder = std::filesystem::canonical(std::string(DataDir) + "/pg_tblspc/" + std::to_string(space), error);
  return error ? DataDir : folder.string();
}

int64_t HeapRows::stored_bytes() const {
  const Relation relation = relation_;
  return guard([=] { return int64_t{RelationGetNumberOfBlocks(relation)}; }) * BLCKSZ;
}

void HeapRows::select_blocks(PlanState* selector) {
  if (IsA(selector, SampleScanState))
    reader_.take_sample(TableSample(reinterpret_cast<SampleScanState*>(selector)));
  else
    read_only(block_ranges(selector));
}

void HeapRows::tell_extent(Extent* extent) const {
  const int64_t done = reader_.blocks_done(), count = reader_.block_count();
  *extent = {done, count, done * BLCKSZ, count * BLCKSZ};
}

// Shows how devices got the table's pages (from its files or through shared buffers), and what the column cache
// provided.
void HeapRows::explain_runs(ExplainState* es) const {
  const int64_t direct = device_.count(), others = fetched_blocks_ - cached_blocks_;
  if (device_.are_allowed())
    explain::explain_counts(es, "GPU Blocks", "GPU Blocks", nullptr,
                            {{"Direct", direct}, {"Buffers", others - direct}});
  explain::explain_cached(es, "Pages", cached_blocks_, "Read", others, cache_.filled_pages());
}

// ---- The calling thread ----

int64_t HeapRows::limit(int threads) {
  device_.set_threads(threads);
  return reader_.limit(threads);
}

void HeapRows::start() {
  const auto [count, chosen] = reader_.begin();
  fetched_blocks_ += chosen;
  skipped_blocks_ += count - chosen;
  if (reader_.reads_whole_table()) {
    if (uses_cache_) cache_.open(relation_, snapshot_, count, columns_.ids());
    // A device does not know the table's OID.
    if (columns_.are_stored()) device_.open(relation_, snapshot_, count, columns_.page_layout());
  }
  started_ = true;
}

bool HeapRows::feed() {
  if (!started_) start();
  take_back_released();
  if (!device_.returned().empty()) return feed_returned();
  if (reader_.at_end()) {
    if (active_.empty()) reader_.drop_spare_chunks();
    return false;
  }
  if (cache_.is_open() && reader_.position() >= cache_.group_end() && feed_cached()) return true;
  if (device_.is_open() && reader_.position() >= device_.buffers_until() && feed_device()) return true;
  return feed_pages();
}

// At the beginning of a group: true if the chunk is a whole cached group.
bool HeapRows::feed_cached() {
  std::optional<CachedChunk> chunk = cache_.next(reader_.position());
  if (!chunk) return false;
  reader_.skip_to(cache_.group_end());
  cached_blocks_ += cache_.group_end() - chunk->begin;
  activate({0, *std::move(chunk)});
  return true;
}

// True if a device reads the chunk.
bool HeapRows::feed_device() {
  if (cache_.is_filling()) {
    device_.leave_to_buffers(cache_.group_end());
    return false;
  }
  const BlockNumber begin = reader_.position();
  const BlockNumber end = cache_.is_open() ? cache_.device_end(begin, device_.wanted_blocks()) : reader_.block_count();
  std::optional<DeviceChunk> chunk = device_.take(begin, end);
  if (!chunk) return false;
  reader_.skip_to(chunk->pages->first_block() + chunk->pages->pages());
  activate({0, *std::move(chunk)});
  return true;
}

// Feeds blocks, of any group, that a device could not read.
bool HeapRows::feed_returned() {
  std::unique_ptr<PageChunk> chunk = reader_.new_chunk();
  reader_.load(chunk.get(), &device_.returned());
  activate({0, std::move(chunk)});
  return true;
}

bool HeapRows::feed_pages() {
  std::unique_ptr<PageChunk> chunk = reader_.new_chunk();
  const BlockNumber end =
      device_.is_open() ? std::min(cache_.group_end(), device_.buffers_until()) : cache_.group_end();
  reader_.load(chunk.get(), end);
  if (chunk->pages == 0 && reader_.at_end() && !cache_.has_open_fill()) {
    reader_.take_back(std::move(chunk));
    return false;
  }
  cache_.add_pages(chunk.get(), reader_.at_end() || reader_.position() >= end);
  activate({0, std::move(chunk)});
  return true;
}

void HeapRows::activate(HeapChunk chunk) {
  std::lock_guard lock(mutex_);
  chunk.index = next_chunk_++;
  const int64_t index = chunk.index;
  active_[index] = std::make_unique<HeapChunk>(std::move(chunk));
}

void HeapRows::take_back_released() {
  std::vector<std::pair<int64_t, bool>> released;
  {
    std::lock_guard lock(mutex_);
    released.swap(released_);
  }
  for (const auto& [index, has_fallback] : released) {
    std::unique_ptr<HeapChunk> chunk;
    {
      std::lock_guard lock(mutex_);
      chunk = std::move(active_.extract(index).mapped());
    }
    take_back(std::move(chunk), has_fallback);
  }
}

void HeapRows::take_back(std::unique_ptr<HeapChunk> chunk, bool has_fallback) {
  const int64_t rows = chunk->rows();
  if (has_fallback) {
    std::vector<ItemPointerData>& tids = fallback_tids_[chunk->index];
    tids.resize(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) tids[static_cast<size_t>(i)] = chunk->tid_of(i);
  }
  PageChunk* pages = chunk->pages();
  if (pages != nullptr && pages->fill != nullptr) cache_.add_columns(pages, chunk->index);
  const auto* device = std::get_if<DeviceChunk>(&chunk->content);
  guard([=, this] { compat::count_scanned_rows(relation_, rows); });
  let_go(chunk.get());
  if (device != nullptr) device_.take_back(*device->pages);
}

void HeapRows::let_go(HeapChunk* chunk) {
  if (const auto* device = std::get_if<DeviceChunk>(&chunk->content)) {
    DirectPages* pages = device->pages.get();
    guard([pages] { pages->release(); });
  } else if (PageChunk* pages = chunk->pages()) {
    guard([this, pages] { reader_.release(*pages); });
    reader_.take_back(std::move(std::get<std::unique_ptr<PageChunk>>(chunk->content)));
  }
}

void HeapRows::close() {
  if (cache_.is_open()) take_back_released();
  for (const auto& [index, chunk] : active_) let_go(chunk.get());
  active_.clear();
  released_.clear();
  fallback_tids_.clear();
  to_forget_.clear();
  device_.close();
  reader_.close();
  cache_.close();
  started_ = false;
  next_chunk_ = 0;
}

HeapTupleData HeapRows::tuple(int64_t index, int64_t row) const {
  const PageChunk* chunk = active(index)->pages();
  HeapTupleData tuple;
  tuple.t_self = chunk->tid_of(row);
  tuple.t_tableOid = columns_.table_oid();
  tuple.t_data = chunk->tuple_of(row, &tuple.t_len);
  return tuple;
}

// ---- Engine threads ----

HeapChunk* HeapRows::active(int64_t index) const {
  std::lock_guard lock(mutex_);
  const auto found = active_.find(index);
  return found == active_.end() ? nullptr : found->second.get();
}

Result<columnar::BatchView> HeapRows::chunk(int64_t index) const {
  HeapChunk* chunk = active(index);
  if (auto* cached = std::get_if<CachedChunk>(&chunk->content)) return columns_.view(cached);
  if (PageChunk* pages = chunk->pages()) {
    STROM_TRY(columns_.decode(pages));
    return columns_.view(*pages);
  }
  columnar::BatchView view;
  view.rows = 0;
  view.pages = std::get<DeviceChunk>(chunk->content).pages;
  return view;
}

void HeapRows::release(int64_t chunk, bool has_fallback) {
  std::lock_guard lock(mutex_);
  released_.emplace_back(chunk, has_fallback);
}

std::string HeapRows::describe(int64_t) const { return "table \"" + columns_.table_name() + "\""; }

uint64_t HeapRows::cache_key(int64_t index) const {
  return static_cast<uint64_t>(columns_.table_oid()) << 32 | active(index)->first_block();
}

// ---- Fallback rows ----

// Chunks that are released already have reported all their fallback rows before the caller asks for these.
void HeapRows::begin_fallback() {
  take_back_released();
  to_forget_.clear();
  for (const auto& [index, tids] : fallback_tids_) to_forget_.push_back(index);
}

void HeapRows::end_fallback() {
  for (const int64_t index : to_forget_) fallback_tids_.erase(index);
  to_forget_.clear();
}

void HeapRows::read(int64_t index, int64_t row, MemoryContext memory, Datum* values, bool* nulls) {
  const auto found = fallback_tids_.find(index);
  ItemPointerData tid =
      found != fallback_tids_.end() ? found->second[static_cast<size_t>(row)] : active(index)->tid_of(row);
  const Relation relation = relation_;
  const Snapshot snapshot = snapshot_;
  const AttrNumber* attnums = columns_.attnums().data();
  const size_t count = columns_.attnums().size();
  guard([=] {
    HeapTupleData tuple;
    Buffer buffer;
    tuple.t_self = tid;
    if (!heap_fetch(relation, snapshot, &tuple, &buffer, false))
      elog(ERROR, "row (%u,%u) of table \"%s\" is gone", ItemPointerGetBlockNumber(&tid),
           ItemPointerGetOffsetNumber(&tid), RelationGetRelationName(relation));
    const TupleDesc descriptor = RelationGetDescr(relation);
    MemoryContext caller = MemoryContextSwitchTo(memory);
    for (size_t i = 0; i < count; ++i) {
      values[i] = heap_getattr(&tuple, attnums[i], descriptor, &nulls[i]);
      if (attnums[i] == SelfItemPointerAttributeNumber)
        values[i] = datumCopy(values[i], false, sizeof(ItemPointerData));
      if (nulls[i] || attnums[i] < 0) continue;
      const Form_pg_attribute attribute = TupleDescAttr(descriptor, attnums[i] - 1);
      values[i] = datumCopy(values[i], attribute->attbyval, attribute->attlen);
    }
    MemoryContextSwitchTo(caller);
    ReleaseBuffer(buffer);
  });
}

}  // namespace strom::pg::table
