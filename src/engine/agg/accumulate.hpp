// Adds a tile's values to the accumulators of their groups, by the family of aggregate states that an accumulator
// belongs to. On CUDA all blocks share the accumulators, and P's updates are atomic. For the groups with the smallest
// numbers each block has accumulators in its shared memory as well. It adds these to the table when it ends
// (merge_own), because otherwise all blocks would wait for the same few addresses. Single source.
#pragma once

#include "engine/agg/bits.hpp"
#include "engine/agg/minima.hpp"
#include "engine/agg/moments.hpp"
#include "engine/agg/sums.hpp"
#include "engine/agg/text.hpp"

namespace strom::engine::agg {

/// Bytes of an accumulator.
constexpr int accumulator_size(const AggregateCode& code) {
  switch (code.acc) {
    case AccKind::kCountRows:
    case AccKind::kCount: return 0;
    case AccKind::kSumI64:
    case AccKind::kSumF64:
    case AccKind::kAvgF64:
    case AccKind::kCountTrue: return 8;
    case AccKind::kSumI128: return 16;
    case AccKind::kSumF32: return 4;
    case AccKind::kMin:
    case AccKind::kMax:
    case AccKind::kMinSpan:
    case AccKind::kMaxSpan:
    case AccKind::kBitAnd:
    case AccKind::kBitOr:
    case AccKind::kBitXor: return registry::phys_size(code.phys);
    case AccKind::kSumSquares: return sizeof(registry::SquareSums);
    case AccKind::kSumDecimal: return sizeof(registry::DecimalSum);
    case AccKind::kMoments: return sizeof(registry::Moments);
    case AccKind::kPairMoments: return sizeof(registry::PairMoments);
  }
  return 0;
}

/// True when blocks of a device may share the aggregate's accumulators: all updates are atomic.
constexpr bool is_shareable(const AggregateCode& code) {
  switch (code.acc) {
    case AccKind::kMin:
    case AccKind::kMax: return code.phys != Phys::kI128 && code.phys != Phys::kStr && code.phys != Phys::kBool;
    case AccKind::kMinSpan:
    case AccKind::kMaxSpan:
    case AccKind::kMoments:
    case AccKind::kPairMoments: return false;
    default: return true;
  }
}

/// Adds the running tile to aggregate `index`; slots[i] is the group of entry i.
template <class P>
STROM_KERNEL void accumulate(const P& p, TileState& s, uint32_t index, const uint32_t* slots) {
  const AggregateCode& code = s.code->aggregates[index];
  switch (code.acc) {
    case AccKind::kCountRows: break;
    case AccKind::kCount: count_nulls(p, s, code, index, slots); break;
    case AccKind::kSumI64: sum_values<P, int32_t, int64_t>(p, s, code, index, slots); break;
    case AccKind::kSumI128:
      if (code.phys == Phys::kI64)
        sum_i128<P, int64_t>(p, s, code, index, slots);
      else
        sum_i128<P, base::int128>(p, s, code, index, slots);
      break;
    case AccKind::kSumF32: sum_values<P, float, float>(p, s, code, index, slots); break;
    case AccKind::kSumF64: sum_values<P, double, double>(p, s, code, index, slots); break;
    case AccKind::kAvgF64:
      if (code.phys == Phys::kF32)
        sum_values<P, float, double>(p, s, code, index, slots);
      else
        sum_values<P, double, double>(p, s, code, index, slots);
      break;
    case AccKind::kMin:
    case AccKind::kMax:
      if (is_of_decimals(code))
        best_decimals(p, s, code, index, slots);
      else if (code.phys == Phys::kStr)
        best_texts(p, s, code, index, slots);
      else
        best_numbers(p, s, code, index, slots);
      break;
    case AccKind::kMinSpan:
    case AccKind::kMaxSpan: best_spans(p, s, code, index, slots); break;
    case AccKind::kCountTrue: sum_values<P, uint8_t, int64_t>(p, s, code, index, slots); break;
    case AccKind::kBitAnd:
    case AccKind::kBitOr:
    case AccKind::kBitXor:
      if (code.phys == Phys::kI64)
        combine_bits<P, int64_t>(p, s, code, index, slots);
      else
        combine_bits<P, int32_t>(p, s, code, index, slots);
      break;
    case AccKind::kSumSquares:
      if (code.phys == Phys::kI32)
        sum_squares<P, int32_t>(p, s, code, index, slots);
      else if (code.phys == Phys::kI64)
        sum_squares<P, int64_t>(p, s, code, index, slots);
      else
        sum_squares<P, base::int128>(p, s, code, index, slots);
      break;
    case AccKind::kSumDecimal: sum_decimals(p, s, code, index, slots); break;
    case AccKind::kMoments:
      if (code.phys == Phys::kF32)
        update_moments<P, float>(p, s, code, index, slots);
      else
        update_moments<P, double>(p, s, code, index, slots);
      break;
    case AccKind::kPairMoments: update_pairs(p, s, code, index, slots); break;
  }
}

// ---- accumulators in a block's shared memory ----

/// Empties the accumulators in the block's shared memory, before the block takes its first tile.
template <class P>
STROM_KERNEL void clear_own(const P& p, const TileState& s) {
  const TileCode& code = *s.code;
  if (code.own_groups == 0) return;
  auto* words = P::template own<uint32_t>(0, 0).at;
  p.for_each(static_cast<int>(code.own_bytes / 4), [&](int i) { words[i] = 0; });
  p.sync();
  for (uint32_t a = 0; a < code.aggregate_count; ++a) {
    const OwnArrays& own = code.own_arrays[a];
    if (own.identity == 0) continue;
    const int value_words = own.value_bytes / 4;
    p.for_each(static_cast<int>(code.own_groups) * value_words, [&](int i) {
      words[own.values / 4 + static_cast<uint32_t>(i)] =
          static_cast<uint32_t>(own.identity >> (i % value_words == 0 ? 0 : 32));
    });
  }
  p.sync();
}

template <class P>
STROM_INLINE void merge_values(const P& p, const TileState& s, uint32_t index) {
  const AggregateCode& code = s.code->aggregates[index];
  switch (code.acc) {
    case AccKind::kSumI64:
    case AccKind::kCountTrue: merge_sums<P, int64_t>(p, s, index); break;
    case AccKind::kSumI128: merge_sums<P, base::int128>(p, s, index); break;
    case AccKind::kSumF32: merge_sums<P, float>(p, s, index); break;
    case AccKind::kSumF64:
    case AccKind::kAvgF64: merge_sums<P, double>(p, s, index); break;
    case AccKind::kMin:
    case AccKind::kMax: merge_best_numbers(p, s, index); break;
    case AccKind::kBitAnd:
    case AccKind::kBitOr:
    case AccKind::kBitXor:
      if (code.phys == Phys::kI64)
        merge_bits<P, int64_t>(p, s, index);
      else
        merge_bits<P, int32_t>(p, s, index);
      break;
    case AccKind::kSumSquares: merge_squares(p, s, index); break;
    case AccKind::kSumDecimal: merge_decimal_sums(p, s, index); break;
    default: break;  // counts, and aggregates that blocks do not share
  }
}

/// Adds the accumulators in the block's shared memory to the table, after the block's last tile.
template <class P>
STROM_KERNEL void merge_own(const P& p, const TileState& s) {
  const TileCode& code = *s.code;
  if (code.own_groups == 0) return;
  p.sync();
  const auto merge_counts = [&](int64_t* table, uint32_t offset) {
    const auto* counts = P::template own<uint32_t>(offset, 0).at;
    p.for_each(static_cast<int>(code.own_groups), [&](int group) {
      if (counts[group] != 0) p.add(table + group, static_cast<int64_t>(counts[group]));
    });
  };
  merge_counts(s.groups->rows, 0);
  for (uint32_t a = 0; a < code.aggregate_count; ++a) {
    if (code.aggregates[a].acc == AccKind::kCountRows) continue;
    merge_counts(s.groups->nulls[a], code.own_arrays[a].nulls);
    merge_values(p, s, a);
  }
}

}  // namespace strom::engine::agg
