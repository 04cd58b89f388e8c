// What joins of all kinds do with build rows: they decide which rows go on, read payloads, and try one candidate after
// another. The kernels of each kind (op/hash_join and others) find the candidates. Single source.
#pragma once

#include "engine/block/hash.hpp"
#include "engine/block/join_table.hpp"
#include "engine/op/filter/kernel.hpp"

namespace strom::engine::op {

using namespace block;

/// kMarkMatched.
template <class P>
STROM_KERNEL void mark_matched(const P& p, TileState& s, const TileInstr& instr) {
  uint8_t* matched = s.joins[instr.imm].matched;
  const uint32_t* rows = values<uint32_t>(s, instr.a);
  const bool all = instr.b == kNoRegister;
  const uint8_t* mask = all ? nullptr : values<uint8_t>(s, instr.b);
  const uint8_t* flags = all ? nullptr : s.regs[instr.b].flags;
  p.for_each_shared(s.count, [&](int i) {
    const bool match = rows[i] != kNoRow && (all || (mask[i] != 0 && (flags == nullptr || flags[i] == 0)));
    if (match) p.mark(matched + rows[i]);
  });
  p.sync();
}

/// kBuildRow.
template <class P>
STROM_KERNEL void build_row(const P& p, TileState& s, const TileInstr& instr) {
  uint32_t* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  const auto first = static_cast<uint32_t>(s.morsel_begin + s.dense_base);
  p.for_each(s.count, [&](int i) { out[i] = first + static_cast<uint32_t>(i); });
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

/// kIsUnmatched.
template <class P>
STROM_KERNEL void is_unmatched(const P& p, TileState& s, const TileInstr& instr) {
  const uint8_t* matched = s.joins[instr.imm].matched;
  const uint32_t* rows = values<uint32_t>(s, instr.a);
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  p.for_each(s.count, [&](int i) { out[i] = matched[rows[i]] == 0; });
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

/// kInPartition. Rows with key errors are in every partition, so they become fallback rows and PostgreSQL finds the
/// partition.
template <class P>
STROM_KERNEL void in_partition(const P& p, TileState& s, const TileInstr& instr) {
  const uint64_t* hashes = values<uint64_t>(s, instr.a);
  const uint16_t* keys = s.code->lists + instr.c;
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  const uint32_t first = instr.imm >> 16, last = instr.imm & 0xffff;
  p.for_each(s.count, [&](int i) { out[i] = in_buckets(hashes[i], first, last); });
  for (int k = 1; k <= keys[0]; ++k)
    if (const uint8_t* flags = s.regs[keys[k]].flags; flags != nullptr)
      p.for_each(s.count, [&](int i) { out[i] |= (flags[i] & kErrorFlag) != 0; });
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

/// kRowFound.
template <class P>
STROM_KERNEL void row_found(const P& p, TileState& s, const TileInstr& instr) {
  const uint32_t* row = values<uint32_t>(s, instr.a);
  uint8_t* out = static_cast<uint8_t*>(s.storage[instr.dst].data);
  p.for_each(s.count, [&](int i) { out[i] = row[i] != kNoRow; });
  const bool flagged = merge_flags(p, s, instr.dst, instr.a, kNoRegister);
  p.leader([&] { own(s, instr.dst, flagged); });
  p.sync();
}

/// kLoadPayload: the payload column of the build rows in register a.
template <class P>
STROM_KERNEL void load_payload(const P& p, TileState& s, const TileInstr& instr) {
  const TableColumn& column = s.joins[instr.imm >> 16].payload[instr.imm & 0xffff];
  const int32_t* rows = values<int32_t>(s, instr.a);
  gather_values(p, column.phys, s.storage[instr.dst].data, column.data, rows, s.count);
  uint8_t* flags = s.storage[instr.dst].flags;
  if (column.flags != nullptr) p.for_each(s.count, [&](int i) { flags[i] = column.flags[rows[i]]; });
  p.leader([&] { own(s, instr.dst, column.flags != nullptr); });
  p.sync();
}

/// kLoadPayload with kMayMiss: null where register a is kNoRow.
template <class P>
STROM_KERNEL void load_payload_or_null(const P& p, TileState& s, const TileInstr& instr) {
  const TableColumn& column = s.joins[instr.imm >> 16].payload[instr.imm & 0xffff];
  const uint32_t* rows = values<uint32_t>(s, instr.a);
  uint8_t* flags = s.storage[instr.dst].flags;
  with_phys(column.phys, [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(column.data);
    T* out = static_cast<T*>(s.storage[instr.dst].data);
    p.for_each(s.count, [&](int i) { out[i] = rows[i] == kNoRow ? T{} : from[rows[i]]; });
  });
  const uint8_t* from_flags = column.flags;
  p.for_each(s.count, [&](int i) {
    flags[i] = rows[i] == kNoRow ? kNullFlag : from_flags != nullptr ? from_flags[rows[i]] : 0;
  });
  p.leader([&] { own(s, instr.dst, true); });
  p.sync();
}

/// kLoadCode: the group code of the build rows in register a.
template <class P>
STROM_KERNEL void load_code(const P& p, TileState& s, const TileInstr& instr) {
  const uint32_t* codes = s.joins[instr.imm].codes;
  const int32_t* rows = values<int32_t>(s, instr.a);
  uint32_t* out = static_cast<uint32_t*>(s.storage[instr.dst].data);
  p.for_each(s.count, [&](int i) { out[i] = codes[rows[i]]; });
  p.leader([&] { own(s, instr.dst, false); });
  p.sync();
}

/// Puts `kept` entries of the running tile, which lies right behind the end of the segment's own buffer, back into it.
template <class P>
STROM_INLINE void requeue(const P& p, TileState& s, uint32_t segment, const int32_t* positions, int kept) {
  SegmentBuffer& buffer = s.buffers[segment];
  const int base = buffer.count;
  auto* moved_rows = static_cast<int32_t*>(s.scratch_values);
  p.for_each(kept, [&](int i) { moved_rows[i] = buffer.rows[base + positions[i]]; });
  p.sync();
  p.for_each(kept, [&](int i) { buffer.rows[base + i] = moved_rows[i]; });
  const uint16_t* list = s.code->lists + s.code->segments[segment - 1].carried;
  for (int k = 1; k <= list[0]; ++k) {
    const Phys phys = static_cast<Phys>(s.code->register_phys[list[k]]);
    RegStorage& storage = buffer.carried[k - 1];
    p.sync();
    gather_values(p, phys, s.scratch_values, at(storage.data, phys, base), positions, kept);
    p.sync();
    copy_values(p, phys, at(storage.data, phys, base), s.scratch_values, kept);
    if (buffer.has_flags[k - 1] == 0) continue;
    auto* moved = static_cast<uint8_t*>(s.scratch_values);
    p.sync();
    p.for_each(kept, [&](int i) { moved[i] = storage.flags[base + positions[i]]; });
    p.sync();
    p.for_each(kept, [&](int i) { storage.flags[base + i] = moved[i]; });
  }
  p.sync();
  p.leader([&] { buffer.count = base + kept; });
  p.sync();
}

/// End of a kExpand segment: every row goes on with its current build row; rows with a duplicate also stay, with their
/// next build row. The running tile's rows were the last ones of this segment's buffer, and have been cut off from it.
template <class P>
STROM_INLINE void expand_rows(const P& p, TileState& s, uint32_t segment) {
  const Segment& seg = s.code->segments[segment];
  const int count = s.count;
  p.for_each(count, [&](int i) { s.scratch_positions[i] = i; });
  p.sync();
  append(p, s, segment + 1, seg.carried, s.scratch_positions, count);
  p.leader([&] { s.segment_rows_out[segment] += count; });
  const uint32_t* next = s.joins[seg.join].next;
  const uint32_t* following = seg.following == kNoRegister ? nullptr : values<uint32_t>(s, seg.following);
  if (next == nullptr && following == nullptr) return;
  // The index register lies in this segment's own buffer, so it is enough to advance it there and to compact in place.
  uint32_t* index = values<uint32_t>(s, seg.index);
  p.for_each(count, [&](int i) {
    index[i] = following != nullptr ? following[i] : next[index[i]];
    s.scratch_mask[i] = index[i] != kNoRow;
  });
  p.sync();
  const int kept = p.compact(s.scratch_mask, count, s.scratch_positions);
  if (kept > 0) requeue(p, s, segment, s.scratch_positions, kept);
}

/// Tries one candidate of each row of a kMatch segment. Writes which rows go on (scratch_mask), with their build row or
/// kNoRow in the index register, and the build row that each row tries next (scratch_values, kNoRow = none).
template <class P>
STROM_INLINE void try_matches(const P& p, TileState& s, const Segment& seg) {
  const uint32_t* next = s.joins[seg.join].next;
  const uint32_t* next_of = seg.following == kNoRegister ? nullptr : values<uint32_t>(s, seg.following);
  const bool all = seg.mask == kNoRegister;
  const uint8_t* mask = all ? nullptr : values<uint8_t>(s, seg.mask);
  const uint8_t* flags = all ? nullptr : s.regs[seg.mask].flags;
  uint32_t* index = values<uint32_t>(s, seg.index);
  uint8_t* matched = seg.matched == kNoRegister ? nullptr : values<uint8_t>(s, seg.matched);
  auto* following = static_cast<uint32_t*>(s.scratch_values);
  const MatchKind kind = seg.match;
  p.for_each(s.count, [&](int i) {
    const uint32_t row = index[i];
    const bool match = row != kNoRow && (all || (mask[i] != 0 && (flags == nullptr || flags[i] == 0)));
    uint32_t after = kNoRow;
    if (row != kNoRow) after = next_of != nullptr ? next_of[i] : next != nullptr ? next[row] : kNoRow;
    bool out = match;
    if (kind == MatchKind::kLeft) {
      const bool any = match || matched[i] != 0;
      out = match || (!any && after == kNoRow);
      matched[i] = any;
      if (!match) index[i] = kNoRow;
    } else if (kind == MatchKind::kSemi) {
      if (match) after = kNoRow;
    } else if (kind == MatchKind::kAnti) {
      out = !match && after == kNoRow;
      if (match) after = kNoRow;
    } else if (kind == MatchKind::kNone) {
      out = false;
    }
    s.scratch_mask[i] = out;
    following[i] = after;
  });
  p.sync();
}

/// End of a kMatch segment. As in expand_rows(), the index and matched registers lie in the segment's own buffer.
template <class P>
STROM_INLINE void match_rows(const P& p, TileState& s, uint32_t segment) {
  const Segment& seg = s.code->segments[segment];
  const int count = s.count;
  try_matches(p, s, seg);
  const int out = p.compact(s.scratch_mask, count, s.scratch_positions);
  p.leader([&] { s.segment_rows_out[segment] += out; });
  if (out > 0) append(p, s, segment + 1, seg.carried, s.scratch_positions, out);
  p.sync();
  if (s.joins[seg.join].next == nullptr && seg.following == kNoRegister) return;
  uint32_t* index = values<uint32_t>(s, seg.index);
  const auto* following = static_cast<const uint32_t*>(s.scratch_values);
  p.for_each(count, [&](int i) {
    index[i] = following[i];
    s.scratch_mask[i] = following[i] != kNoRow;
  });
  p.sync();
  const int kept = p.compact(s.scratch_mask, count, s.scratch_positions);
  if (kept > 0) requeue(p, s, segment, s.scratch_positions, kept);
}

}  // namespace strom::engine::op
