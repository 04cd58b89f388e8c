// Aggregate states: adds a tile's values to the accumulators of their groups. Single source; on CUDA the accumulators
// are shared by all blocks and P's updates are atomic. Of groups with small numbers a block has accumulators of its
// own, which it adds to the table when it ends (merge_own): else all blocks would wait for the same few addresses.
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

/// An array with an accumulator for each group: in the table, and in the block's own memory, from `place` on, where
/// they may be of another type.
template <class P, class T, class O = T>
class Accumulators {
 public:
  STROM_INLINE Accumulators(const TileState& s, void* table, uint32_t place) : table_(static_cast<T*>(table)) {
    if constexpr (P::kDevice) {
      own_groups_ = s.code->own_groups;
      place_ = place;
    }
  }
  /// f(the group's accumulator): of type T*, or what P has for its own ones.
  template <class F>
  STROM_INLINE void with(uint32_t group, F f) const {
    if constexpr (P::kDevice) {
      if (group < own_groups_) {
        f(P::template own<O>(place_, group));
        return;
      }
    }
    f(table_ + group);
  }

 private:
  T* table_;
  uint32_t own_groups_ = 0, place_ = 0;
};

template <class P>
STROM_INLINE Accumulators<P, int64_t, uint32_t> row_counts(const TileState& s) {
  return {s, s.groups->rows, 0};
}
template <class P>
STROM_INLINE Accumulators<P, int64_t, uint32_t> null_counts(const TileState& s, uint32_t index) {
  return {s, s.groups->nulls[index], s.code->own_arrays[index].nulls};
}
template <class P, class T>
STROM_INLINE Accumulators<P, T> value_accumulators(const TileState& s, uint32_t index) {
  return {s, s.groups->values[index], s.code->own_arrays[index].values};
}

template <class T, class M>
STROM_INLINE M* part(T* of, M T::* which) {
  return &(of->*which);
}

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
  const auto nulls = null_counts<P>(s, index);
  p.for_each_shared(s.count, [&](int i) {
    if (flags[i] == 0)
      f(slots[i], in[i]);
    else
      nulls.with(slots[i], [&](auto count) { p.add(count, int64_t{1}); });
  });
}

template <class P>
STROM_INLINE void count_nulls(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  const uint8_t* flags = s.regs[code.arg].flags;
  if (flags == nullptr) return;
  const auto nulls = null_counts<P>(s, index);
  p.for_each_shared(s.count, [&](int i) {
    if (flags[i]) nulls.with(slots[i], [&](auto count) { p.add(count, int64_t{1}); });
  });
}

template <class P, class T, class A>
STROM_INLINE void sum_values(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                             const uint32_t* slots) {
  const auto sums = value_accumulators<P, A>(s, index);
  for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
    sums.with(slot, [&](auto sum) { p.add(sum, static_cast<A>(value)); });
  });
}

template <class P, class T>
STROM_INLINE void sum_i128(const P& p, TileState& s, const AggregateCode& code, uint32_t index, const uint32_t* slots) {
  const auto sums = value_accumulators<P, expr::int128>(s, index);
  for_each_value<P, T>(p, s, code, index, slots,
                       [&](uint32_t slot, T value) { sums.with(slot, [&](auto sum) { p.add_i128(sum, value); }); });
}

template <class P, class T, class Better>
STROM_INLINE void improve_values(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                                 const uint32_t* slots, Better better) {
  if constexpr (sizeof(T) <= 8) {
    const auto bests = value_accumulators<P, T>(s, index);
    for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
      bests.with(slot, [&](auto best) { p.improve(best, value, better); });
    });
  } else {  // no machine compares and swaps 128 bits everywhere
    T* best = static_cast<T*>(s.groups->values[index]);
    const T* in = values<T>(s, code.arg);
    const uint8_t* flags = s.regs[code.arg].flags;
    count_nulls(p, s, code, index, slots);
    p.for_each_alone(s.count, [&](int i) {
      if (flags == nullptr || flags[i] == 0) p.improve(best + slots[i], in[i], better);
    });
  }
}

/// Texts have no value that any other would replace: a negative length stands for none.
STROM_INLINE bool text_replaces(StrView value, StrView best, bool less) {
  if (best.len < 0) return true;
  const int order = expr::text_compare(value, best);
  return less ? order < 0 : order > 0;
}

/// Of equal floats the last one stays, as in PostgreSQL: 0 and -0. Threads of a device have no order.
template <class P, class T>
inline constexpr bool kLastStays = !P::kDevice && static_cast<T>(0.5) != T{};

template <class P, class T>
STROM_INLINE void best_values(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  constexpr bool last = kLastStays<P, T>;
  if (code.acc == AccKind::kMin)
    improve_values<P, T>(p, s, code, index, slots,
                         [](T a, T b) { return last ? !expr::value_less(b, a) : expr::value_less(a, b); });
  else
    improve_values<P, T>(p, s, code, index, slots,
                         [](T a, T b) { return last ? !expr::value_less(a, b) : expr::value_less(b, a); });
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
    return less ? expr::span_of(a) <= expr::span_of(b) : expr::span_of(b) <= expr::span_of(a);
  });
}

/// Of decimals as min and max take them their scales do not count; the argument stands twice then, which tells them
/// from numerics that all have one scale.
constexpr bool is_of_decimals(const AggregateCode& code) {
  return (code.acc == AccKind::kMin || code.acc == AccKind::kMax) && code.second != kNoRegister;
}

template <class P>
STROM_INLINE void best_decimals(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                                const uint32_t* slots) {
  const bool less = code.acc == AccKind::kMin;
  improve_values<P, expr::int128>(p, s, code, index, slots, [less](expr::int128 a, expr::int128 b) {
    const expr::int128 value = base::decimal_unscaled(a), best = base::decimal_unscaled(b);
    return less ? value <= best : best <= value;
  });
}

template <class T>
STROM_INLINE T combined(AccKind acc, T a, T b) {
  return acc == AccKind::kBitAnd ? a & b : acc == AccKind::kBitOr ? a | b : a ^ b;
}

template <class P, class T>
STROM_INLINE void combine_bits(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                               const uint32_t* slots) {
  const auto accumulators = value_accumulators<P, T>(s, index);
  const AccKind acc = code.acc;
  for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
    accumulators.with(slot,
                      [&](auto bits) { p.combine(bits, value, [acc](T a, T b) { return combined(acc, a, b); }); });
  });
}

template <class P, class T>
STROM_INLINE void sum_squares(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  using registry::SquareSums;
  const auto accumulators = value_accumulators<P, SquareSums>(s, index);
  for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
    const auto x = static_cast<int64_t>(value);
    const auto square = static_cast<expr::uint128>(static_cast<expr::int128>(x) * x);
    accumulators.with(slot, [&](auto sums) {
      p.add_i128(part(sums, &SquareSums::sum), x);
      p.add_i128(part(sums, &SquareSums::low), static_cast<expr::int128>(static_cast<uint64_t>(square)));
      if constexpr (sizeof(T) > 4) p.add_i128(part(sums, &SquareSums::high), static_cast<expr::int128>(square >> 64));
    });
  });
}

template <class P, class Sum>
STROM_INLINE void add_decimal(const P& p, Sum sum, expr::int128 high, expr::int128 low, int64_t scale) {
  p.add_i128(part(sum, &registry::DecimalSum::high), high);
  p.add_i128(part(sum, &registry::DecimalSum::low), low);
  p.improve(part(sum, &registry::DecimalSum::scale), scale, [](int64_t a, int64_t b) { return a > b; });
}

/// Of aligned decimals.
template <class P>
STROM_INLINE void sum_decimals(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                               const uint32_t* slots) {
  const auto sums = value_accumulators<P, registry::DecimalSum>(s, index);
  for_each_value<P, expr::int128>(p, s, code, index, slots, [&](uint32_t slot, expr::int128 value) {
    const expr::int128 unscaled = base::decimal_unscaled(value);
    sums.with(slot, [&](auto sum) {
      add_decimal(p, sum, unscaled >> 64, static_cast<expr::int128>(static_cast<uint64_t>(unscaled)),
                  static_cast<int64_t>(base::decimal_scale(value)));
    });
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
    case AccKind::kMax:
      if (is_of_decimals(code))
        best_decimals(p, s, code, index, slots);
      else
        update_best(p, s, code, index, slots);
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
  A local = -A{};  // of floats -0, which changes no sum
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

// ---- accumulators of a block's own ----

/// Empties the block's own accumulators, before it takes its first tile.
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

/// f(group, value) for each of the block's own accumulators of `index` that has seen rows.
template <class P, class T, class F>
STROM_INLINE void for_each_own(const P& p, const TileState& s, uint32_t index, F f) {
  const auto* rows = P::template own<uint32_t>(0, 0).at;
  const T* values = P::template own<T>(s.code->own_arrays[index].values, 0).at;
  p.for_each(static_cast<int>(s.code->own_groups), [&](int group) {
    if (rows[group] != 0) f(group, values[group]);
  });
}

template <class P, class T>
STROM_INLINE void merge_sums(const P& p, const TileState& s, uint32_t index) {
  T* table = static_cast<T*>(s.groups->values[index]);
  for_each_own<P, T>(p, s, index, [&](int group, T sum) {
    if constexpr (sizeof(T) == 16)
      p.add_i128(table + group, sum);
    else
      p.add(table + group, sum);
  });
}

template <class P, class T>
STROM_INLINE void merge_best(const P& p, const TileState& s, uint32_t index) {
  T* table = static_cast<T*>(s.groups->values[index]);
  const bool less = s.code->aggregates[index].acc == AccKind::kMin;
  for_each_own<P, T>(p, s, index, [&](int group, T best) {
    p.improve(table + group, best, [less](T a, T b) { return less ? expr::value_less(a, b) : expr::value_less(b, a); });
  });
}

template <class P, class T>
STROM_INLINE void merge_bits(const P& p, const TileState& s, uint32_t index) {
  T* table = static_cast<T*>(s.groups->values[index]);
  const AccKind acc = s.code->aggregates[index].acc;
  for_each_own<P, T>(p, s, index, [&](int group, T bits) {
    p.combine(table + group, bits, [acc](T a, T b) { return combined(acc, a, b); });
  });
}

template <class P>
STROM_INLINE void merge_values(const P& p, const TileState& s, uint32_t index) {
  const AggregateCode& code = s.code->aggregates[index];
  switch (code.acc) {
    case AccKind::kSumI64:
    case AccKind::kCountTrue: merge_sums<P, int64_t>(p, s, index); break;
    case AccKind::kSumI128: merge_sums<P, expr::int128>(p, s, index); break;
    case AccKind::kSumF32: merge_sums<P, float>(p, s, index); break;
    case AccKind::kSumF64:
    case AccKind::kAvgF64: merge_sums<P, double>(p, s, index); break;
    case AccKind::kMin:
    case AccKind::kMax:
      switch (code.phys) {
        case Phys::kI32: merge_best<P, int32_t>(p, s, index); break;
        case Phys::kI64: merge_best<P, int64_t>(p, s, index); break;
        case Phys::kF32: merge_best<P, float>(p, s, index); break;
        default: merge_best<P, double>(p, s, index);
      }
      break;
    case AccKind::kBitAnd:
    case AccKind::kBitOr:
    case AccKind::kBitXor:
      if (code.phys == Phys::kI64)
        merge_bits<P, int64_t>(p, s, index);
      else
        merge_bits<P, int32_t>(p, s, index);
      break;
    case AccKind::kSumSquares: {
      auto* table = static_cast<registry::SquareSums*>(s.groups->values[index]);
      for_each_own<P, registry::SquareSums>(p, s, index, [&](int group, const registry::SquareSums& sums) {
        p.add_i128(&table[group].sum, sums.sum);
        p.add_i128(&table[group].low, sums.low);
        p.add_i128(&table[group].high, sums.high);
      });
      break;
    }
    case AccKind::kSumDecimal: {
      auto* table = static_cast<registry::DecimalSum*>(s.groups->values[index]);
      for_each_own<P, registry::DecimalSum>(p, s, index, [&](int group, const registry::DecimalSum& sum) {
        add_decimal(p, table + group, sum.high, sum.low, sum.scale);
      });
      break;
    }
    default: break;  // counts, and what blocks do not share
  }
}

/// Adds the block's own accumulators to the table, after its last tile.
template <class P>
STROM_KERNEL void merge_own(const P& p, const TileState& s) {
  const TileCode& code = *s.code;
  if (code.own_groups == 0) return;
  p.sync();
  const auto merge_counts = [&](int64_t* table, uint32_t place) {
    const auto* counts = P::template own<uint32_t>(place, 0).at;
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
