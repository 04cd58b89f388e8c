// Hash aggregation: finds the group of each row, and the sink that feeds the accumulators. Group keys that come from
// joined tables are codes, assigned when the join table was built. If the product of the counts of codes is small, the
// slot is computed and nothing is hashed. Single source.
#pragma once

#include "engine/agg/accumulate.hpp"
#include "engine/block/hash.hpp"

namespace strom::engine::op {

using namespace block;

/// kSlotAdd: dst <- code * stride + slot so far.
template <class P>
STROM_KERNEL void slot_add(const P& p, TileState& s, const TileInstr& instr) {
  const uint32_t* code = values<uint32_t>(s, instr.a);
  uint32_t* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  const uint32_t stride = instr.imm;
  if (instr.b == kNoRegister) {
    p.for_each(s.count, [&](int i) { out[i] = code[i] * stride; });
  } else {
    const uint32_t* so_far = values<uint32_t>(s, instr.b);
    p.for_each(s.count, [&](int i) { out[i] = code[i] * stride + so_far[i]; });
  }
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

/// Stores the keys of tile entry i as group `group`.
STROM_INLINE void store_keys(const TileState& s, const uint16_t* keys, int i, uint32_t group, uint64_t hash) {
  GroupTable& table = *s.groups;
  table.hashes[group] = hash;
  for (int k = 1; k <= keys[0]; ++k) {
    const TableColumn& column = table.keys[k - 1];
    const uint8_t* flags = s.regs[keys[k]].flags;
    column.flags[group] = flags != nullptr ? flags[i] & kNullFlag : 0;
    with_phys(column.phys, [&](auto zero) {
      using T = decltype(zero);
      static_cast<T*>(column.data)[group] = static_cast<const T*>(s.regs[keys[k]].data)[i];
    });
  }
}

/// The group of tile entry i; a new group is added. Only this thread uses the table, and the table has room.
STROM_INLINE uint32_t find_group(const TileState& s, const uint16_t* keys, int i, uint64_t hash) {
  GroupTable& table = *s.groups;
  for (uint64_t slot = hash & table.slot_mask;; slot = (slot + 1) & table.slot_mask) {
    const uint32_t group = table.slots[slot];
    if (group == kNoRow) {
      const uint32_t made = table.count++;
      store_keys(s, keys, i, made, hash);
      table.slots[slot] = made;
      return made;
    }
    if (table.hashes[group] != hash) continue;
    bool equal = true;
    for (int k = 1; k <= keys[0]; ++k) equal = equal && key_matches(s, keys[k], i, table.keys[k - 1], group);
    if (equal) return group;
  }
}

/// The same for a table that the threads of all blocks share, without waiting. A new group is written before its slot
/// is taken. If another thread takes that slot first, *spare keeps the group's number for the thread's next group.
/// kNoRow when the table is full.
template <class P>
STROM_INLINE uint32_t find_shared_group(const P& p, const TileState& s, const uint16_t* keys, int i, uint64_t hash,
                                        uint32_t* spare) {
  GroupTable& table = *s.groups;
  const auto load = [&](const auto* from) { return p.load_shared(from); };
  for (uint64_t slot = hash & table.slot_mask;; slot = (slot + 1) & table.slot_mask) {
    uint32_t group = p.load_shared(table.slots + slot);
    if (group == kNoRow) {
      if (*spare == kNoRow) {
        const uint32_t made = p.fetch_add(&table.count, 1u);
        if (made >= table.capacity) return kNoRow;
        *spare = made;
      }
      store_keys(s, keys, i, *spare, hash);
      p.publish();
      group = p.compare_and_swap(table.slots + slot, kNoRow, *spare);
      if (group == kNoRow) {
        const uint32_t made = *spare;
        *spare = kNoRow;
        return made;
      }
    }
    if (p.load_shared(table.hashes + group) != hash) continue;
    bool equal = true;
    for (int k = 1; k <= keys[0]; ++k) equal = equal && key_matches(s, keys[k], i, table.keys[k - 1], group, load);
    if (equal) return group;
  }
}

/// kFindGroup. False, and groups_full is set, when there is no room for another group. That happens only on a device,
/// since a CPU thread makes sure of room beforehand (room_for).
template <class P>
STROM_KERNEL bool find_groups(const P& p, TileState& s, const TileInstr& instr) {
  const uint16_t* keys = s.code->lists + instr.imm;
  const uint64_t* hashes = values<uint64_t>(s, instr.a);
  uint32_t* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  const GroupTable& table = *s.groups;
  bool full = false;
  if constexpr (P::kDevice) {
    uint32_t spare = kNoRow;
    p.for_each(s.count, [&](int i) {
      out[i] = full ? kNoRow : find_shared_group(p, s, keys, i, hashes[i], &spare);
      full |= out[i] == kNoRow;
    });
    full = p.any(full);
  } else {
    for (int i = 0; i < s.count; ++i) p.prefetch(table.slots + (hashes[i] & table.slot_mask));
    for (int i = 0; i < s.count; ++i) out[i] = find_group(s, keys, i, hashes[i]);
  }
  p.leader([&] {
    own(s, instr.dst, false);
    s.groups_full = full;
  });
  p.sync();
  return !full;
}

/// True when a tile finds room for its groups. On a device, room is made while the tile runs, see find_groups().
template <bool kSharesGroups>
STROM_INLINE bool has_room_for_groups(const TileState& s) {
  return kSharesGroups || s.code->grouping != Grouping::kHashed || s.groups->capacity - s.groups->count >= kTileRows;
}

/// End of a kAggregate segment with groups.
template <class P>
STROM_INLINE void aggregate_rows(const P& p, TileState& s, uint32_t segment) {
  const Segment& seg = s.code->segments[segment];
  const auto rows = agg::row_counts<P>(s);
  p.leader([&] { s.segment_rows_out[segment] += s.count; });
  const uint32_t* slots = values<uint32_t>(s, seg.mask);
  p.for_each_shared(s.count, [&](int i) { rows.with(slots[i], [&](auto count) { p.add(count, int64_t{1}); }); });
  for (uint32_t a = 0; a < s.code->aggregate_count; ++a) agg::accumulate(p, s, a, slots);
  p.sync();
}

}  // namespace strom::engine::op
