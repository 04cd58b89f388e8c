// Probes by equal keys. Dense integer keys use a direct-address table: a bitmap decides first, and build rows and group
// codes are looked up for the remaining rows only. Other keys use an open-addressing table with tags. Joins without
// keys try every build row. Rows with a null key never match. Single source.
#pragma once

#include "engine/block/hash.hpp"
#include "engine/block/join_table.hpp"
#include "engine/op/filter/kernel.hpp"

namespace strom::engine::op {

using namespace block;

/// kProbeDirect. Null keys give false; errors of keys are kept.
template <class P>
STROM_KERNEL void probe_direct(const P& p, TileState& s, const TileInstr& instr) {
  const DirectTable& table = s.joins[instr.imm].direct;
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  if (static_cast<Phys>(s.code->register_phys[instr.a]) == Phys::kI32)
    p.test_bits(values<int32_t>(s, instr.a), s.count, static_cast<int32_t>(table.min), table.range, table.bitmap, out);
  else
    p.test_bits(values<int64_t>(s, instr.a), s.count, table.min, table.range, table.bitmap, out);
  const bool flagged = merge_flags(p, s, instr.dst, instr.a, kNoRegister);
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

/// kLookupIndex and kLookupCode: out[i] = array[key - min], `missing` for a null or absent key.
template <class P>
STROM_KERNEL void lookup_direct(const P& p, TileState& s, const TileInstr& instr, const uint32_t* array,
                                uint32_t missing) {
  const DirectTable& table = s.joins[instr.imm].direct;
  uint32_t* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  const uint8_t* flags = s.regs[instr.a].flags;
  const uint64_t range = table.range;
  const int64_t min = table.min;
  auto look_up = [&](const auto* key) {
    p.for_each(s.count, [&](int i) {
      const uint64_t offset = static_cast<uint64_t>(key[i]) - static_cast<uint64_t>(min);
      const bool inside = offset < range;
      out[i] = inside ? array[static_cast<uint32_t>(offset)] : missing;
    });
  };
  if (static_cast<Phys>(s.code->register_phys[instr.a]) == Phys::kI32)
    look_up(values<int32_t>(s, instr.a));
  else
    look_up(values<int64_t>(s, instr.a));
  if (flags != nullptr) p.for_each(s.count, [&](int i) { out[i] = flags[i] ? missing : out[i]; });
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

/// Flags of a row's keys.
STROM_INLINE uint8_t key_flags(const TileState& s, const uint16_t* keys, int i) {
  uint8_t flag = 0;
  for (int k = 1; k <= keys[0]; ++k)
    if (const uint8_t* flags = s.regs[keys[k]].flags; flags != nullptr) flag |= flags[i];
  return flag;
}

/// The build row with the keys of a tile row, none of which is null.
STROM_INLINE uint32_t find_in_hash(const TileState& s, const HashTable& table, const TableColumn* columns,
                                   const uint16_t* keys, uint64_t hash, int i) {
  const uint32_t tag = static_cast<uint32_t>(hash >> 32);
  for (uint64_t slot = hash & table.slot_mask;; slot = (slot + 1) & table.slot_mask) {
    const uint32_t row = table.slots[slot];
    if (row == kNoRow) return kNoRow;
    if (table.tags[slot] != tag) continue;
    bool equal = true;
    for (int k = 1; k <= keys[0]; ++k) equal = equal && key_matches(s, keys[k], i, columns[k - 1], row);
    if (equal) return row;
  }
}

/// kProbeHash. Errors of keys are kept, so that the row becomes a fallback row. A large table has a bitmap: where most
/// rows have no match, it saves accesses to distant memory, and their branches.
template <class P>
STROM_KERNEL void probe_hash(const P& p, TileState& s, const TileInstr& instr) {
  const HashTable& table = s.joins[instr.imm].hash;
  const TableColumn* columns = s.joins[instr.imm].keys;
  const uint16_t* keys = s.code->lists + instr.c;
  const uint64_t* hashes = values<uint64_t>(s, instr.a);
  uint32_t* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  uint8_t* out_flags = s.storage[instr.dst].flags;
  const auto fetch = [&](uint64_t hash) {
    p.prefetch(table.slots + (hash & table.slot_mask));
    p.prefetch(table.tags + (hash & table.slot_mask));
  };
  unsigned errors = 0;
  if (!P::kDevice && table.filter != nullptr) {
    int32_t* kept = s.scratch_positions;
    int count = 0;
    for (int i = 0; i < s.count; ++i) {
      const uint8_t flag = key_flags(s, keys, i);
      const uint64_t bit = hashes[i] & table.filter_mask;
      kept[count] = i;
      count += (table.filter[bit >> 6] >> (bit & 63) & 1) != 0 && flag == 0 ? 1 : 0;
      out[i] = kNoRow;
      out_flags[i] = flag & kErrorFlag;
      errors |= flag & kErrorFlag;
    }
    for (int k = 0; k < count; ++k) fetch(hashes[kept[k]]);
    for (int k = 0; k < count; ++k) out[kept[k]] = find_in_hash(s, table, columns, keys, hashes[kept[k]], kept[k]);
  } else {
    for (int i = 0; !P::kDevice && i < s.count; ++i) fetch(hashes[i]);
    p.for_each(s.count, [&](int i) {
      const uint8_t flag = key_flags(s, keys, i);
      out[i] = flag == 0 ? find_in_hash(s, table, columns, keys, hashes[i], i) : kNoRow;
      out_flags[i] = flag & kErrorFlag;
      errors |= flag & kErrorFlag;
    });
  }
  const bool flagged = p.any(errors != 0);
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

/// kFirstRow.
template <class P>
STROM_KERNEL void first_row(const P& p, TileState& s, const TileInstr& instr) {
  uint32_t* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  const bool has_row = s.joins[instr.imm].row_count > 0 && (instr.flags & kNoMatch) == 0;
  const uint32_t row = has_row ? 0 : kNoRow;
  p.for_each(s.count, [&](int i) { out[i] = row; });
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

}  // namespace strom::engine::op
