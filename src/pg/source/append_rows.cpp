#include "pg/source/append_rows.hpp"

#include <algorithm>

#include "engine/block/hash.hpp"

namespace strom::pg::source {

void AppendRows::choose(const std::vector<size_t>& leaves, pruning::ChunkFilter* filter) {
  close();
  chosen_.clear();
  fed_ = false;
  for (const size_t index : leaves) {
    Leaf& leaf = leaves_[index];
    if (leaf.rows == nullptr) leaf.rows = open_(index);
    if (filter != nullptr) leaf.rows->restrict_to(*filter);
    chosen_.push_back(&leaf);
    fed_ = fed_ || leaf.rows->feeder() != nullptr;
  }
  if (fed_) return;
  for (Leaf* leaf : chosen_) {
    parts_.push_back({chunk_count_, leaf});
    chunk_count_ += leaf->rows->chunk_count();
  }
}

AppendRows::Part AppendRows::part_of(int64_t chunk) const {
  std::lock_guard lock(mutex_);
  const auto behind = std::upper_bound(parts_.begin(), parts_.end(), chunk,
                                       [](int64_t index, const Part& part) { return index < part.first; });
  return *(behind - 1);
}

int64_t AppendRows::chunk_rows(int64_t index) const {
  const Part part = part_of(index);
  return part.leaf->rows->chunk_rows(index - part.first);
}

int64_t AppendRows::total_rows() const {
  int64_t rows = 0;
  for (const Leaf* leaf : chosen_) rows += leaf->rows->total_rows();
  return rows;
}

int64_t AppendRows::loadable_columns(int64_t index) const {
  const Part part = part_of(index);
  return part.leaf->slices.empty() ? part.leaf->rows->loadable_columns(index - part.first) : 0;
}

void AppendRows::load_column(int64_t index, int64_t column) const {
  const Part part = part_of(index);
  part.leaf->rows->load_column(index - part.first, column);
}

Result<columnar::BatchView> AppendRows::chunk(int64_t index) const {
  const Part part = part_of(index);
  const int64_t own = index - part.first;
  if (part.leaf->slices.empty()) return part.leaf->rows->chunk(own);
  const Slice& slice = part.leaf->slices[static_cast<size_t>(own)];
  STROM_ASSIGN(auto view, part.leaf->rows->chunk(slice.chunk));
  view.begin = slice.begin;
  view.rows = slice.rows;
  return view;
}

std::string AppendRows::describe(int64_t index) const {
  const Part part = part_of(index);
  const int64_t own = index - part.first;
  return part.leaf->rows->describe(part.leaf->slices.empty() ? own : part.leaf->slices[static_cast<size_t>(own)].chunk);
}

uint64_t AppendRows::cache_key(int64_t index) const {
  const Part part = part_of(index);
  const int64_t own = index - part.first;
  if (part.leaf->slices.empty()) return part.leaf->rows->cache_key(own);
  const Slice& slice = part.leaf->slices[static_cast<size_t>(own)];
  return engine::block::combine(part.leaf->rows->cache_key(slice.chunk), static_cast<uint64_t>(slice.begin));
}

std::vector<engine::op::ChunkSource::Stripe> AppendRows::stripes(int64_t index) const {
  const Part part = part_of(index);
  const int64_t own = index - part.first;
  if (!part.leaf->slices.empty()) return {{0, static_cast<uint64_t>(own)}};
  std::vector<Stripe> stripes = part.leaf->rows->stripes(own);
  for (Stripe& stripe : stripes) stripe.number += static_cast<uint64_t>(part.leaf - leaves_.data());
  return stripes;
}

uint32_t AppendRows::storage_index(int64_t index) const {
  return static_cast<uint32_t>(part_of(index).leaf - leaves_.data());
}

bool AppendRows::stable_text() const {
  return !fed_ &&
         std::all_of(chosen_.begin(), chosen_.end(), [](const Leaf* leaf) { return leaf->rows->stable_text(); });
}

bool AppendRows::has_bounds(uint32_t column) const {
  return std::any_of(chosen_.begin(), chosen_.end(), [=](const Leaf* leaf) { return leaf->rows->has_bounds(column); });
}

bool AppendRows::may_hold(int64_t index, uint32_t column, const engine::op::KeyRange& keys) const {
  const Part part = part_of(index);
  return part.leaf->rows->may_hold(index - part.first, column, keys);
}

columnar::RowsOrigin AppendRows::origin(const std::vector<uint32_t>& columns) const {
  columnar::RowsOrigin all{"A", ""};
  for (const Leaf* leaf : chosen_) {
    const columnar::RowsOrigin one = leaf->rows->origin(columns);
    if (one.name.empty()) return {};
    columnar::append_name(&all.name, static_cast<uint64_t>(one.name.size()));
    all.name += one.name;
    if (all.label.empty()) all.label = one.label;
  }
  return all;
}

int64_t AppendRows::skipped_chunks() const {
  int64_t skipped = 0;
  for (const Leaf* leaf : chosen_) skipped += leaf->rows->skipped_chunks();
  return skipped;
}

std::vector<const pruning::ChunkStatistics*> AppendRows::statistics() const {
  std::vector<const pruning::ChunkStatistics*> tables;
  for (const Leaf& leaf : leaves_) {
    if (leaf.rows == nullptr) continue;
    for (const pruning::ChunkStatistics* table : leaf.rows->statistics()) tables.push_back(table);
  }
  return tables;
}

void AppendRows::require_types(const std::vector<engine::plan::ValueType>& types) const {
  for (const Leaf* leaf : chosen_) leaf->rows->require_types(types);
}

void AppendRows::begin_run() {
  for (Leaf* leaf : chosen_) leaf->rows->begin_run();
}

Status AppendRows::unchanged() const {
  for (const Leaf& leaf : leaves_)
    if (leaf.rows != nullptr) STROM_TRY(leaf.rows->unchanged());
  return Status::ok();
}

void AppendRows::close() {
  for (const Part& part : parts_) {
    part.leaf->rows->close();
    part.leaf->slices.clear();
    part.leaf->fed_slices = 0;
    part.leaf->unreleased = 0;
    part.leaf->has_fallback = false;
  }
  parts_.clear();
  ended_.clear();
  current_ = nullptr;
  next_leaf_ = 0;
  chunk_count_ = 0;
}

// ---- Feeding: one leaf after the other, on the calling thread ----

int64_t AppendRows::limit(int threads) {
  int64_t least = INT64_MAX;
  for (const Leaf* leaf : chosen_)
    if (engine::op::ChunkFeeder* feeder = leaf->rows->feeder()) least = std::min(least, feeder->limit(threads));
  return least;
}

void AppendRows::begin_leaf(Leaf* leaf) {
  current_ = leaf;
  if (leaf->rows->feeder() == nullptr) {
    const int64_t most = engine::exec::default_morsel_rows();
    for (int64_t chunk = 0; chunk < leaf->rows->chunk_count(); ++chunk) {
      const int64_t rows = leaf->rows->chunk_rows(chunk);
      for (int64_t begin = 0; begin < rows; begin += most)
        leaf->slices.push_back({chunk, begin, std::min(most, rows - begin)});
    }
  }
  std::lock_guard lock(mutex_);
  parts_.push_back({chunk_count_, leaf});
}

bool AppendRows::feed_from(Leaf* leaf) {
  engine::op::ChunkFeeder* feeder = leaf->rows->feeder();
  if (feeder == nullptr) return leaf->fed_slices++ < leaf->slices.size();
  if (!feeder->feed()) return false;
  std::lock_guard lock(mutex_);
  ++leaf->unreleased;
  return true;
}

bool AppendRows::feed() {
  reclaim_ended();
  for (;;) {
    if (current_ == nullptr) {
      if (next_leaf_ == chosen_.size()) return false;
      begin_leaf(chosen_[next_leaf_++]);
    }
    if (feed_from(current_)) {
      ++chunk_count_;
      return true;
    }
    if (is_waiting()) return false;
    if (current_->rows->feeder() != nullptr) ended_.push_back(current_);
    current_ = nullptr;
  }
}

bool AppendRows::is_waiting() const {
  engine::op::ChunkFeeder* feeder = current_ == nullptr ? nullptr : current_->rows->feeder();
  return feeder != nullptr && feeder->is_waiting();
}

void AppendRows::let_devices_read(bool allowed) {
  for (Leaf* leaf : chosen_)
    if (engine::op::ChunkFeeder* feeder = leaf->rows->feeder()) feeder->let_devices_read(allowed);
}

// A leaf takes its pages back when it is asked for more chunks. A leaf that has ended is not asked any more, so its
// pages would stay pinned until the end. This function takes them back.
void AppendRows::reclaim_ended() {
  std::erase_if(ended_, [this](Leaf* leaf) {
    bool all_released, has_fallback;
    {
      std::lock_guard lock(mutex_);
      all_released = leaf->unreleased == 0;
      has_fallback = leaf->has_fallback;
    }
    leaf->rows->feeder()->feed();
    return all_released && !has_fallback;
  });
}

void AppendRows::release(int64_t chunk, bool has_fallback) {
  const Part part = part_of(chunk);
  engine::op::ChunkFeeder* feeder = part.leaf->rows->feeder();
  if (feeder == nullptr) return;
  feeder->release(chunk - part.first, has_fallback);
  std::lock_guard lock(mutex_);
  --part.leaf->unreleased;
  part.leaf->has_fallback = part.leaf->has_fallback || has_fallback;
}

// ---- Fallback rows ----

void AppendRows::begin_fallback() {
  if (current_ != nullptr) current_->rows->begin_fallback();
  for (Leaf* leaf : ended_) leaf->rows->begin_fallback();
}

void AppendRows::end_fallback() {
  if (current_ != nullptr) current_->rows->end_fallback();
  for (Leaf* leaf : ended_) leaf->rows->end_fallback();
}

void AppendRows::read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) {
  const Part part = part_of(chunk);
  const int64_t own = chunk - part.first;
  const bool sliced = !part.leaf->slices.empty();
  part.leaf->rows->read(sliced ? part.leaf->slices[static_cast<size_t>(own)].chunk : own, row, memory, values, nulls);
}

}  // namespace strom::pg::source
