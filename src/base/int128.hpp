// 128-bit decimals: powers of ten, rescaling, text. Single source: also compiled for devices.
#pragma once

#include <cstdint>

#include "base/single_source.hpp"

namespace strom::base {

using int128 = __int128;
using uint128 = unsigned __int128;

/// Digits that every 128-bit value of a decimal column may have (Arrow's decimal128).
constexpr int kMaxDecimalDigits = 38;

/// 10^n for 0 <= n <= 38.
STROM_BASE_INLINE constexpr int128 power_of_ten(int n) {
  int128 value = 1;
  for (int i = 0; i < n; ++i) value *= 10;
  return value;
}

/// value * 10^(to - from), or rounded half away from zero when digits are dropped. False when the result overflows.
STROM_BASE_INLINE constexpr bool rescale_decimal(int128* value, int from, int to) {
  if (to >= from) {
    if (to - from > kMaxDecimalDigits) return *value == 0;
    return !__builtin_mul_overflow(*value, power_of_ten(to - from), value);
  }
  if (from - to > kMaxDecimalDigits) {
    *value = 0;
    return true;
  }
  const int128 unit = power_of_ten(from - to);
  int128 quotient = *value / unit;
  const int128 rest = *value % unit;
  if (rest >= unit - unit / 2) ++quotient;
  if (rest <= unit / 2 - unit) --quotient;
  *value = quotient;
  return true;
}

}  // namespace strom::base
