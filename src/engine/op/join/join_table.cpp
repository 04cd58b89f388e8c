#include "engine/op/join/join_table.hpp"

#include <algorithm>

#include "engine/op/join/join_image.hpp"
#include "engine/op/join/join_limit.hpp"

namespace strom::engine::op {

using block::kNoRow;
using block::TableColumn;
using registry::Phys;

namespace {

/// Block size for the texts of rows that are added one by one.
constexpr int64_t kTextBlock = 4096;

}  // namespace

JoinBuild::JoinBuild(const std::vector<Phys>& keys, const std::vector<Phys>& payload, JoinNeeds needs,
                     Partition partition)
    : needs_(std::move(needs)),
      partition_(partition),
      texts_(kTextBlock),
      owns_texts_(keys.size() + payload.size(), true) {
  for (Phys phys : keys) rows_.keys.push_back({phys, {}, {}, 0});
  for (Phys phys : payload) rows_.payload.push_back({phys, {}, {}, 0});
}

JoinBuild::JoinBuild(const std::vector<Phys>& keys, const std::vector<Phys>& payload, JoinNeeds needs, JoinImage image,
                     std::shared_ptr<device::CachedJoin> cached)
    : JoinBuild(keys, payload, std::move(needs), Partition{}) {
  table_ = image.table;
  rows_.count = table_.row_count;
  code_rows_ = std::move(image.code_rows);
  for (size_t i = 0; i < rows_.column_count(); ++i) {
    HostColumn& column = rows_.column(i);
    column.rows = rows_.count;
    column.cached = i < rows_.keys.size() ? image.keys[i] : image.payload[i - rows_.keys.size()];
    if (column.phys != Phys::kStr || rows_.count == 0) continue;
    column.values = std::move(image.texts[i]);
    column.cached.data = column.values.data();
  }
  index_ = join_index_of(table_, rows_, needs_);
  set_views();
  cached_ = std::move(cached);
}

void JoinBuild::append(const std::vector<TableColumn>& columns, const std::vector<bool>& has_flags, int64_t rows,
                       const TextStore& texts, const std::vector<bool>& owned) {
  for (size_t i = 0; i < columns.size(); ++i)
    rows_.column(i).append(columns[i].data, has_flags[i] ? columns[i].flags : nullptr, rows);
  rows_.count += rows;
  texts_.share(texts);
  owns_texts_ = owned;
  if (sizes_) measure_rows();
}

void JoinBuild::append_row(const std::vector<plan::Constant>& keys, const std::vector<plan::Constant>& payload) {
  for (size_t i = 0; i < keys.size(); ++i) rows_.keys[i].append_constant(keys[i], &texts_);
  for (size_t i = 0; i < payload.size(); ++i) rows_.payload[i].append_constant(payload[i], &texts_);
  ++rows_.count;
  if (sizes_) measure_rows();
}

void JoinBuild::measure() {
  sizes_ = std::make_unique<BucketSizes>();
  measure_rows();
}

void JoinBuild::measure_rows() {
  std::vector<const HostColumn*> keys, owned;
  int64_t each = 0;
  for (size_t i = 0; i < owns_texts_.size(); ++i) {
    const HostColumn& column = rows_.column(i);
    if (i < rows_.keys.size()) keys.push_back(&column);
    if (column.phys == Phys::kStr && owns_texts_[i]) owned.push_back(&column);
    each += registry::phys_size(column.phys) + 1;
  }
  for (int64_t row = 0; row < rows_.keys[0].rows; ++row) {
    int64_t bytes = each + index_row_memory(needs_.spatial, rows_.key_bytes(row));
    for (const HostColumn* column : owned) bytes += static_cast<const registry::StrView*>(column->at(row))->len;
    sizes_->add(hash_at(keys, row), bytes);
  }
  for (size_t i = 0; i < rows_.column_count(); ++i) rows_.column(i).clear();
  texts_.clear();
}

bool JoinBuild::fits(int64_t memory_limit) const {
  const int64_t rows = memory();
  return rows + choose_join_index(rows_, needs_, rows, memory_limit)->wanted_memory() <= memory_limit;
}

std::vector<HostColumn> JoinBuild::single_keys(const std::vector<plan::Constant>& keys, TextStore* texts) const {
  std::vector<HostColumn> columns;
  for (size_t i = 0; i < keys.size(); ++i) {
    columns.push_back({keys[i].type.phys(), {}, {}, 0});
    columns.back().append_constant(keys[i], texts);
  }
  return columns;
}

bool JoinBuild::is_in_partition(const std::vector<plan::Constant>& keys) const {
  if (partition_.is_whole()) return true;
  TextStore texts;
  const JoinRows row{single_keys(keys, &texts), {}, 1};
  return partition_.contains(row.key_hash(0));
}

std::optional<KeyRange> JoinBuild::key_range(size_t key) const {
  const HostColumn& column = rows_.keys[key];
  if ((column.phys != Phys::kI32 && column.phys != Phys::kI64) || column.has_errors()) return std::nullopt;
  KeyRange range;
  for (int64_t row = 0; row < column.rows; ++row) {
    if (column.is_null(row)) continue;
    const int64_t value = column.phys == Phys::kI32 ? *static_cast<const int32_t*>(column.at(row))
                                                    : *static_cast<const int64_t*>(column.at(row));
    const bool first = range.lowest > range.highest;
    range.lowest = first ? value : std::min(range.lowest, value);
    range.highest = first ? value : std::max(range.highest, value);
    if (column.rows <= static_cast<int64_t>(kMostKeyValues)) range.values.push_back(value);
  }
  std::sort(range.values.begin(), range.values.end());
  return range;
}

/// Numbers the distinct combinations of the grouped payload columns.
void JoinBuild::assign_codes() {
  std::vector<const HostColumn*> columns;
  columns.reserve(needs_.group_columns.size());
  for (uint32_t ordinal : needs_.group_columns) columns.push_back(&rows_.payload[ordinal]);
  codes_.resize(rows());
  uint64_t capacity = 1024;
  std::vector<uint32_t> slots(capacity, kNoRow);
  std::vector<uint64_t> hashes;
  for (int64_t row = 0; row < rows(); ++row) {
    const uint64_t hash = hash_at(columns, row);
    uint64_t slot = hash & (capacity - 1);
    for (;; slot = (slot + 1) & (capacity - 1)) {
      const uint32_t code = slots[slot];
      if (code == kNoRow) break;
      if (hashes[code] != hash) continue;
      bool equal = true;
      for (const HostColumn* column : columns) equal = equal && equal_at(*column, code_rows_[code], *column, row);
      if (equal) break;
    }
    if (slots[slot] == kNoRow) {
      slots[slot] = static_cast<uint32_t>(code_rows_.size());
      code_rows_.push_back(static_cast<uint32_t>(row));
      hashes.push_back(hash);
    }
    codes_[row] = slots[slot];
    if (code_rows_.size() * 2 < capacity) continue;
    capacity *= 4;
    slots.assign(capacity, kNoRow);
    for (uint32_t code = 0; code < hashes.size(); ++code) {
      uint64_t free = hashes[code] & (capacity - 1);
      while (slots[free] != kNoRow) free = (free + 1) & (capacity - 1);
      slots[free] = code;
    }
  }
}

Status JoinBuild::finish(int64_t memory_limit, int threads) {
  if (rows() >= static_cast<int64_t>(kNoRow))
    return Status(ErrorCode::kUnsupported, "inner side of a join has too many rows with the same key");
  table_.row_count = static_cast<uint32_t>(rows());
  for (const uint32_t ordinal : needs_.group_columns)
    if (rows_.payload[ordinal].has_errors()) {
      needs_.group_columns.clear();
      needs_.rows = true;
      break;
    }
  if (is_coded()) assign_codes();
  table_.codes = codes_.empty() ? nullptr : codes_.data();
  index_ = choose_join_index(rows_, needs_, memory(), memory_limit);
  STROM_TRY(index_->build(codes_, threads, &table_));
  set_views();
  return Status::ok();
}

/// Sets what each query has of its own of a finished table.
void JoinBuild::set_views() {
  for (const HostColumn& key : rows_.keys) key_views_.push_back(key.view());
  for (const HostColumn& column : rows_.payload) payload_views_.push_back(column.view());
  if (needs_.matches) matched_.assign(static_cast<size_t>(rows()), 0);
  table_.matched = matched_.empty() ? nullptr : matched_.data();
  table_.keys = key_views_.data();
  table_.payload = payload_views_.data();
}

/// Marks rows with the same key. Among these, none is marked, or the first one, or all.
void JoinBuild::mark_same_keys() {
  if (table_.next == nullptr) return;
  for (size_t row = 0; row < matched_.size(); ++row) {
    if (matched_[row] == 0) continue;
    for (uint32_t other = table_.next[row]; other != kNoRow && matched_[other] == 0; other = table_.next[other])
      matched_[other] = 1;
  }
}

int64_t JoinBuild::memory() const {
  const size_t words = codes_.capacity() + code_rows_.capacity();
  return texts_.memory() + rows_.memory() + (index_ ? index_->memory() : 0) +
         static_cast<int64_t>(matched_.capacity()) + static_cast<int64_t>(words * sizeof(uint32_t));
}

void JoinBuild::lookup(const std::vector<plan::Constant>& keys, std::vector<int64_t>* found) const {
  if (std::any_of(keys.begin(), keys.end(), [](const plan::Constant& key) { return key.is_null; })) return;
  TextStore texts;
  index_->find(single_keys(keys, &texts), found);
}

}  // namespace strom::engine::op
