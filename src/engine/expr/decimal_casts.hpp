// Numeric results whose scale depends on the row (registry::TypeId::kDecimal): quotients, and casts from floats. Also
// casts to float4. Single source.
#pragma once

#include "engine/expr/row_decimal.hpp"

namespace strom::engine::expr {

/// The first digit of a value in base 10000, and its place: PostgreSQL's digits[0] and weight. Both are 0 for zero.
struct LeadingDigit {
  int weight, digit;
};

STROM_INLINE LeadingDigit leading_digit(int128 unscaled, int scale) {
  const uint128 size = unscaled < 0 ? -static_cast<uint128>(unscaled) : static_cast<uint128>(unscaled);
  if (size == 0) return {0, 0};
  int digits = 1;
  for (uint128 left = size / 10; left != 0; left /= 10) ++digits;
  const int exponent = digits - scale - 1;
  const int weight = exponent >= 0 ? exponent / 4 : -((3 - exponent) / 4);
  const int kept = exponent - weight * 4 + 1;  // 1 to 4 decimal digits
  const uint128 digit = digits >= kept ? size / static_cast<uint128>(base::power_of_ten(digits - kept))
                                       : size * static_cast<uint128>(base::power_of_ten(kept - digits));
  return {weight, static_cast<int>(digit)};
}

/// The scale of a quotient: 16 significant digits by PostgreSQL's estimate, and at least the scale of each side.
STROM_INLINE int quotient_scale(int128 a, int sa, int128 b, int sb) {
  const LeadingDigit x = leading_digit(a, sa), y = leading_digit(b, sb);
  const int weight = x.weight - y.weight - (x.digit <= y.digit);
  int scale = 16 - weight * 4;
  if (scale < sa) scale = sa;
  if (scale < sb) scale = sb;
  return scale < 0 ? 0 : scale;
}

/// a * 10^digits / b, rounded half away from zero. True when the result does not fit.
STROM_INLINE bool divide_decimals(int128 a, int digits, int128 b, int128* out) {
  const bool negative = (a < 0) != (b < 0);
  uint128 rest = a < 0 ? -static_cast<uint128>(a) : static_cast<uint128>(a);
  const uint128 divisor = b < 0 ? -static_cast<uint128>(b) : static_cast<uint128>(b);
  constexpr uint128 kMost = static_cast<uint128>(1) << 122;
  uint128 quotient = rest / divisor;
  rest %= divisor;
  while (digits > 0) {
    const int step = digits > 18 ? 18 : digits;
    const auto unit = static_cast<uint128>(base::power_of_ten(step));
    const bool fits = rest < kMost / unit;
    const int taken = fits ? step : 1;
    const uint128 factor = fits ? unit : 10;
    if (rest >= kMost / factor || quotient >= kMost / factor) return true;
    rest *= factor;
    quotient = quotient * factor + rest / divisor;
    rest %= divisor;
    digits -= taken;
  }
  quotient += rest >= divisor - rest;
  *out = negative ? -static_cast<int128>(quotient) : static_cast<int128>(quotient);
  return false;
}

struct DivDecimal {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) {
    out = 0;
    const int128 x = decimal_unscaled(a), y = decimal_unscaled(b);
    const int sx = decimal_scale(a), sy = decimal_scale(b);
    if (y == 0) return true;
    const int scale = quotient_scale(x, sx, y, sy);
    int128 quotient;
    if (scale > base::kMaxDecimalScale || divide_decimals(x, scale + sy - sx, y, &quotient)) return true;
    return give_decimal(quotient, scale, out);
  }
};

/// numeric of a float: the digits that "%.15g" (float4: "%.6g") prints, without trailing zeros. Ties go to the even
/// digit.
template <int kDigits>
struct FloatToDecimal {
  /// `size` / 10^(exponent - kDigits + 1) in whole numbers, exactly rounded. *exponent may be wrong by 1 and is
  /// corrected.
  STROM_INLINE static int128 significant_digits(double size, int* exponent) {
    uint64_t bits;
    __builtin_memcpy(&bits, &size, sizeof bits);
    const int binary = static_cast<int>(bits >> 52) - 1075;
    const uint64_t mantissa = (bits & 0xfffffffffffffull) | 1ull << 52;
    const auto least = static_cast<uint128>(base::power_of_ten(kDigits - 1)), most = least * 10;
    for (;;) {
      const int shift = kDigits - 1 - *exponent;
      uint128 above = mantissa, below = 1;
      if (shift >= 0)
        above *= static_cast<uint128>(base::power_of_ten(shift));
      else
        below = static_cast<uint128>(base::power_of_ten(-shift));
      if (binary >= 0)
        above <<= binary;
      else
        below <<= -binary;
      uint128 digits = above / below;
      if (digits < least || digits >= most) {
        *exponent += digits >= most ? 1 : -1;
        continue;
      }
      const uint128 rest = above % below;
      digits += rest * 2 > below || (rest * 2 == below && (digits & 1) != 0);
      if (digits == most) {
        digits = least;
        ++*exponent;
      }
      return static_cast<int128>(digits);
    }
  }

  STROM_INLINE static bool eval(const Context&, int128& out, double a) {
    out = 0;
    const double size = a < 0 ? -a : a;
    if (size == 0) return give_decimal(0, 0, out);
    if (!(size >= 1e-7 && size < 1e36)) return true;  // in between, all intermediate values fit 128 bits
    int exponent = -7;
    for (double power = 1e-6; size >= power; power *= 10) ++exponent;
    int128 digits = significant_digits(size, &exponent);
    int scale = kDigits - 1 - exponent;
    while (digits % 10 == 0) {
      digits /= 10;
      --scale;
    }
    if (scale < 0 && append_digits(&digits, -scale)) return true;
    return give_decimal(a < 0 ? -digits : digits, scale < 0 ? 0 : scale, out);
  }
};

/// float4 by way of the nearest double, unless that double is the middle between two floats.
struct DecimalToFloat4 {
  STROM_INLINE static bool eval(const Context&, float& out, int128 a) {
    double wide;
    out = 0;
    if (decimal_to_double(decimal_unscaled(a), decimal_scale(a), &wide)) return true;
    uint64_t bits;
    __builtin_memcpy(&bits, &wide, sizeof bits);
    constexpr uint64_t kDropped = (1ull << 29) - 1, kMiddle = 1ull << 28;
    const double size = wide < 0 ? -wide : wide;
    if (size != 0 && (size < 1.2e-38 || size > 3.4e38 || (bits & kDropped) == kMiddle)) return true;
    out = static_cast<float>(wide);
    return false;
  }
};

}  // namespace strom::engine::expr
