#include "engine/op/hash_join/hash_index.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "engine/op/join/join_writer.hpp"

namespace strom::engine::op {

using block::JoinTable;
using block::kNoRow;
using block::TileOp;
using registry::Phys;

namespace {

uint64_t slots_for(int64_t rows) { return std::bit_ceil(static_cast<uint64_t>(rows) * 2 + 16); }

/// Tables with more slots do not fit the nearest caches, so a bitmap before them pays. kFilterBits: bits per slot.
constexpr uint64_t kManySlots = 1 << 16, kFilterBits = 8;
constexpr uint64_t kWordBits = 64;

uint64_t filter_words(uint64_t slots) { return slots < kManySlots ? 0 : slots * kFilterBits / kWordBits; }

}  // namespace

int64_t HashIndex::wanted_memory() const {
  const uint64_t slots = slots_for(rows_.count);
  return static_cast<int64_t>(slots * 8 + filter_words(slots) * sizeof(uint64_t)) +
         rows_.count * (needs_.group_columns.empty() ? 4 : 8);
}

void HashIndex::put(int64_t row, uint64_t hash, uint64_t slot_mask) {
  const auto tag = static_cast<uint32_t>(hash >> 32);
  uint64_t slot = hash & slot_mask;
  while (slots_[slot] != kNoRow && !(tags_[slot] == tag && rows_.has_same_key(slots_[slot], row)))
    slot = (slot + 1) & slot_mask;
  if (slots_[slot] != kNoRow && needs_.any_match) return;
  if (slots_[slot] != kNoRow) {
    if (next_.empty()) next_.assign(static_cast<size_t>(rows_.count), kNoRow);
    next_[static_cast<size_t>(row)] = slots_[slot];
  }
  slots_[slot] = static_cast<uint32_t>(row);
  tags_[slot] = tag;
}

Status HashIndex::build(const std::vector<uint32_t>&, int, JoinTable* table) {
  const uint64_t slots = slots_for(rows_.count), slot_mask = slots - 1;
  slots_.assign(slots, kNoRow);
  tags_.assign(slots, 0);
  filter_.assign(filter_words(slots), 0);
  const uint64_t filter_mask = filter_.size() * kWordBits - 1;
  // Computes the hashes of some rows first: then the table's memory is on its way when the rows are inserted.
  constexpr int64_t kTogether = 256;
  uint64_t hashes[kTogether];
  for (int64_t first = 0; first < rows_.count; first += kTogether) {
    const int64_t end = std::min(first + kTogether, rows_.count);
    for (int64_t row = first; row < end; ++row) {
      const uint64_t hash = hashes[row - first] = rows_.key_hash(row);
      __builtin_prefetch(&slots_[hash & slot_mask], 1);
      __builtin_prefetch(&tags_[hash & slot_mask], 1);
    }
    for (int64_t row = first; row < end; ++row) {
      if (rows_.has_null_key(row)) continue;
      const uint64_t hash = hashes[row - first];
      if (!filter_.empty()) filter_[(hash & filter_mask) / kWordBits] |= uint64_t{1} << hash % kWordBits;
      put(row, hash, slot_mask);
    }
  }
  table->kind = block::JoinTableKind::kHash;
  table->unique = next_.empty();
  table->next = array_or_null(next_);
  table->hash = {slots_.data(), tags_.data(), slot_mask, filter_.empty() ? nullptr : filter_.data(), filter_mask};
  return Status::ok();
}

int64_t HashIndex::memory() const {
  return array_bytes(slots_) + array_bytes(tags_) + static_cast<int64_t>(filter_.capacity() * sizeof(uint64_t)) +
         array_bytes(next_);
}

void HashIndex::add_arrays(const JoinTable& table, std::vector<TableArray>* arrays) {
  const uint64_t bytes = (table.hash.slot_mask + 1) * sizeof(uint32_t);
  arrays->push_back({offsetof(JoinTable, hash.slots), bytes});
  arrays->push_back({offsetof(JoinTable, hash.tags), bytes});
  arrays->push_back({offsetof(JoinTable, hash.filter), filter_words(table.hash.slot_mask + 1) * sizeof(uint64_t)});
}

int HashIndex::write_candidates(JoinWriter* writer, size_t position, int rows) const {
  PipelineWriter& tiles = writer->tiles();
  const int mask = tiles.new_register(Phys::kBool);
  const std::vector<int> keys = writer->outer_keys(position);
  const int hash = tiles.new_register(Phys::kI64);
  tiles.emit(TileOp::kHash, hash).list = keys;
  VirtualInstr& probe = tiles.emit(TileOp::kProbeHash, rows, hash, -1, -1, static_cast<uint32_t>(position));
  probe.list = keys;
  probe.near_list = true;
  tiles.emit(TileOp::kRowFound, mask, rows);
  return mask;
}

}  // namespace strom::engine::op
