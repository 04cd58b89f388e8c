// Half-precision floats (IEEE 754 binary16): SQL type float2, Arrow's halffloat. Single source: also compiled for
// devices.
#pragma once

#include <cstdint>

#include "base/single_source.hpp"

namespace strom::base {

STROM_BASE_INLINE float half_to_float(uint16_t half) {
  constexpr float kLeast = 1.0f / 16777216;  // 2^-24, the unit of what is subnormal
  const uint32_t exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  float value = 0;
  if (exponent == 0) {
    value = static_cast<float>(fraction) * kLeast;
  } else {
    const uint32_t bits = (exponent == 0x1f ? 0xffu : exponent + 112) << 23 | fraction << 13;
    __builtin_memcpy(&value, &bits, sizeof value);
  }
  return (half & 0x8000) != 0 ? -value : value;
}

/// Rounded to the nearest, ties to even. Beyond 65504 infinity, NaN stays NaN.
STROM_BASE_INLINE uint16_t double_to_half(double value) {
  uint64_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const auto sign = static_cast<uint16_t>(bits >> 48 & 0x8000);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  const uint64_t fraction = bits & 0xfffffffffffffull;
  if (exponent == 1024) return static_cast<uint16_t>(sign | 0x7c00 | (fraction != 0 ? 0x200 : 0));
  if (exponent > 15) return sign | 0x7c00;
  if (exponent < -25) return sign;
  // The value in units of its last place as a half, which is larger for what becomes subnormal.
  const uint64_t mantissa = fraction | 1ull << 52;
  const int dropped = exponent < -14 ? 42 + (-14 - exponent) : 42;
  uint64_t kept = mantissa >> dropped;
  const uint64_t rest = mantissa & ((1ull << dropped) - 1), middle = 1ull << (dropped - 1);
  kept += rest > middle || (rest == middle && (kept & 1) != 0);
  // A carry out of the fraction is one more in the exponent, up to infinity.
  const uint64_t base = exponent < -14 ? 0 : static_cast<uint64_t>(exponent + 14) << 10;
  return static_cast<uint16_t>(sign | (base + kept));
}

}  // namespace strom::base
