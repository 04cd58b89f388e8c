// Counts and sums. Integers and decimals are summed in 128 bits, so that no sum overflows. Values that are too wide for
// that make fallback rows. Single source.
#pragma once

#include "base/int128.hpp"
#include "engine/agg/accumulators.hpp"

namespace strom::engine::agg {

/// Bounds of the values that the engine sums, so that 2^31 rows of 256 threads cannot overflow. PostgreSQL sums larger
/// values, and raises its own error on overflow.
inline constexpr int kSummableBits = 87;
inline constexpr double kSummableF64 = 1e290, kSummableF32 = 1e28;
/// avg(float8) combines states by squared differences of means (float8_combine), which must stay finite, too.
inline constexpr double kAveragableF64 = 1e145;

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
  const auto sums = value_accumulators<P, base::int128>(s, index);
  for_each_value<P, T>(p, s, code, index, slots,
                       [&](uint32_t slot, T value) { sums.with(slot, [&](auto sum) { p.add_i128(sum, value); }); });
}

template <class P, class Sum>
STROM_INLINE void add_decimal(const P& p, Sum sum, base::int128 high, base::int128 low, int64_t scale) {
  p.add_i128(part(sum, &registry::DecimalSum::high), high);
  p.add_i128(part(sum, &registry::DecimalSum::low), low);
  p.improve(part(sum, &registry::DecimalSum::scale), scale, [](int64_t a, int64_t b) { return a > b; });
}

/// Decimals are aligned: see kAlignDecimal.
template <class P>
STROM_INLINE void sum_decimals(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                               const uint32_t* slots) {
  const auto sums = value_accumulators<P, registry::DecimalSum>(s, index);
  for_each_value<P, base::int128>(p, s, code, index, slots, [&](uint32_t slot, base::int128 value) {
    const base::int128 unscaled = base::decimal_unscaled(value);
    sums.with(slot, [&](auto sum) {
      add_decimal(p, sum, unscaled >> 64, static_cast<base::int128>(static_cast<uint64_t>(unscaled)),
                  static_cast<int64_t>(base::decimal_scale(value)));
    });
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

template <class P>
STROM_INLINE void merge_decimal_sums(const P& p, const TileState& s, uint32_t index) {
  auto* table = static_cast<registry::DecimalSum*>(s.groups->values[index]);
  for_each_own<P, registry::DecimalSum>(p, s, index, [&](int group, const registry::DecimalSum& sum) {
    add_decimal(p, table + group, sum.high, sum.low, sum.scale);
  });
}

// ---- two states combined into one, on the host ----

template <class T>
STROM_INLINE void combine_sums(T* into, const T& from) {
  *into += from;
}
STROM_INLINE void combine_sums(registry::DecimalSum* into, const registry::DecimalSum& from) {
  into->high += from.high;
  into->low += from.low;
  into->scale = into->scale < from.scale ? from.scale : into->scale;
}

}  // namespace strom::engine::agg
