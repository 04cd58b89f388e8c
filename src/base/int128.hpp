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
  constexpr int128 k16 = 10000000000000000;
  int128 value = n & 1 ? 10 : 1;
  if (n & 2) value *= 100;
  if (n & 4) value *= 10000;
  if (n & 8) value *= 100000000;
  if (n & 16) value *= k16;
  if (n & 32) value *= k16 * k16;
  return value;
}

/// In place of a scale: each value has its own.
constexpr int32_t kOwnScale = -1;

/// A decimal with a scale of its own: its unscaled value in the upper 122 bits, its scale below.
constexpr int kDecimalScaleBits = 6;
constexpr int kMaxDecimalScale = (1 << kDecimalScaleBits) - 1;

STROM_BASE_INLINE constexpr int128 decimal_unscaled(int128 decimal) { return decimal >> kDecimalScaleBits; }
STROM_BASE_INLINE constexpr int decimal_scale(int128 decimal) { return static_cast<int>(decimal & kMaxDecimalScale); }

/// False when there is no room for it.
STROM_BASE_INLINE constexpr bool make_decimal(int128 unscaled, int scale, int128* decimal) {
  const auto shifted = static_cast<int128>(static_cast<uint128>(unscaled) << kDecimalScaleBits);
  *decimal = shifted | (scale & kMaxDecimalScale);
  return scale >= 0 && scale <= kMaxDecimalScale && shifted >> kDecimalScaleBits == unscaled;
}

/// False when value * factor overflows; factor > 0. Devices know no __builtin_mul_overflow.
STROM_BASE_INLINE constexpr bool multiply_decimal(int128* value, int128 factor) {
#if defined(__CUDACC__)
  constexpr auto kLargest = static_cast<int128>(~uint128{0} >> 1);
  if (*value > kLargest / factor || *value < -kLargest / factor) return false;
  *value *= factor;
  return true;
#else
  return !__builtin_mul_overflow(*value, factor, value);
#endif
}

/// value * 10^(to - from), or rounded half away from zero when digits are dropped. False when the result overflows.
STROM_BASE_INLINE constexpr bool rescale_decimal(int128* value, int from, int to) {
  if (to >= from) {
    if (to - from > kMaxDecimalDigits) return *value == 0;
    return multiply_decimal(value, power_of_ten(to - from));
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
