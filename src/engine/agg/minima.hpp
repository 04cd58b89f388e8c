// Minima and maxima of numbers and intervals; agg/text.hpp has those of texts. On the CPU the last of equal values
// stays, as in PostgreSQL. Single source.
#pragma once

#include <limits>
#include <type_traits>

#include "base/int128.hpp"
#include "engine/agg/accumulators.hpp"
#include "engine/expr/compare.hpp"
#include "engine/expr/interval.hpp"

namespace strom::engine::agg {

/// Of equal floats (0 and -0) the last one stays, as in PostgreSQL. Threads of a device have no order.
template <class P, class T>
inline constexpr bool kLastStays = !P::kDevice && static_cast<T>(0.5) != T{};

/// f(better), where better(a, b) tells whether value `a` replaces the best value `b`.
template <class P, class T, class F>
STROM_INLINE void with_better(const AggregateCode& code, F f) {
  constexpr bool last = kLastStays<P, T>;
  if (code.acc == AccKind::kMin)
    f([](T a, T b) { return last ? !expr::value_less(b, a) : expr::value_less(a, b); });
  else
    f([](T a, T b) { return last ? !expr::value_less(a, b) : expr::value_less(b, a); });
}

template <class P, class T>
STROM_INLINE void best_values(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                              const uint32_t* slots) {
  with_better<P, T>(code, [&](auto better) { improve_values<P, T>(p, s, code, index, slots, better); });
}

/// For all types but texts and decimals.
template <class P>
STROM_INLINE void best_numbers(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                               const uint32_t* slots) {
  switch (code.phys) {
    case Phys::kI32: best_values<P, int32_t>(p, s, code, index, slots); break;
    case Phys::kI64: best_values<P, int64_t>(p, s, code, index, slots); break;
    case Phys::kI128: best_values<P, base::int128>(p, s, code, index, slots); break;
    case Phys::kF32: best_values<P, float>(p, s, code, index, slots); break;
    case Phys::kF64: best_values<P, double>(p, s, code, index, slots); break;
    default: break;
  }
}

template <class P>
STROM_INLINE void best_spans(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                             const uint32_t* slots) {
  const bool less = code.acc == AccKind::kMinSpan;
  improve_values<P, base::int128>(p, s, code, index, slots, [less](base::int128 a, base::int128 b) {
    return less ? expr::span_of(a) <= expr::span_of(b) : expr::span_of(b) <= expr::span_of(a);
  });
}

/// min and max compare decimals without their scales. Their code then names the argument twice, which distinguishes
/// decimals from numerics that all have one scale.
constexpr bool is_of_decimals(const AggregateCode& code) {
  return (code.acc == AccKind::kMin || code.acc == AccKind::kMax) && code.second != kNoRegister;
}

template <class P>
STROM_INLINE void best_decimals(const P& p, TileState& s, const AggregateCode& code, uint32_t index,
                                const uint32_t* slots) {
  const bool less = code.acc == AccKind::kMin;
  improve_values<P, base::int128>(p, s, code, index, slots, [less](base::int128 a, base::int128 b) {
    const base::int128 value = base::decimal_unscaled(a), best = base::decimal_unscaled(b);
    return less ? value <= best : best <= value;
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

/// For the types whose accumulators blocks share.
template <class P>
STROM_INLINE void merge_best_numbers(const P& p, const TileState& s, uint32_t index) {
  switch (s.code->aggregates[index].phys) {
    case Phys::kI32: merge_best<P, int32_t>(p, s, index); break;
    case Phys::kI64: merge_best<P, int64_t>(p, s, index); break;
    case Phys::kF32: merge_best<P, float>(p, s, index); break;
    default: merge_best<P, double>(p, s, index);
  }
}

// ---- empty states, and two states combined into one, on the host ----

/// The value that any other replaces. NaN is the largest float, so it is the identity of min.
template <class T>
STROM_INLINE T best_identity(bool less) {
  using Limits = std::numeric_limits<T>;
  if constexpr (Limits::has_quiet_NaN) return less ? Limits::quiet_NaN() : -Limits::infinity();
  return less ? Limits::max() : Limits::lowest();
}
template <>
STROM_INLINE __int128 best_identity(bool less) {
  const __int128 highest = ~(static_cast<__int128>(1) << 127);
  return less ? highest : -highest - 1;
}
STROM_INLINE __int128 span_identity(bool less) {
  if (less) return expr::pack({INT64_MAX, INT32_MAX, INT32_MAX});
  return expr::pack({INT64_MIN, INT32_MIN, INT32_MIN});
}

/// Keeps the better of two values in *into, of equal ones the second. True when two equal values differ in their bits:
/// 0 and -0.
template <class T>
STROM_INLINE bool combine_best(bool less, T* into, const T& from) {
  const auto replaces = [less](T value, T best) {
    return less ? expr::value_less(value, best) : expr::value_less(best, value);
  };
  if constexpr (std::is_floating_point_v<T>) {
    if (replaces(*into, from)) return false;
    const bool tie = !replaces(from, *into) && from == from && __builtin_signbit(*into) != __builtin_signbit(from);
    *into = from;
    return tie;
  } else {
    if (replaces(from, *into)) *into = from;
    return false;
  }
}

/// The same for types that print more than they compare: intervals compare by their span, decimals without their scale.
STROM_INLINE bool combine_best_parts(const AggregateCode& code, __int128* into, __int128 from) {
  const auto compared = [&code](__int128 value) {
    return is_of_decimals(code) ? base::decimal_unscaled(value) : expr::span_of(value);
  };
  const __int128 one = compared(*into), other = compared(from);
  if (code.acc == AccKind::kMinSpan || code.acc == AccKind::kMin ? one < other : other < one) return false;
  const bool tie = one == other && *into != from;
  *into = from;
  return tie;
}

}  // namespace strom::engine::agg
