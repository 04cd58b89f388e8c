// Aggregate states: adds a tile's values to the accumulators of their groups. Single source; on CUDA the accumulators
// are shared by all blocks and P's updates are atomic.
#pragma once

#include "engine/block/registers.hpp"
#include "engine/expr/compare.hpp"
#include "engine/expr/interval.hpp"
#include "engine/expr/text.hpp"

namespace strom::engine::agg {

using namespace block;

/// Bounds of what the engine sums up, so that 2^31 rows of 256 threads cannot overflow; PostgreSQL sums the rest, and
/// raises its own error when it comes to one.
inline constexpr int kSummableBits = 87;
inline constexpr double kSummableF64 = 1e290, kSummableF32 = 1e28;
/// avg(float8) combines with squared differences of means (float8_combine), which must stay finite, too.
inline constexpr double kAveragableF64 = 1e145;
/// Variances multiply differences from the mean by the count before they square them.
inline constexpr double kMomentF64 = 1e135;
/// Squares of wider integers do not fit in 128 bits.
inline constexpr int kSquareBits = 63;

/// f(group, value, entry) for every entry whose value is not null; counts the null ones.
template <class P, class T, class F>
STROM_INLINE void for_each_value(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                                 const uint32_t* slots, F f) {
  const T* in = values<T>(s, code.arg);
  const uint8_t* flags = s.regs[code.arg].flags;
  if (flags == nullptr) {
    p.for_each_shared(s.count, [&](int i) { f(slots[i], in[i]); });
    return;
  }
  int64_t* nulls = s.groups->nulls[index];
  p.for_each_shared(s.count, [&](int i) {
    if (flags[i] == 0)
      f(slots[i], in[i]);
    else
      p.add(nulls + slots[i], int64_t{1});
  });
}

template <class P>
STROM_INLINE void count_nulls(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  const uint8_t* flags = s.regs[code.arg].flags;
  if (flags == nullptr) return;
  int64_t* nulls = s.groups->nulls[index];
  p.for_each_shared(s.count, [&](int i) {
    if (flags[i]) p.add(nulls + slots[i], int64_t{1});
  });
}

template <class P, class T, class A>
STROM_INLINE void sum_values(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                             const uint32_t* slots) {
  A* sums = static_cast<A*>(s.groups->values[index]);
  for_each_value<P, T>(p, s, code, index, slots,
                       [&](uint32_t slot, T value) { p.add(sums + slot, static_cast<A>(value)); });
}

template <class P, class T>
STROM_INLINE void sum_i128(const P& p, TileState& s, const AggregateCode& code, uint32_t index, const uint32_t* slots) {
  auto* sums = static_cast<expr::int128*>(s.groups->values[index]);
  for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) { p.add_i128(sums + slot, value); });
}

template <class P, class T, class Better>
STROM_INLINE void improve_values(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                                 const uint32_t* slots, Better better) {
  T* best = static_cast<T*>(s.groups->values[index]);
  auto improve = [&](uint32_t slot, T value) { p.improve(best + slot, value, better); };
  if constexpr (sizeof(T) <= 8) {
    for_each_value<P, T>(p, s, code, index, slots, improve);
  } else {  // no machine compares and swaps 128 bits everywhere
    const T* in = values<T>(s, code.arg);
    const uint8_t* flags = s.regs[code.arg].flags;
    count_nulls(p, s, code, index, slots);
    p.for_each_alone(s.count, [&](int i) {
      if (flags == nullptr || flags[i] == 0) improve(slots[i], in[i]);
    });
  }
}

/// Texts have no value that any other would replace: a negative length stands for none.
STROM_INLINE bool text_replaces(StrView value, StrView best, bool less) {
  if (best.len < 0) return true;
  const int order = expr::text_compare(value, best);
  return less ? order < 0 : order > 0;
}

template <class P, class T>
STROM_INLINE void best_values(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  if (code.acc == AccKind::kMin)
    improve_values<P, T>(p, s, code, index, slots, [](T a, T b) { return expr::value_less(a, b); });
  else
    improve_values<P, T>(p, s, code, index, slots, [](T a, T b) { return expr::value_less(b, a); });
}

template <class P>
STROM_INLINE void update_best(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  switch (code.phys) {
    case Phys::kI32: best_values<P, int32_t>(p, s, code, index, slots); break;
    case Phys::kI64: best_values<P, int64_t>(p, s, code, index, slots); break;
    case Phys::kI128: best_values<P, expr::int128>(p, s, code, index, slots); break;
    case Phys::kF32: best_values<P, float>(p, s, code, index, slots); break;
    case Phys::kF64: best_values<P, double>(p, s, code, index, slots); break;
    case Phys::kStr: {
      const bool less = code.acc == AccKind::kMin;
      improve_values<P, StrView>(p, s, code, index, slots,
                                 [less](StrView a, StrView b) { return text_replaces(a, b, less); });
      break;
    }
    default: break;
  }
}

template <class P>
STROM_INLINE void best_spans(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                             const uint32_t* slots) {
  const bool less = code.acc == AccKind::kMinSpan;
  improve_values<P, expr::int128>(p, s, code, index, slots, [less](expr::int128 a, expr::int128 b) {
    return less ? expr::span_of(a) < expr::span_of(b) : expr::span_of(b) < expr::span_of(a);
  });
}

template <class P, class T>
STROM_INLINE void combine_bits(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                               const uint32_t* slots) {
  T* bits = static_cast<T*>(s.groups->values[index]);
  const AccKind acc = code.acc;
  for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
    p.combine(bits + slot, value, [acc](T a, T b) {
      return acc == AccKind::kBitAnd ? a & b : acc == AccKind::kBitOr ? a | b : a ^ b;
    });
  });
}

template <class P, class T>
STROM_INLINE void sum_squares(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  auto* sums = static_cast<registry::SquareSums*>(s.groups->values[index]);
  for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
    const auto x = static_cast<int64_t>(value);
    const auto square = static_cast<expr::uint128>(static_cast<expr::int128>(x) * x);
    p.add_i128(&sums[slot].sum, x);
    p.add_i128(&sums[slot].low, static_cast<expr::int128>(static_cast<uint64_t>(square)));
    if constexpr (sizeof(T) > 4) p.add_i128(&sums[slot].high, static_cast<expr::int128>(square >> 64));
  });
}

/// Of aligned decimals.
template <class P>
STROM_INLINE void sum_decimals(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                               const uint32_t* slots) {
  auto* sums = static_cast<registry::DecimalSum*>(s.groups->values[index]);
  for_each_value<P, expr::int128>(p, s, code, index, slots, [&](uint32_t slot, expr::int128 value) {
    const expr::int128 unscaled = base::decimal_unscaled(value);
    p.add_i128(&sums[slot].high, unscaled >> 64);
    p.add_i128(&sums[slot].low, static_cast<expr::int128>(static_cast<uint64_t>(unscaled)));
    p.improve(&sums[slot].scale, static_cast<int64_t>(base::decimal_scale(value)),
              [](int64_t a, int64_t b) { return a > b; });
  });
}

/// E. A. Youngs, E. M. Cramer, "Some results relevant to choice of sum and sum-of-product algorithms", 1971.
STROM_INLINE void add_to_moments(registry::Moments& m, double value) {
  m.count += 1;
  m.sum += value;
  if (m.count <= 1) return;
  const double difference = value * m.count - m.sum;
  m.squares += difference * difference / (m.count * (m.count - 1));
}

template <class P, class T>
STROM_INLINE void update_moments(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                                 const uint32_t* slots) {
  auto* moments = static_cast<registry::Moments*>(s.groups->values[index]);
  const T* in = values<T>(s, code.arg);
  const uint8_t* flags = s.regs[code.arg].flags;
  count_nulls(p, s, code, index, slots);
  p.for_each_alone(s.count, [&](int i) {
    if (flags == nullptr || flags[i] == 0) add_to_moments(moments[slots[i]], static_cast<double>(in[i]));
  });
}

STROM_INLINE void add_to_pairs(registry::PairMoments& m, double y, double x) {
  m.count += 1;
  m.sum_x += x;
  m.sum_y += y;
  if (m.count <= 1) return;
  const double difference_x = x * m.count - m.sum_x, difference_y = y * m.count - m.sum_y;
  const double scale = 1 / (m.count * (m.count - 1));
  m.squares_x += difference_x * difference_x * scale;
  m.squares_y += difference_y * difference_y * scale;
  m.products += difference_x * difference_y * scale;
}

template <class P>
STROM_INLINE void update_pairs(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                               const uint32_t* slots) {
  auto* moments = static_cast<registry::PairMoments*>(s.groups->values[index]);
  const double *y = values<double>(s, code.arg), *x = values<double>(s, code.second);
  const uint8_t* flags = s.regs[code.arg].flags;
  count_nulls(p, s, code, index, slots);
  p.for_each_alone(s.count, [&](int i) {
    if (flags == nullptr || flags[i] == 0) add_to_pairs(moments[slots[i]], y[i], x[i]);
  });
}

/// Whether blocks of a device may share the aggregate's accumulators: all updates are atomic.
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
        sum_i128<P, expr::int128>(p, s, code, index, slots);
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
    case AccKind::kMax: update_best(p, s, code, index, slots); break;
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
        sum_squares<P, expr::int128>(p, s, code, index, slots);
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

/// One group, sum without nulls: the loop that most analytics spend their time in.
template <class P, class T, class A>
STROM_INLINE void reduce_sum(const P& p, TileState& s, uint32_t index) {
  const T* in = values<T>(s, s.code->aggregates[index].arg);
  A local = 0;
  p.for_each(s.count, [&](int i) { local += static_cast<A>(in[i]); });
  p.add_all(static_cast<A*>(s.groups->values[index]), local);
}

/// Adds the running tile to the only group of aggregate `index`; false when accumulate() must do it.
template <class P>
STROM_INLINE bool reduce(const P& p, TileState& s, uint32_t index) {
  const AggregateCode& code = s.code->aggregates[index];
  if (code.acc == AccKind::kCountRows) return true;
  if (s.regs[code.arg].flags != nullptr) return false;
  switch (code.acc) {
    case AccKind::kCount: return true;
    case AccKind::kSumI64: reduce_sum<P, int32_t, int64_t>(p, s, index); return true;
    case AccKind::kSumI128:
      if (code.phys == Phys::kI64)
        reduce_sum<P, int64_t, expr::int128>(p, s, index);
      else
        reduce_sum<P, expr::int128, expr::int128>(p, s, index);
      return true;
    default: break;
  }
  if constexpr (P::kDevice) {  // the CPU adds up floats in their order, as PostgreSQL does
    const bool from_float4 = code.phys == Phys::kF32;
    if (code.acc == AccKind::kSumF32) return reduce_sum<P, float, float>(p, s, index), true;
    if (code.acc == AccKind::kSumF64 || (code.acc == AccKind::kAvgF64 && !from_float4))
      return reduce_sum<P, double, double>(p, s, index), true;
    if (code.acc == AccKind::kAvgF64) return reduce_sum<P, float, double>(p, s, index), true;
  }
  return false;
}

}  // namespace strom::engine::agg
