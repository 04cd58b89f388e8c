// Variances and covariances: of integers by exact sums of squares, of floats by the same additions as PostgreSQL's.
// Single source.
#pragma once

#include "engine/agg/accumulators.hpp"

namespace strom::engine::agg {

/// The largest float that enters variances, which multiply differences from the mean by the count and then square them.
inline constexpr double kMomentF64 = 1e135;
/// Squares of wider integers do not fit in 128 bits.
inline constexpr int kSquareBits = 63;

template <class P, class T>
STROM_INLINE void sum_squares(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  using registry::SquareSums;
  const auto accumulators = value_accumulators<P, SquareSums>(s, index);
  for_each_value<P, T>(p, s, code, index, slots, [&](uint32_t slot, T value) {
    const auto x = static_cast<int64_t>(value);
    const auto square = static_cast<base::uint128>(static_cast<base::int128>(x) * x);
    accumulators.with(slot, [&](auto sums) {
      p.add_i128(part(sums, &SquareSums::sum), x);
      p.add_i128(part(sums, &SquareSums::low), static_cast<base::int128>(static_cast<uint64_t>(square)));
      if constexpr (sizeof(T) > 4) p.add_i128(part(sums, &SquareSums::high), static_cast<base::int128>(square >> 64));
    });
  });
}

template <class P>
STROM_INLINE void merge_squares(const P& p, const TileState& s, uint32_t index) {
  auto* table = static_cast<registry::SquareSums*>(s.groups->values[index]);
  for_each_own<P, registry::SquareSums>(p, s, index, [&](int group, const registry::SquareSums& sums) {
    p.add_i128(&table[group].sum, sums.sum);
    p.add_i128(&table[group].low, sums.low);
    p.add_i128(&table[group].high, sums.high);
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

// ---- two states combined into one, on the host ----

STROM_INLINE void combine_squares(registry::SquareSums* into, const registry::SquareSums& from) {
  into->sum += from.sum;
  into->low += from.low;
  into->high += from.high;
}

/// T. F. Chan, G. H. Golub, R. J. LeVeque, "Updating formulae and a pairwise algorithm for computing sample
/// variances", 1979.
STROM_INLINE void combine_moments(registry::Moments* into, const registry::Moments& from) {
  if (from.count == 0) return;
  if (into->count == 0) {
    *into = from;
    return;
  }
  const double count = into->count + from.count;
  const double difference = into->sum / into->count - from.sum / from.count;
  into->squares += from.squares + into->count * from.count * difference * difference / count;
  into->sum += from.sum;
  into->count = count;
}

STROM_INLINE void combine_pairs(registry::PairMoments* into, const registry::PairMoments& from) {
  if (from.count == 0) return;
  if (into->count == 0) {
    *into = from;
    return;
  }
  const double count = into->count + from.count, weight = into->count * from.count / count;
  const double x = into->sum_x / into->count - from.sum_x / from.count;
  const double y = into->sum_y / into->count - from.sum_y / from.count;
  into->squares_x += from.squares_x + weight * x * x;
  into->squares_y += from.squares_y + weight * y * y;
  into->products += from.products + weight * x * y;
  into->sum_x += from.sum_x;
  into->sum_y += from.sum_y;
  into->count = count;
}

}  // namespace strom::engine::agg
