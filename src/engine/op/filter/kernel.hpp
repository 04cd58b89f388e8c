// Logic and filtering: three-valued AND, OR, NOT, null tests, CASE, and dropping rows of a tile. Single source. A flag
// plane holds kNullFlag or kErrorFlag per value. An error counts only where PostgreSQL would have evaluated the
// expression. So AND and OR look at the left side first, and CASE at the branch that is taken.
#pragma once

#include "engine/block/row_order.hpp"
#include "engine/block/registers.hpp"

namespace strom::engine::op {

using namespace block;

/// `stop` is the value that decides: false for AND, true for OR.
template <class P>
STROM_KERNEL void logic_and_or(const P& p, TileState& s, const TileInstr& instr, uint8_t stop) {
  const uint8_t* a = values<uint8_t>(s, instr.a);
  const uint8_t* b = values<uint8_t>(s, instr.b);
  const uint8_t* fa = s.regs[instr.a].flags;
  const uint8_t* fb = s.regs[instr.b].flags;
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  uint8_t* flags = s.storage[instr.dst].flags;
  const bool flagged = fa != nullptr || fb != nullptr;
  if (!flagged) {
    if (stop == 0)
      p.for_each(s.count, [&](int i) { out[i] = a[i] & b[i]; });
    else
      p.for_each(s.count, [&](int i) { out[i] = a[i] | b[i]; });
  } else {
    p.for_each(s.count, [&](int i) {
      const uint8_t ai = a[i], bi = b[i], ea = fa != nullptr ? fa[i] : 0, eb = fb != nullptr ? fb[i] : 0;
      const bool a_stops = ea == 0 && ai == stop, b_stops = eb == 0 && bi == stop;
      uint8_t flag = 0;
      if (ea & kErrorFlag)
        flag = kErrorFlag;
      else if (!a_stops && !b_stops)
        flag = eb & kErrorFlag ? kErrorFlag : (ea | eb) & kNullFlag;
      out[i] = flag != 0 ? 0 : (a_stops || b_stops) ? stop : 1 - stop;
      flags[i] = flag;
    });
  }
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

template <class P>
STROM_KERNEL void logic_not(const P& p, TileState& s, const TileInstr& instr) {
  const uint8_t* a = values<uint8_t>(s, instr.a);
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  p.for_each(s.count, [&](int i) { out[i] = a[i] ^ 1; });
  const bool flagged = merge_flags(p, s, instr.dst, instr.a, kNoRegister);
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

template <class P>
STROM_KERNEL void null_test(const P& p, TileState& s, const TileInstr& instr, uint8_t when_null) {
  const uint8_t* fa = s.regs[instr.a].flags;
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  uint8_t* flags = s.storage[instr.dst].flags;
  unsigned errors = 0;
  if (fa == nullptr)
    p.for_each(s.count, [&](int i) { out[i] = 1 - when_null; });
  else
    p.for_each(s.count, [&](int i) {
      out[i] = fa[i] & kNullFlag ? when_null : 1 - when_null;
      flags[i] = fa[i] & kErrorFlag;
      errors |= flags[i];
    });
  const bool flagged = p.any(errors != 0);
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

/// kIsNotTrue. Errors are kept.
template <class P>
STROM_KERNEL void is_not_true(const P& p, TileState& s, const TileInstr& instr) {
  const uint8_t* a = values<uint8_t>(s, instr.a);
  const uint8_t* fa = s.regs[instr.a].flags;
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  uint8_t* flags = s.storage[instr.dst].flags;
  if (fa == nullptr)
    p.for_each(s.count, [&](int i) { out[i] = a[i] ^ 1; });
  else
    p.for_each(s.count, [&](int i) {
      out[i] = (a[i] ^ 1) | ((fa[i] & kNullFlag) != 0);
      flags[i] = fa[i] & kErrorFlag;
    });
  p.leader([&] { own(s, instr.dst, fa != nullptr); });
  p.sync();
}

/// kFalse.
template <class P>
STROM_KERNEL void all_false(const P& p, TileState& s, const TileInstr& instr) {
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  p.for_each(s.count, [&](int i) { out[i] = 0; });
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

template <class P, class T>
STROM_INLINE void select_values(const P& p, TileState& s, uint16_t dst, const uint8_t* take, uint16_t b, uint16_t c) {
  const T* vb = values<T>(s, b);
  const T* vc = values<T>(s, c);
  T* out = static_cast<T*>(s.storage[dst].data);
  p.for_each(s.count, [&](int i) { out[i] = take[i] ? vb[i] : vc[i]; });
}

/// dst <- take ? b : c with the flags of the branch taken, or'ed with `extra` (errors of the condition).
template <class P>
STROM_INLINE void select_by(const P& p, TileState& s, uint16_t dst, const uint8_t* take, const uint8_t* extra,
                            uint16_t b, uint16_t c) {
  const uint8_t* fb = s.regs[b].flags;
  const uint8_t* fc = s.regs[c].flags;
  uint8_t* flags = s.storage[dst].flags;
  const bool flagged = fb != nullptr || fc != nullptr || extra != nullptr;
  switch (registry::phys_size(static_cast<Phys>(s.code->register_phys[dst]))) {
    case 1: select_values<P, uint8_t>(p, s, dst, take, b, c); break;
    case 4: select_values<P, uint32_t>(p, s, dst, take, b, c); break;
    case 8: select_values<P, uint64_t>(p, s, dst, take, b, c); break;
    default: select_values<P, base::uint128>(p, s, dst, take, b, c);
  }
  if (flagged)
    p.for_each(s.count, [&](int i) {
      const uint8_t taken = take[i] ? (fb != nullptr ? fb[i] : 0) : (fc != nullptr ? fc[i] : 0);
      flags[i] = extra != nullptr && (extra[i] & kErrorFlag) ? kErrorFlag : taken;
    });
  p.leader([&] { own(s, dst, flagged); });
  p.sync();
}

template <class P>
STROM_KERNEL void select(const P& p, TileState& s, const TileInstr& instr) {
  const uint8_t* condition = values<uint8_t>(s, instr.a);
  const uint8_t* fa = s.regs[instr.a].flags;
  const uint8_t* take = condition;
  if (fa != nullptr) {
    p.for_each(s.count, [&](int i) { s.scratch_mask[i] = condition[i] & (fa[i] == 0); });
    take = s.scratch_mask;
    p.sync();
  }
  select_by(p, s, instr.dst, take, fa, instr.b, instr.c);
}

template <class P>
STROM_KERNEL void coalesce(const P& p, TileState& s, const TileInstr& instr) {
  const uint8_t* fa = s.regs[instr.a].flags;
  p.for_each(s.count, [&](int i) { s.scratch_mask[i] = fa == nullptr || !(fa[i] & kNullFlag); });
  p.sync();
  select_by(p, s, instr.dst, s.scratch_mask, nullptr, instr.a, instr.b);
}

/// dst <- register a with the flags that `flags_of(flags of a, whether the condition b is true, flags of b)` gives. dst
/// aliases nothing.
template <class P, class FlagsOf>
STROM_KERNEL void reflag(const P& p, TileState& s, const TileInstr& instr, FlagsOf flags_of) {
  const uint8_t* fa = s.regs[instr.a].flags;
  const uint8_t* condition = values<uint8_t>(s, instr.b);
  const uint8_t* fb = s.regs[instr.b].flags;
  uint8_t* flags = s.storage[instr.dst].flags;
  const Phys phys = static_cast<Phys>(s.code->register_phys[instr.dst]);
  copy_values(p, phys, s.storage[instr.dst].data, s.regs[instr.a].data, s.count);
  unsigned flagged = 0;
  p.for_each(s.count, [&](int i) {
    const uint8_t flag = fb != nullptr ? fb[i] : 0;
    flags[i] = flags_of(fa != nullptr ? fa[i] : uint8_t{0}, condition[i] != 0 && flag == 0, flag);
    flagged |= flags[i];
  });
  const bool any_flag = p.any(flagged != 0);
  p.leader([&] { own(s, instr.dst, any_flag); });
  p.sync();
}

/// kKeepWhere: an aggregate's argument where the aggregate's FILTER is true.
template <class P>
STROM_KERNEL void keep_where(const P& p, TileState& s, const TileInstr& instr) {
  reflag(p, s, instr, [](uint8_t flags, bool holds, uint8_t of_condition) -> uint8_t {
    return of_condition & kErrorFlag ? kErrorFlag : holds ? flags : kNullFlag;
  });
}

/// kAssume. The condition is usually a constant.
template <class P>
STROM_KERNEL void assume(const P& p, TileState& s, const TileInstr& instr) {
  reflag(p, s, instr, [](uint8_t flags, bool holds, uint8_t) -> uint8_t { return holds ? flags : flags | kErrorFlag; });
}

/// True when the running tile is contiguous and has hidden rows (TileState::selection). Hidden rows are computed like
/// the others, and dropped at the end of the segment (select_rows()). `taken` does not count them.
STROM_INLINE bool is_masked(const TileState& s) { return s.rows == nullptr && s.taken < s.count; }

/// Copies mask[i] (0 or 1), with 0 for hidden rows of a masked tile.
template <class P>
STROM_INLINE void drop_missing_rows(const P& p, const TileState& s, const uint8_t* mask, uint8_t* out) {
  const uint8_t* const bits = s.selection + ((s.morsel_begin + s.dense_base) >> 3);
  const int whole = s.count >> 3;
  p.for_each(whole, [&](int i) {
    // Spreads eight bits to eight bytes; the carry turns each byte that is not 0 into 1.
    constexpr uint64_t kCopies = 0x0101010101010101, kOneEach = 0x8040201008040201, kCarry = 0x7F7F7F7F7F7F7F7F;
    const uint64_t spread = bits[i] * kCopies & kOneEach;
    const uint64_t kept = base::load_once<uint64_t>(mask + 8 * i) & ((spread + kCarry) >> 7 & kCopies);
    __builtin_memcpy(out + 8 * i, &kept, sizeof(kept));
  });
  for (int i = 8 * whole; i < s.count; ++i) out[i] = mask[i] & (bits[i >> 3] >> (i & 7) & 1);
}

/// Appends the tile's rows with an error in one of the registers of list `errors` to the fallback buffer, and writes 1
/// to scratch_mask for all others. Returns whether there was an error. The caller has checked that the buffer has room.
template <class P>
STROM_KERNEL bool take_fallback_rows(const P& p, TileState& s, ListRef errors) {
  const uint16_t* list = s.code->lists + errors;
  bool flagged = false;
  for (int k = 1; k <= list[0]; ++k) flagged |= s.regs[list[k]].flags != nullptr;
  if (!flagged) return false;
  unsigned found = 0;
  p.for_each(s.count, [&](int i) {
    uint8_t error = 0;
    for (int k = 1; k <= list[0]; ++k)
      if (const uint8_t* flags = s.regs[list[k]].flags; flags != nullptr) error |= flags[i] & kErrorFlag;
    s.scratch_mask[i] = error != 0;
    found |= error;
  });
  if (!p.any(found != 0)) return false;
  p.sync();
  if constexpr (!P::kDevice) {
    if (is_masked(s)) drop_missing_rows(p, s, s.scratch_mask, s.scratch_mask);
  }
  const int found_rows = p.compact(s.scratch_mask, s.count, s.scratch_positions);
  const uint16_t* join_rows = s.code->lists + s.code->segments[s.segment].join_rows;
  FallbackBuffer& out = *s.fallback;
  const int base = out.count;
  p.for_each(found_rows, [&](int k) {
    const int i = s.scratch_positions[k];
    out.rows[base + k] = row_of(s, i);
    for (int j = 0; j < static_cast<int>(s.code->join_count); ++j) {
      const uint16_t reg = join_rows[1 + j];
      out.join_rows[(base + k) * static_cast<int>(s.code->join_count) + j] =
          reg == kNoRegister ? kNoRow : values<uint32_t>(s, reg)[i];
    }
  });
  p.sync();
  p.leader([&] { out.count = base + found_rows; });
  p.for_each(s.count, [&](int i) { s.scratch_mask[i] ^= 1; });
  p.sync();
  return true;
}

/// kGate: drops rows with an error in a register of list imm. Registers of list c keep their values for the rows left.
template <class P>
STROM_KERNEL void gate(const P& p, TileState& s, const TileInstr& instr) {
  if (!take_fallback_rows(p, s, instr.imm)) return;
  const int kept = p.compact(s.scratch_mask, s.count, s.scratch_positions);
  const uint16_t* alive = s.code->lists + instr.c;
  for (int k = 1; k <= alive[0]; ++k) {
    const uint16_t reg = alive[k];
    const Phys phys = static_cast<Phys>(s.code->register_phys[reg]);
    gather_values(p, phys, s.scratch_values, s.regs[reg].data, s.scratch_positions, kept);
    p.sync();
    copy_values(p, phys, s.storage[reg].data, s.scratch_values, kept);
    const uint8_t* flags = s.regs[reg].flags;
    if (flags != nullptr) {
      uint8_t* moved = static_cast<uint8_t*>(s.scratch_values);
      p.sync();
      p.for_each(kept, [&](int i) { moved[i] = flags[s.scratch_positions[i]]; });
      p.sync();
      p.for_each(kept, [&](int i) { s.storage[reg].flags[i] = moved[i]; });
    }
    p.sync();
    p.leader([&] { own(s, reg, flags != nullptr); });
    p.sync();
  }
  int32_t* moved = static_cast<int32_t*>(s.scratch_values);
  p.for_each(kept, [&](int i) { moved[i] = row_of(s, s.scratch_positions[i]); });
  p.sync();
  p.for_each(kept, [&](int i) { s.local_rows[i] = moved[i]; });
  p.leader([&] {
    s.rows = s.local_rows;
    s.count = kept;
  });
  p.sync();
}

/// Moves entries `positions[0..count)` of the running tile to the end of segment `next`'s buffer.
template <class P>
STROM_INLINE void append(const P& p, TileState& s, uint32_t next, ListRef carried, const int32_t* positions,
                         int count) {
  SegmentBuffer& buffer = s.buffers[next];
  const int base = buffer.count;
  int32_t* rows = buffer.rows + base;
  if (s.rows == nullptr) {
    const int32_t first = s.dense_base;
    p.for_each(count, [&](int i) { rows[i] = first + positions[i]; });
  } else {
    const int32_t* from = s.rows;
    p.for_each(count, [&](int i) { rows[i] = from[positions[i]]; });
  }
  const uint16_t* list = s.code->lists + carried;
  for (int k = 1; k <= list[0]; ++k) {
    const uint16_t reg = list[k];
    const Phys phys = static_cast<Phys>(s.code->register_phys[reg]);
    RegStorage& out = buffer.carried[k - 1];
    gather_values(p, phys, at(out.data, phys, base), s.regs[reg].data, positions, count);
    const uint8_t* flags = s.regs[reg].flags;
    const bool seen = buffer.has_flags[k - 1] != 0;
    if (flags != nullptr) {
      if (!seen) p.for_each(base, [&](int i) { out.flags[i] = 0; });
      p.for_each(count, [&](int i) { out.flags[base + i] = flags[positions[i]]; });
    } else if (seen) {
      p.for_each(count, [&](int i) { out.flags[base + i] = 0; });
    }
    p.sync();
    p.leader([&] {
      if (flags != nullptr) buffer.has_flags[k - 1] = 1;
    });
  }
  p.sync();
  p.leader([&] { buffer.count = base + count; });
  p.sync();
}

/// Moves the tile that was appended first behind the rows that came later.
STROM_INLINE void put_oldest_last(TileState& s, SegmentBuffer& buffer) {
  const int later = buffer.count - kTileRows;
  if (later <= 0) return;
  for (int i = 0; i < later; ++i) s.scratch_positions[i] = buffer.rows[kTileRows + i];
  for (int i = kTileRows; i-- > 0;) buffer.rows[later + i] = buffer.rows[i];
  for (int i = 0; i < later; ++i) buffer.rows[i] = s.scratch_positions[i];
}

/// End of a kFilter segment. Without a mask, all rows without an error go on.
template <class P>
STROM_INLINE void filter_rows(const P& p, TileState& s, uint32_t segment) {
  const Segment& seg = s.code->segments[segment];
  const bool some_fell_back = take_fallback_rows(p, s, seg.errors);
  const bool all = seg.mask == kNoRegister;
  const uint8_t* mask = all ? s.scratch_mask : values<uint8_t>(s, seg.mask);
  const uint8_t* flags = all ? nullptr : s.regs[seg.mask].flags;
  if (all && !some_fell_back) {
    p.for_each(s.count, [&](int i) { s.scratch_mask[i] = 1; });
    p.sync();
  }
  if (flags != nullptr) {
    p.for_each(s.count, [&](int i) { s.scratch_mask[i] = mask[i] & (flags[i] == 0); });
    p.sync();
    mask = s.scratch_mask;
  }
  if constexpr (!P::kDevice) {
    if (is_masked(s)) {
      drop_missing_rows(p, s, mask, s.scratch_mask);
      mask = s.scratch_mask;
    }
  }
  const int kept = p.compact(mask, s.count, s.scratch_positions);
  p.leader([&] { s.segment_rows_out[segment] += kept; });
  if (kept > 0) append(p, s, segment + 1, seg.carried, s.scratch_positions, kept);
  if constexpr (!P::kDevice) {
    if (seg.join == kKeepsOrder) put_oldest_last(s, s.buffers[segment + 1]);
  }
}

}  // namespace strom::engine::op
