// The op-code interpreter: runs the instructions of a segment over a tile, and the scheduler that decides which
// segment runs next. Single source; one call works on one morsel (a range of rows of a chunk).
#pragma once

#include "engine/block/tile_op.hpp"
#include "engine/expr/decimal.hpp"
#include "engine/expr/row_decimal.hpp"
#include "engine/agg/narrow.hpp"
#include "engine/op/call/kernel.hpp"
#include "engine/op/filter/kernel.hpp"
#include "engine/op/hash_agg/kernel.hpp"
#include "engine/op/hash_join/kernel.hpp"
#include "engine/op/join/kernel.hpp"
#include "engine/op/output/kernel.hpp"
#include "engine/op/reduce/kernel.hpp"
#include "engine/op/scan/kernel.hpp"
#include "engine/op/top_rows/kernel.hpp"

namespace strom::engine::op {

/// kRescale, kNumericToInt, kToDecimal and the like: unary calls with parameters in the instruction.
template <class P, class R, class F>
STROM_INLINE void convert_numeric(const P& p, TileState& s, const TileInstr& instr, F convert) {
  const base::int128* a = values<base::int128>(s, instr.a);
  R* out = static_cast<R*>(s.storage[instr.dst].data);
  unsigned raised = 0;
  p.for_each(s.count, [&](int i) { raised |= static_cast<unsigned>(convert(a[i], &out[i])); });
  finish_call(p, s, instr, kNoRegister, raised != 0, [&](int i) {
    R ignored;
    return convert(a[i], &ignored);
  });
}

template <class P>
STROM_KERNEL void rescale(const P& p, TileState& s, const TileInstr& instr) {
  const int from = static_cast<int>(instr.imm >> 16), to = static_cast<int>(instr.imm & 0xffff);
  const base::int128 up = to > from ? base::power_of_ten(to - from) : 1;
  const base::int128 down = from > to ? base::power_of_ten(from - to) : 1;
  convert_numeric<P, base::int128>(p, s, instr, [up, down](base::int128 in, base::int128* out) {
    return expr::rescale_overflows(in, up, down, out);
  });
}

template <class P>
STROM_KERNEL void numeric_to_int(const P& p, TileState& s, const TileInstr& instr) {
  const int scale = static_cast<int>(instr.imm);
  const auto type = static_cast<registry::TypeId>(instr.c);
  if (type == registry::TypeId::kInt8) {
    convert_numeric<P, int64_t>(p, s, instr, [scale](base::int128 in, int64_t* out) {
      return expr::decimal_to_int(in, scale, INT64_MIN, INT64_MAX, out);
    });
    return;
  }
  const int64_t highest = type == registry::TypeId::kInt2 ? INT16_MAX : INT32_MAX;
  convert_numeric<P, int32_t>(p, s, instr, [scale, highest](base::int128 in, int32_t* out) {
    int64_t wide;
    const bool bad = expr::decimal_to_int(in, scale, -highest - 1, highest, &wide);
    *out = static_cast<int32_t>(wide);
    return bad;
  });
}

template <class P>
STROM_KERNEL void numeric_to_float(const P& p, TileState& s, const TileInstr& instr) {
  const int scale = static_cast<int>(instr.imm);
  convert_numeric<P, double>(p, s, instr,
                             [scale](base::int128 in, double* out) { return expr::decimal_to_double(in, scale, out); });
}

template <class P>
STROM_KERNEL void to_decimal(const P& p, TileState& s, const TileInstr& instr) {
  const int scale = static_cast<int>(instr.imm);
  convert_numeric<P, base::int128>(
      p, s, instr, [scale](base::int128 in, base::int128* out) { return expr::to_decimal(in, scale, out); });
}

template <class P>
STROM_KERNEL void fix_decimal(const P& p, TileState& s, const TileInstr& instr) {
  const uint32_t imm = instr.imm;
  convert_numeric<P, base::int128>(
      p, s, instr, [imm](base::int128 in, base::int128* out) { return expr::fix_decimal(in, imm, out); });
}

template <class P>
STROM_KERNEL void align_decimal(const P& p, TileState& s, const TileInstr& instr) {
  convert_numeric<P, base::int128>(p, s, instr,
                                   [](base::int128 in, base::int128* out) { return expr::order_decimal(in, out); });
}

/// Calls a registry function. Defined where tiles are instantiated (engine/inst), because on the CPU each group of
/// functions is compiled separately.
template <class P>
STROM_KERNEL void execute_call(const P& p, TileState& s, const TileInstr& instr);

/// kFindCandidate and kNextCandidate. Defined there, too, for indexes whose probes are large.
template <class P>
STROM_KERNEL void probe_index(const P& p, TileState& s, const TileInstr& instr);

/// Executes one instruction over the running tile. False when a source column is corrupt, or groups_full is set.
template <class P>
STROM_INLINE bool execute(const P& p, TileState& s, const TileInstr& instr) {
  switch (static_cast<TileOp>(instr.op)) {
    case TileOp::kLoadColumn: return load_column(p, s, instr);
    case TileOp::kLoadPayload:
      if (instr.flags & kMayMiss)
        load_payload_or_null(p, s, instr);
      else
        load_payload(p, s, instr);
      break;
    case TileOp::kLoadCode: load_code(p, s, instr); break;
    case TileOp::kProbeDirect: probe_direct(p, s, instr); break;
    case TileOp::kLookupIndex: lookup_direct(p, s, instr, s.joins[instr.imm].direct.index, kNoRow); break;
    case TileOp::kLookupCode: lookup_direct(p, s, instr, s.joins[instr.imm].direct.key_codes, 0); break;
    case TileOp::kHash: hash_registers(p, s, instr); break;
    case TileOp::kProbeHash: probe_hash(p, s, instr); break;
    case TileOp::kFindCandidate:
    case TileOp::kNextCandidate: probe_index(p, s, instr); break;
    case TileOp::kFirstRow: first_row(p, s, instr); break;
    case TileOp::kMarkMatched: mark_matched(p, s, instr); break;
    case TileOp::kBuildRow: build_row(p, s, instr); break;
    case TileOp::kIsUnmatched: is_unmatched(p, s, instr); break;
    case TileOp::kRowFound: row_found(p, s, instr); break;
    case TileOp::kInPartition: in_partition(p, s, instr); break;
    case TileOp::kFalse: all_false(p, s, instr); break;
    case TileOp::kIsNotTrue: is_not_true(p, s, instr); break;
    case TileOp::kAnd: logic_and_or(p, s, instr, 0); break;
    case TileOp::kOr: logic_and_or(p, s, instr, 1); break;
    case TileOp::kNot: logic_not(p, s, instr); break;
    case TileOp::kIsNull: null_test(p, s, instr, 1); break;
    case TileOp::kIsNotNull: null_test(p, s, instr, 0); break;
    case TileOp::kSelect: select(p, s, instr); break;
    case TileOp::kCoalesce: coalesce(p, s, instr); break;
    case TileOp::kRescale: rescale(p, s, instr); break;
    case TileOp::kNumericToInt: numeric_to_int(p, s, instr); break;
    case TileOp::kNumericToFloat: numeric_to_float(p, s, instr); break;
    case TileOp::kToDecimal: to_decimal(p, s, instr); break;
    case TileOp::kFixDecimal: fix_decimal(p, s, instr); break;
    case TileOp::kAlignDecimal: align_decimal(p, s, instr); break;
    case TileOp::kNarrowSum: agg::narrow_sum(p, s, instr); break;
    case TileOp::kKeepWhere: keep_where(p, s, instr); break;
    case TileOp::kAssume: assume(p, s, instr); break;
    case TileOp::kGate: gate(p, s, instr); break;
    case TileOp::kSlotAdd: slot_add(p, s, instr); break;
    case TileOp::kOrderKey: order_key(p, s, instr); break;
    case TileOp::kWithinTop: within_top(p, s, instr); break;
    case TileOp::kFindGroup: return find_groups(p, s, instr);
    default: execute_call(p, s, instr);
  }
  return true;
}

/// Clears the flags of a segment's buffer, which is empty.
STROM_INLINE void forget_flags(const TileState& s, uint32_t segment) {
  const uint16_t* list = s.code->lists + s.code->segments[segment - 1].carried;
  for (int k = 1; k <= list[0]; ++k) s.buffers[segment].has_flags[k - 1] = 0;
}

/// Number of the tile's visible rows (TileState::selection), where the tile's first bit begins a byte.
STROM_INLINE int count_selected(const TileState& s, const uint8_t* bits) {
  int selected = 0, i = 0;
  for (; i + 64 <= s.count; i += 64) selected += __builtin_popcountll(base::load_once<uint64_t>(bits + (i >> 3)));
  for (; i < s.count; ++i) selected += bits[i >> 3] >> (i & 7) & 1;
  return selected;
}

/// True when the first segment may compute hidden rows, whose values are arbitrary and may change meanwhile: it is a
/// filter, and no value that it takes points to others.
STROM_INLINE bool may_take_missing_rows(const TileState& s) {
  const Segment& segment = s.code->segments[0];
  if (segment.kind != SegmentEnd::kFilter) return false;
  for (uint32_t k = segment.begin; k < segment.end; ++k) {
    const TileInstr& instr = s.code->instrs[k];
    const bool is_load = instr.op == static_cast<uint16_t>(TileOp::kLoadColumn);
    const bool is_function = instr.op >= kFirstFunction;
    const bool is_logic =
        instr.op >= static_cast<uint16_t>(TileOp::kFalse) && instr.op <= static_cast<uint16_t>(TileOp::kNumericToFloat);
    if (!is_load && !is_function && !is_logic) return false;
    if (static_cast<Phys>(s.code->register_phys[instr.dst]) == Phys::kStr) return false;
    if (is_load && s.columns[instr.imm].is_stored_numeric) return false;
  }
  return true;
}

/// On CPUs: leaves a tile with hidden rows as it is (is_masked()) where that is allowed. False: the tile gets a list of
/// its visible rows, which a gather reads. Where most rows are hidden, that is faster.
STROM_INLINE bool mask_rows(TileState& s) {
  const int64_t first = s.morsel_begin + s.dense_base;
  if ((first & 7) != 0) return false;
  const int selected = count_selected(s, s.selection + (first >> 3));
  if (selected == s.count) return true;
  constexpr int kLeastShare = 4;
  if (selected < s.count / kLeastShare || !may_take_missing_rows(s)) return false;
  s.segment_rows_in[0] -= s.count - selected;
  s.taken = selected;
  return true;
}

/// Keeps the visible rows of a dense tile (TileState::selection). A tile without hidden rows stays dense.
template <class P>
STROM_KERNEL void select_rows(const P& p, TileState& s) {
  if constexpr (!P::kDevice) {
    if (mask_rows(s)) return;
  }
  const int64_t first = s.morsel_begin + s.dense_base;
  const uint8_t* const bits = s.selection;
  uint8_t* const mask = s.scratch_mask;
  unsigned missing = 0;
  p.for_each(s.count, [&](int i) {
    const auto bit = static_cast<uint8_t>(bits[(first + i) >> 3] >> ((first + i) & 7) & 1);
    mask[i] = bit;
    missing |= bit ^ 1u;
  });
  if (!p.any(missing != 0)) return;
  p.sync();
  int32_t* const rows = s.local_rows;
  const int left = p.compact(mask, s.count, rows);
  const int32_t base = s.dense_base;
  p.for_each(left, [&](int i) { rows[i] += base; });
  p.leader([&] {
    s.rows = rows;
    s.segment_rows_in[0] -= s.count - left;
    s.count = s.taken = left;
  });
  p.sync();
}

/// Points the running tile at its input: the next rows of the morsel, or the last rows of the segment's buffer.
template <class P>
STROM_INLINE void take_input(const P& p, TileState& s, uint32_t segment) {
  p.leader([&] {
    s.segment = segment;
    s.text_mark = s.text.used;
    s.fallback_mark = s.fallback->count;
    s.groups_full = 0;
    // One thread looks for the block, whose other threads read the budget behind a barrier.
    s.budget = s.stop != nullptr && p.look(s.stop) != 0 ? 0 : s.budget - 1;
    if (segment == 0) {
      const int32_t left = s.morsel_rows - s.cursor;
      s.count = left < kTileRows ? left : kTileRows;
      s.dense_base = s.cursor;
      s.rows = nullptr;
      s.cursor += s.count;
      s.passed = s.count;
    } else {
      SegmentBuffer& buffer = s.buffers[segment];
      s.count = buffer.count < kTileRows ? buffer.count : kTileRows;
      buffer.count -= s.count;
      s.rows = buffer.rows + buffer.count;
      const uint16_t* list = s.code->lists + s.code->segments[segment - 1].carried;
      for (int k = 1; k <= list[0]; ++k) {
        const Phys phys = static_cast<Phys>(s.code->register_phys[list[k]]);
        const RegStorage& storage = buffer.carried[k - 1];
        s.regs[list[k]].data = at(storage.data, phys, buffer.count);
        s.regs[list[k]].flags = buffer.has_flags[k - 1] ? storage.flags + buffer.count : nullptr;
      }
      if (buffer.count == 0 && s.code->segments[segment].kind != SegmentEnd::kAggregate) forget_flags(s, segment);
    }
    s.taken = s.count;
    s.segment_rows_in[segment] += s.count;
  });
  p.sync();
  if (segment == 0 && s.selection != nullptr) select_rows(p, s);
}

/// Undoes take_input(), for a segment that has not come to its end and ends in an aggregate.
template <class P>
STROM_INLINE void untake_input(const P& p, TileState& s, uint32_t segment) {
  p.sync();
  p.leader([&] {
    if (!s.code->keeps_text) s.text.used = s.text_mark;  // a group that stays may have one of these texts
    s.fallback->count = s.fallback_mark;
    ++s.budget;
    s.segment_rows_in[segment] -= s.taken;
    if (s.groups->count > s.groups->capacity) s.groups->count = s.groups->capacity;
    if (segment == 0)
      s.cursor -= s.passed;
    else
      s.buffers[segment].count += s.taken;
  });
  p.sync();
}

/// Frees the texts that a segment has made, unless the sink has taken views of them.
template <class P>
STROM_INLINE void forget_text(const P& p, TileState& s, SegmentEnd kind) {
  const bool sink = kind == SegmentEnd::kOutput || kind == SegmentEnd::kAggregate;
  if (sink && s.code->keeps_text) return;
  p.sync();
  p.leader([&] { s.text.used = s.text_mark; });
  p.sync();
}

/// Runs one segment over one tile. False when a source column is corrupt, or groups_full is set.
template <class P>
STROM_INLINE bool run_segment(const P& p, TileState& s, uint32_t segment) {
  const Segment& seg = s.code->segments[segment];
  take_input(p, s, segment);
  for (uint32_t i = seg.begin; i < seg.end; ++i)
    if (!execute(p, s, s.code->instrs[i])) return false;
  switch (seg.kind) {
    case SegmentEnd::kFilter: filter_rows(p, s, segment); break;
    case SegmentEnd::kExpand: expand_rows(p, s, segment); break;
    case SegmentEnd::kMatch: match_rows(p, s, segment); break;
    case SegmentEnd::kAggregate:
      if (s.code->grouping == Grouping::kNone)
        reduce_rows(p, s, segment);
      else
        aggregate_rows(p, s, segment);
      p.leader([&] {
        if (segment > 0 && s.buffers[segment].count == 0) forget_flags(s, segment);
      });
      break;
    case SegmentEnd::kOutput: output_rows(p, s, segment); break;
  }
  if (s.code->makes_text) forget_text(p, s, seg.kind);
  return true;
}

/// The segment to run next, or -1 when the morsel is finished. First choice is the furthest segment whose buffer cannot
/// take another tile, then new rows, then what is left, front to back.
STROM_INLINE int32_t next_segment(const TileState& s) {
  for (uint32_t i = s.code->segment_count; i-- > 1;)
    if (s.buffers[i].count > kBufferRows - kTileRows) return static_cast<int32_t>(i);
  if (s.cursor < s.morsel_rows) return 0;
  for (uint32_t i = 1; i < s.code->segment_count; ++i)
    if (s.buffers[i].count > 0) return static_cast<int32_t>(i);
  return -1;
}

/// What needs room before `segment` can run over a whole tile.
template <bool kSharesGroups>
STROM_INLINE RunResult room_for(const TileState& s, int32_t segment) {
  if (s.fallback->capacity - s.fallback->count < kTileRows * 2) return RunResult::kFallbackFull;
  const SegmentEnd kind = s.code->segments[segment].kind;
  if (kind == SegmentEnd::kOutput && s.output->capacity - s.output->count < kTileRows) return RunResult::kOutputFull;
  if (kind == SegmentEnd::kAggregate && !has_room_for_groups<kSharesGroups>(s)) return RunResult::kGroupsFull;
  if (s.code->makes_text && (s.text.overflowed != 0 || s.text.used > s.text.capacity / 2)) return RunResult::kTextFull;
  return RunResult::kDone;
}

/// Runs a morsel until it is finished or something is full; then the caller makes room and calls again.
template <class P>
STROM_INLINE RunResult run_morsel(const P& p, TileState& s) {
  for (;;) {
    const int32_t segment = next_segment(s);
    if (segment < 0) return RunResult::kDone;
    const RunResult room = room_for<P::kDevice>(s, segment);
    if (room != RunResult::kDone) return room;
    if (s.budget <= 0) return RunResult::kPaused;
    p.sync();
    if (run_segment(p, s, static_cast<uint32_t>(segment))) continue;
    if (s.groups_full == 0) return RunResult::kCorruptText;
    untake_input(p, s, static_cast<uint32_t>(segment));
    return RunResult::kGroupsFull;
  }
}

}  // namespace strom::engine::op
