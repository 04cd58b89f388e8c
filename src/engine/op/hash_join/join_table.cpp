#include "engine/op/hash_join/join_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "engine/block/hash.hpp"
#include "engine/op/hash_join/join_image.hpp"

namespace strom::engine::exec {

using block::JoinTableKind;
using block::kNoRow;
using block::kNullFlag;
using block::TableColumn;
using registry::Phys;

namespace {

/// Entries of a direct-address table: always affordable as a bitmap, else in proportion to the rows.
constexpr uint64_t kSmallRange = 1u << 23;
constexpr uint64_t kRangePerRow = 64;
constexpr uint64_t kMaxRange = 1u << 31;
/// Texts of rows that are added by value share blocks.
constexpr int64_t kTextBlock = 4096;

uint64_t hash_value_at(const HostColumn& column, int64_t row) {
  uint64_t hash = 0;
  block::with_phys(column.phys, [&](auto zero) {
    using T = decltype(zero);
    hash = column.is_null(row) ? block::kNullHash : block::hash_value(*static_cast<const T*>(column.at(row)));
  });
  return hash;
}

bool equal_at(const HostColumn& a, int64_t row_a, const HostColumn& b, int64_t row_b) {
  if (a.is_null(row_a) || b.is_null(row_b)) return a.is_null(row_a) == b.is_null(row_b);
  bool equal = false;
  block::with_phys(a.phys, [&](auto zero) {
    using T = decltype(zero);
    equal = block::keys_equal(*static_cast<const T*>(a.at(row_a)), *static_cast<const T*>(b.at(row_b)));
  });
  return equal;
}

uint64_t combine_columns(const std::vector<const HostColumn*>& columns, int64_t row) {
  uint64_t hash = 0;
  for (size_t k = 0; k < columns.size(); ++k) {
    const uint64_t value = hash_value_at(*columns[k], row);
    hash = k == 0 ? value : block::combine(hash, value);
  }
  return hash;
}

}  // namespace

void HostColumn::append(const void* from, const uint8_t* from_flags, int64_t count) {
  const auto* bytes = static_cast<const uint8_t*>(from);
  values.insert(values.end(), bytes, bytes + count * registry::phys_size(phys));
  if (from_flags != nullptr) {
    if (flags.empty()) flags.resize(rows, 0);
    flags.insert(flags.end(), from_flags, from_flags + count);
  } else if (!flags.empty()) {
    flags.resize(rows + count, 0);
  }
  rows += count;
}

void HostColumn::append_constant(const plan::Constant& value, TextStore* texts) {
  uint8_t bytes[16] = {};
  const bool has_value = !value.is_null && !value.unheld;
  if (has_value && phys == Phys::kStr) {
    registry::StrView view{value.bytes.data(), static_cast<int64_t>(value.bytes.size())};
    texts->own(&view, nullptr, 1);
    std::memcpy(bytes, &view, sizeof view);
  } else if (has_value) {
    std::memcpy(bytes, value.bytes.data(), registry::phys_size(phys));
  }
  const uint8_t flag = value.is_null ? kNullFlag : value.unheld ? block::kErrorFlag : 0;
  append(bytes, flag != 0 ? &flag : nullptr, 1);
}

void HostColumn::clear() {
  values.clear();
  flags.clear();
  rows = 0;
}

bool HostColumn::has_errors() const {
  const uint8_t* of = view().flags;
  return of != nullptr && std::any_of(of, of + rows, [](uint8_t flag) { return (flag & block::kErrorFlag) != 0; });
}

TableColumn HostColumn::view() const {
  if (cached.data != nullptr) return cached;
  return {const_cast<uint8_t*>(values.data()), flags.empty() ? nullptr : const_cast<uint8_t*>(flags.data()), phys};
}

JoinBuild::JoinBuild(std::vector<Phys> keys, std::vector<Phys> payload, JoinNeeds needs, Partition partition)
    : needs_(std::move(needs)),
      partition_(partition),
      texts_(kTextBlock),
      owns_texts_(keys.size() + payload.size(), true) {
  for (Phys phys : keys) keys_.push_back({phys, {}, {}, 0});
  for (Phys phys : payload) payload_.push_back({phys, {}, {}, 0});
}

JoinBuild::JoinBuild(std::vector<Phys> keys, std::vector<Phys> payload, JoinNeeds needs, JoinImage image,
                     std::shared_ptr<CachedJoin> cached)
    : JoinBuild(std::move(keys), std::move(payload), std::move(needs), Partition{}) {
  table_ = image.table;
  rows_ = table_.row_count;
  code_rows_ = std::move(image.code_rows);
  for (size_t i = 0; i < keys_.size() + payload_.size(); ++i) {
    HostColumn& column = i < keys_.size() ? keys_[i] : payload_[i - keys_.size()];
    column.rows = rows_;
    column.cached = i < keys_.size() ? image.keys[i] : image.payload[i - keys_.size()];
    if (column.phys != Phys::kStr || rows_ == 0) continue;
    column.values = std::move(image.texts[i]);
    column.cached.data = column.values.data();
  }
  set_views();
  cached_ = std::move(cached);
}

void JoinBuild::append(const std::vector<TableColumn>& columns, const std::vector<bool>& has_flags, int64_t rows,
                       const TextStore& texts, const std::vector<bool>& owned) {
  for (size_t i = 0; i < columns.size(); ++i) {
    HostColumn& column = i < keys_.size() ? keys_[i] : payload_[i - keys_.size()];
    column.append(columns[i].data, has_flags[i] ? columns[i].flags : nullptr, rows);
  }
  rows_ += rows;
  texts_.share(texts);
  owns_texts_ = owned;
  if (sizes_) measure_rows();
}

void JoinBuild::append_row(const std::vector<plan::Constant>& keys, const std::vector<plan::Constant>& payload) {
  for (size_t i = 0; i < keys.size(); ++i) keys_[i].append_constant(keys[i], &texts_);
  for (size_t i = 0; i < payload.size(); ++i) payload_[i].append_constant(payload[i], &texts_);
  ++rows_;
  if (sizes_) measure_rows();
}

void JoinBuild::measure() {
  sizes_ = std::make_unique<BucketSizes>();
  measure_rows();
}

void JoinBuild::measure_rows() {
  constexpr int64_t kTableBytes = 40;  // of a hash table, for each row, at most
  std::vector<const HostColumn*> keys, owned;
  int64_t each = kTableBytes;
  for (size_t i = 0; i < owns_texts_.size(); ++i) {
    const HostColumn& column = i < keys_.size() ? keys_[i] : payload_[i - keys_.size()];
    if (i < keys_.size()) keys.push_back(&column);
    if (column.phys == Phys::kStr && owns_texts_[i]) owned.push_back(&column);
    each += registry::phys_size(column.phys) + 1;
  }
  for (int64_t row = 0; row < keys_[0].rows; ++row) {
    int64_t bytes = each;
    for (const HostColumn* column : owned) bytes += static_cast<const registry::StrView*>(column->at(row))->len;
    sizes_->add(combine_columns(keys, row), bytes);
  }
  for (HostColumn& key : keys_) key.clear();
  for (HostColumn& column : payload_) column.clear();
  texts_.clear();
}

bool JoinBuild::null_key(int64_t row) const {
  for (const HostColumn& key : keys_)
    if (key.is_null(row)) return true;
  return false;
}

int64_t JoinBuild::int_key(int64_t row) const {
  if (keys_[0].phys == Phys::kI32) return *static_cast<const int32_t*>(keys_[0].at(row));
  return *static_cast<const int64_t*>(keys_[0].at(row));
}

uint64_t JoinBuild::hash_row(int64_t row) const {
  std::vector<const HostColumn*> columns;
  for (const HostColumn& key : keys_) columns.push_back(&key);
  return combine_columns(columns, row);
}

bool JoinBuild::same_key(int64_t a, int64_t b) const {
  for (const HostColumn& key : keys_)
    if (!equal_at(key, a, key, b)) return false;
  return true;
}

/// Entries of a direct-address table; nothing when the keys are none of dense integers.
std::optional<uint64_t> JoinBuild::direct_range(int64_t* first) const {
  if (keys_.size() != 1 || (keys_[0].phys != Phys::kI32 && keys_[0].phys != Phys::kI64)) return {};
  int64_t lowest = INT64_MAX, highest = INT64_MIN;
  for (int64_t row = 0; row < rows(); ++row) {
    if (null_key(row)) continue;
    lowest = std::min(lowest, int_key(row));
    highest = std::max(highest, int_key(row));
  }
  *first = 0;
  if (lowest > highest) return 0;
  const uint64_t range = static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest) + 1;
  if (range == 0 || range > kMaxRange) return {};
  if (range > kSmallRange && range > kRangePerRow * static_cast<uint64_t>(rows())) return {};
  *first = lowest;
  return range;
}

/// As if there were duplicates.
int64_t JoinBuild::direct_memory(uint64_t range) const {
  int64_t bytes = static_cast<int64_t>(range / 8);
  if (needs_.rows || !needs_.any_match) bytes += static_cast<int64_t>(range + static_cast<uint64_t>(rows())) * 4;
  if (!needs_.group_columns.empty()) bytes += static_cast<int64_t>(range + static_cast<uint64_t>(rows())) * 4;
  return bytes;
}

int64_t JoinBuild::hash_memory() const {
  if (keys_.empty()) return rows() * 4;
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows()) * 2 + 16)) * 8 +
         rows() * (needs_.group_columns.empty() ? 4 : 8);
}

int64_t JoinBuild::table_memory(int64_t memory_limit) const {
  int64_t lowest;
  const auto range = direct_range(&lowest);
  const int64_t hash = hash_memory();
  if (!range) return hash;
  const int64_t direct = direct_memory(*range);
  return memory() + direct <= memory_limit ? direct : std::min(direct, hash);
}

bool JoinBuild::is_in_partition(const std::vector<plan::Constant>& keys) const {
  if (partition_.is_whole()) return true;
  TextStore texts;
  uint64_t hash = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    HostColumn column{keys_[i].phys, {}, {}, 0};
    column.append_constant(keys[i], &texts);
    const uint64_t value = hash_value_at(column, 0);
    hash = i == 0 ? value : block::combine(hash, value);
  }
  return partition_.contains(hash);
}

std::optional<KeyRange> JoinBuild::key_range(size_t key) const {
  const HostColumn& column = keys_[key];
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

void JoinBuild::build_direct() {
  table_.kind = JoinTableKind::kDirect;
  bitmap_.assign(table_.range / 32 + 1, 0);
  table_.unique = true;
  for (int64_t row = 0; row < rows(); ++row) {
    if (null_key(row)) continue;
    const uint64_t entry = static_cast<uint64_t>(int_key(row)) - static_cast<uint64_t>(table_.min);
    uint32_t& word = bitmap_[entry >> 5];
    const uint32_t bit = 1u << (entry & 31);
    if (word & bit) table_.unique = needs_.any_match;
    word |= bit;
  }
  const bool coded = !needs_.group_columns.empty() && table_.unique;
  if (needs_.rows || !table_.unique) index_.assign(table_.range + 1, kNoRow);
  if (coded) key_codes_.assign(table_.range + 1, 0);
  if (!table_.unique) next_.assign(rows(), kNoRow);
  if (index_.empty() && key_codes_.empty()) return;
  for (int64_t row = 0; row < rows(); ++row) {
    if (null_key(row)) continue;
    const uint64_t entry = static_cast<uint64_t>(int_key(row)) - static_cast<uint64_t>(table_.min);
    if (coded) key_codes_[entry] = codes_[row];
    if (index_.empty()) continue;
    if (!next_.empty()) next_[row] = index_[entry];
    index_[entry] = static_cast<uint32_t>(row);
  }
}

void JoinBuild::build_hash() {
  table_.kind = JoinTableKind::kHash;
  table_.unique = true;
  const uint64_t slots = std::bit_ceil(static_cast<uint64_t>(rows()) * 2 + 16);
  slots_.assign(slots, kNoRow);
  tags_.assign(slots, 0);
  table_.slot_mask = slots - 1;
  for (int64_t row = 0; row < rows(); ++row) {
    if (null_key(row)) continue;
    const uint64_t hash = hash_row(row);
    const uint32_t tag = static_cast<uint32_t>(hash >> 32);
    uint64_t slot = hash & table_.slot_mask;
    while (slots_[slot] != kNoRow && !(tags_[slot] == tag && same_key(slots_[slot], row)))
      slot = (slot + 1) & table_.slot_mask;
    if (slots_[slot] != kNoRow && needs_.any_match) continue;
    if (slots_[slot] != kNoRow) {
      if (next_.empty()) next_.assign(rows(), kNoRow);
      table_.unique = false;
      next_[row] = slots_[slot];
    }
    slots_[slot] = static_cast<uint32_t>(row);
    tags_[slot] = tag;
  }
}

/// Without keys each row leads to the next one.
void JoinBuild::build_list() {
  table_.kind = JoinTableKind::kHash;
  table_.unique = rows() <= 1 || needs_.any_match;
  if (table_.unique) return;
  next_.resize(static_cast<size_t>(rows()));
  for (uint32_t row = 0; row < next_.size(); ++row) next_[row] = row + 1;
  next_.back() = kNoRow;
}

/// Numbers the distinct combinations of the grouped payload columns.
void JoinBuild::assign_codes() {
  std::vector<const HostColumn*> columns;
  for (uint32_t ordinal : needs_.group_columns) columns.push_back(&payload_[ordinal]);
  codes_.resize(rows());
  uint64_t capacity = 1024;
  std::vector<uint32_t> slots(capacity, kNoRow);
  std::vector<uint64_t> hashes;
  for (int64_t row = 0; row < rows(); ++row) {
    const uint64_t hash = combine_columns(columns, row);
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

Status JoinBuild::finish(int64_t memory_limit) {
  if (rows() >= static_cast<int64_t>(kNoRow))
    return Status(ErrorCode::kUnsupported, "inner side of a join has too many rows with the same key");
  table_.row_count = static_cast<uint32_t>(rows());
  for (const uint32_t ordinal : needs_.group_columns)
    if (payload_[ordinal].has_errors()) {
      needs_.group_columns.clear();
      needs_.rows = true;
      break;
    }
  if (is_coded()) assign_codes();
  const auto range = direct_range(&table_.min);
  table_.range = range.value_or(0);
  if (keys_.empty())
    build_list();
  else if (range && (memory() + direct_memory(*range) <= memory_limit || direct_memory(*range) <= hash_memory()))
    build_direct();
  else
    build_hash();
  auto pointer = [](const std::vector<uint32_t>& v) { return v.empty() ? nullptr : v.data(); };
  table_.bitmap = pointer(bitmap_);
  table_.index = pointer(index_);
  table_.key_codes = pointer(key_codes_);
  table_.slots = pointer(slots_);
  table_.tags = pointer(tags_);
  table_.next = pointer(next_);
  table_.codes = pointer(codes_);
  set_views();
  return Status::ok();
}

/// What is the query's own of a finished table.
void JoinBuild::set_views() {
  for (const HostColumn& key : keys_) key_views_.push_back(key.view());
  for (const HostColumn& column : payload_) payload_views_.push_back(column.view());
  if (needs_.matches) matched_.assign(static_cast<size_t>(rows()), 0);
  table_.matched = matched_.empty() ? nullptr : matched_.data();
  table_.keys = key_views_.data();
  table_.payload = payload_views_.data();
}

/// Of rows with the same key none is marked, the first, or all.
void JoinBuild::mark_same_keys() {
  if (table_.next == nullptr) return;
  for (size_t row = 0; row < matched_.size(); ++row) {
    if (matched_[row] == 0) continue;
    for (uint32_t other = table_.next[row]; other != kNoRow && matched_[other] == 0; other = table_.next[other])
      matched_[other] = 1;
  }
}

int64_t JoinBuild::memory() const {
  int64_t bytes = texts_.memory() + static_cast<int64_t>(matched_.capacity());
  for (const HostColumn& column : keys_) bytes += column.memory();
  for (const HostColumn& column : payload_) bytes += column.memory();
  for (const auto* v : {&bitmap_, &index_, &key_codes_, &slots_, &tags_, &next_, &codes_, &code_rows_})
    bytes += static_cast<int64_t>(v->capacity() * sizeof(uint32_t));
  return bytes;
}

void JoinBuild::lookup(const std::vector<plan::Constant>& keys, std::vector<int64_t>* found) const {
  TextStore texts;
  std::vector<HostColumn> wanted;
  for (size_t i = 0; i < keys.size(); ++i) {
    wanted.push_back({keys_[i].phys, {}, {}, 0});
    wanted.back().append_constant(keys[i], &texts);
    if (keys[i].is_null) return;
  }
  if (keys_.empty()) {
    for (int64_t row = 0; row < rows(); ++row) found->push_back(row);
    return;
  }
  index_for_lookup();
  std::vector<const HostColumn*> columns;
  for (const HostColumn& column : wanted) columns.push_back(&column);
  const auto [first, last] = lookup_index_.equal_range(combine_columns(columns, 0));
  for (auto entry = first; entry != last; ++entry) {
    bool equal = true;
    for (size_t i = 0; i < keys_.size() && equal; ++i) equal = equal_at(keys_[i], entry->second, wanted[i], 0);
    if (equal) found->push_back(entry->second);
  }
}

void JoinBuild::index_for_lookup() const {
  if (!lookup_index_.empty()) return;
  for (int64_t row = 0; row < rows(); ++row)
    if (!null_key(row)) lookup_index_.emplace(hash_row(row), static_cast<uint32_t>(row));
}

}  // namespace strom::engine::exec
