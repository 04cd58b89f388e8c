#include "engine/op/hash_join/direct_index.hpp"

#include <algorithm>
#include <cstddef>

#include "engine/op/join/join_writer.hpp"

namespace strom::engine::op {

using block::JoinTable;
using block::kNoRow;
using block::TileOp;
using registry::Phys;

namespace {

/// Entries of a direct-address table that are always affordable as a bitmap. More must be in proportion to the rows.
constexpr uint64_t kSmallRange = 1u << 23;
constexpr uint64_t kRangePerRow = 64;
constexpr uint64_t kMaxRange = 1u << 31;

int64_t int_key(const JoinRows& rows, int64_t row) {
  const HostColumn& key = rows.keys[0];
  if (key.phys == Phys::kI32) return *static_cast<const int32_t*>(key.at(row));
  return *static_cast<const int64_t*>(key.at(row));
}

}  // namespace

std::optional<KeyEntries> dense_entries(const JoinRows& rows) {
  if (rows.keys.size() != 1) return {};
  const Phys phys = rows.keys[0].phys;
  if (phys != Phys::kI32 && phys != Phys::kI64) return {};
  int64_t lowest = INT64_MAX, highest = INT64_MIN;
  for (int64_t row = 0; row < rows.count; ++row) {
    if (rows.has_null_key(row)) continue;
    lowest = std::min(lowest, int_key(rows, row));
    highest = std::max(highest, int_key(rows, row));
  }
  if (lowest > highest) return KeyEntries{};
  const uint64_t range = static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest) + 1;
  if (range == 0 || range > kMaxRange) return {};
  if (range > kSmallRange && range > kRangePerRow * static_cast<uint64_t>(rows.count)) return {};
  return KeyEntries{lowest, range};
}

/// Computed as if there were duplicates.
int64_t DirectIndex::wanted_memory() const {
  const uint64_t range = entries_.count;
  int64_t bytes = static_cast<int64_t>(range / 8);
  if (needs_.rows || !needs_.any_match) bytes += static_cast<int64_t>(range + static_cast<uint64_t>(rows_.count)) * 4;
  if (!needs_.group_columns.empty()) bytes += static_cast<int64_t>(range + static_cast<uint64_t>(rows_.count)) * 4;
  return bytes;
}

uint64_t DirectIndex::entry_of(int64_t row) const {
  return static_cast<uint64_t>(int_key(rows_, row)) - static_cast<uint64_t>(entries_.lowest);
}

/// True when no key has two rows that are needed.
bool DirectIndex::fill_bitmap() {
  bool unique = true;
  bitmap_.assign(entries_.count / 32 + 1, 0);
  for (int64_t row = 0; row < rows_.count; ++row) {
    if (rows_.has_null_key(row)) continue;
    const uint64_t entry = entry_of(row);
    uint32_t& word = bitmap_[entry >> 5];
    const uint32_t bit = 1u << (entry & 31);
    if (word & bit) unique = needs_.any_match;
    word |= bit;
  }
  return unique;
}

Status DirectIndex::build(const std::vector<uint32_t>& codes, int, JoinTable* table) {
  const bool unique = fill_bitmap();
  const bool coded = !codes.empty() && unique;
  if (needs_.rows || !unique) index_.assign(entries_.count + 1, kNoRow);
  if (coded) key_codes_.assign(entries_.count + 1, 0);
  if (!unique) next_.assign(static_cast<size_t>(rows_.count), kNoRow);
  for (int64_t row = 0; row < rows_.count && !(index_.empty() && key_codes_.empty()); ++row) {
    if (rows_.has_null_key(row)) continue;
    const uint64_t entry = entry_of(row);
    if (coded) key_codes_[entry] = codes[static_cast<size_t>(row)];
    if (index_.empty()) continue;
    if (!next_.empty()) next_[static_cast<size_t>(row)] = index_[entry];
    index_[entry] = static_cast<uint32_t>(row);
  }
  table->kind = block::JoinTableKind::kDirect;
  table->unique = unique;
  table->next = array_or_null(next_);
  table->direct = {entries_.lowest, entries_.count, array_or_null(bitmap_), array_or_null(index_),
                   array_or_null(key_codes_)};
  return Status::ok();
}

int64_t DirectIndex::memory() const {
  return array_bytes(bitmap_) + array_bytes(index_) + array_bytes(key_codes_) + array_bytes(next_);
}

void DirectIndex::add_arrays(const JoinTable& table, std::vector<TableArray>* arrays) {
  const uint64_t range = table.direct.range;
  arrays->push_back({offsetof(JoinTable, direct.bitmap), (range / 32 + 1) * sizeof(uint32_t)});
  arrays->push_back({offsetof(JoinTable, direct.index), (range + 1) * sizeof(uint32_t)});
  arrays->push_back({offsetof(JoinTable, direct.key_codes), (range + 1) * sizeof(uint32_t)});
}

// ---- tile code ----

int DirectIndex::write_test(JoinWriter* writer, size_t position) const {
  const int key = writer->outer_key(position, 0);
  const int mask = writer->tiles().new_register(Phys::kBool);
  writer->tiles().emit(TileOp::kProbeDirect, mask, key, -1, -1, static_cast<uint32_t>(position));
  return mask;
}

int DirectIndex::write_candidates(JoinWriter* writer, size_t position, int rows) const {
  const int mask = write_test(writer, position);
  writer->tiles().emit(TileOp::kLookupIndex, rows, writer->outer_key(position, 0), -1, -1,
                       static_cast<uint32_t>(position));
  return mask;
}

int DirectIndex::write_row(JoinWriter* writer, size_t position) const {
  const int key = writer->outer_key(position, 0);
  const int rows = writer->tiles().new_register(Phys::kI32);
  writer->tiles().emit(TileOp::kLookupIndex, rows, key, -1, -1, static_cast<uint32_t>(position));
  return rows;
}

int DirectIndex::write_code(JoinWriter* writer, size_t position) const {
  const int code = writer->tiles().new_register(Phys::kI32);
  const int key = writer->outer_key(position, 0);
  writer->tiles().emit(TileOp::kLookupCode, code, key, -1, -1, static_cast<uint32_t>(position));
  return code;
}

}  // namespace strom::engine::op
