#include "engine/op/hash_join/hash_index.hpp"

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

}  // namespace

int64_t HashIndex::wanted_memory() const {
  return static_cast<int64_t>(slots_for(rows_.count)) * 8 + rows_.count * (needs_.group_columns.empty() ? 4 : 8);
}

Status HashIndex::build(const std::vector<uint32_t>&, int, JoinTable* table) {
  const uint64_t slots = slots_for(rows_.count), slot_mask = slots - 1;
  slots_.assign(slots, kNoRow);
  tags_.assign(slots, 0);
  for (int64_t row = 0; row < rows_.count; ++row) {
    if (rows_.has_null_key(row)) continue;
    const uint64_t hash = rows_.key_hash(row);
    const uint32_t tag = static_cast<uint32_t>(hash >> 32);
    uint64_t slot = hash & slot_mask;
    while (slots_[slot] != kNoRow && !(tags_[slot] == tag && rows_.has_same_key(slots_[slot], row)))
      slot = (slot + 1) & slot_mask;
    if (slots_[slot] != kNoRow && needs_.any_match) continue;
    if (slots_[slot] != kNoRow) {
      if (next_.empty()) next_.assign(static_cast<size_t>(rows_.count), kNoRow);
      next_[static_cast<size_t>(row)] = slots_[slot];
    }
    slots_[slot] = static_cast<uint32_t>(row);
    tags_[slot] = tag;
  }
  table->kind = block::JoinTableKind::kHash;
  table->unique = next_.empty();
  table->next = array_or_null(next_);
  table->hash = {slots_.data(), tags_.data(), slot_mask};
  return Status::ok();
}

int64_t HashIndex::memory() const { return array_bytes(slots_) + array_bytes(tags_) + array_bytes(next_); }

void HashIndex::add_arrays(const JoinTable& table, std::vector<TableArray>* arrays) {
  const uint64_t bytes = (table.hash.slot_mask + 1) * sizeof(uint32_t);
  arrays->push_back({offsetof(JoinTable, hash.slots), bytes});
  arrays->push_back({offsetof(JoinTable, hash.tags), bytes});
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
