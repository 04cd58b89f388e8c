// Numerics with a scale for each value (registry::TypeId::kDecimal): columns without a declared scale, and expressions
// whose display scale depends on the row. Values that do not fit 122 bits make fallback rows.
#pragma once

#include "base/int128.hpp"
#include "engine/expr/cast.hpp"
#include "engine/expr/decimal.hpp"
#include "engine/expr/text_make.hpp"

namespace strom::engine::expr {

using base::decimal_scale;
using base::decimal_unscaled;

/// value * 10^digits. True on overflow.
STROM_INLINE bool append_digits(int128* value, int digits) {
  if (digits == 0 || *value == 0) return false;
  return digits > base::kMaxDecimalDigits || mul_overflows(*value, base::power_of_ten(digits), value);
}

/// value / 10^digits, truncated or rounded half away from zero. All values are below 10^37.
STROM_INLINE int128 drop_digits(int128 value, int digits, bool truncates) {
  if (digits >= base::kMaxDecimalDigits) return 0;
  const int128 unit = base::power_of_ten(digits);
  int128 result = value / unit;
  if (!truncates) rescale_overflows(value, 1, unit, &result);
  return result;
}

/// Gives the result of a function class below; true when it does not fit.
STROM_INLINE bool give_decimal(int128 unscaled, int scale, int128& out) {
  return !base::make_decimal(unscaled, scale, &out);
}

/// Both values at the larger of their scales. True on overflow.
STROM_INLINE bool align_decimals(int128 a, int128 b, int128* x, int128* y, int* scale) {
  const int sa = decimal_scale(a), sb = decimal_scale(b);
  *x = decimal_unscaled(a);
  *y = decimal_unscaled(b);
  *scale = sa > sb ? sa : sb;
  return sa < sb ? append_digits(x, sb - sa) : append_digits(y, sa - sb);
}

/// Compares two values: negative, zero or positive.
STROM_INLINE int compare_decimals(int128 a, int128 b) {
  int128 x, y;
  int scale;
  if (align_decimals(a, b, &x, &y, &scale))  // an overflow means a larger value than the other side can have
    return decimal_scale(a) < decimal_scale(b) ? (a < 0 ? -1 : 1) : (b < 0 ? 1 : -1);
  return x < y ? -1 : x > y;
}

#define STROM_DEFINE_DECIMAL_COMPARE(name, op)                                        \
  struct name {                                                                       \
    STROM_INLINE static bool eval(const Context&, uint8_t& out, int128 a, int128 b) { \
      out = compare_decimals(a, b) op 0;                                              \
      return false;                                                                   \
    }                                                                                 \
  };
STROM_DEFINE_DECIMAL_COMPARE(EqDecimal, ==)
STROM_DEFINE_DECIMAL_COMPARE(NeDecimal, !=)
STROM_DEFINE_DECIMAL_COMPARE(LtDecimal, <)
STROM_DEFINE_DECIMAL_COMPARE(LeDecimal, <=)
STROM_DEFINE_DECIMAL_COMPARE(GtDecimal, >)
STROM_DEFINE_DECIMAL_COMPARE(GeDecimal, >=)
#undef STROM_DEFINE_DECIMAL_COMPARE

/// Applies F to fixed-point values of one scale. The result has the same scale.
template <class F>
struct SameScaleDecimal {
  STROM_INLINE static bool eval(const Context& context, int128& out, int128 a, int128 b) {
    int128 x, y, result;
    int scale;
    if (align_decimals(a, b, &x, &y, &scale) || F::eval(context, result, x, y)) return true;
    return give_decimal(result, scale, out);
  }
  STROM_INLINE static bool eval(const Context& context, int128& out, int128 a) {
    int128 result;
    return F::eval(context, result, decimal_unscaled(a)) || give_decimal(result, decimal_scale(a), out);
  }
};
using AddDecimal = SameScaleDecimal<AddI128>;
using SubDecimal = SameScaleDecimal<SubI128>;
using ModDecimal = SameScaleDecimal<ModI128>;
using NegDecimal = SameScaleDecimal<NegI128>;
using AbsDecimal = SameScaleDecimal<AbsI128>;

struct MulDecimal {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) {
    int128 product;
    if (mul_overflows(decimal_unscaled(a), decimal_unscaled(b), &product)) return true;
    return give_decimal(product, decimal_scale(a) + decimal_scale(b), out);
  }
};
struct DivTruncDecimal {
  STROM_INLINE static bool eval(const Context& context, int128& out, int128 a, int128 b) {
    int128 x, y;
    int scale;
    return align_decimals(a, b, &x, &y, &scale) || DivTruncI128::eval(context, out, x, y);
  }
};

/// floor and ceil: the value without its fraction, plus 1 (kUp) or minus 1 (not kUp) if there was a fraction in that
/// direction.
template <bool kUp>
struct RoundDecimal {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a) {
    const int scale = decimal_scale(a);
    const int128 value = decimal_unscaled(a);
    if (scale >= base::kMaxDecimalDigits) {
      out = kUp ? value > 0 : -(value < 0);
      return false;
    }
    const int128 unit = base::power_of_ten(scale), rest = value % unit;
    out = value / unit + (kUp ? rest > 0 : -(rest < 0));
    return false;
  }
};
using FloorDecimal = RoundDecimal<false>;
using CeilDecimal = RoundDecimal<true>;
struct SignDecimal {
  STROM_INLINE static bool eval(const Context& context, int128& out, int128 a) {
    return SignI128::eval(context, out, decimal_unscaled(a));
  }
};

template <class Limit>
struct DecimalToInt {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, int128 a) {
    const int128 rounded = drop_digits(decimal_unscaled(a), decimal_scale(a), false);
    out = static_cast<R>(rounded);
    return rounded != static_cast<Limit>(rounded);
  }
};
struct DecimalToFloat {
  STROM_INLINE static bool eval(const Context&, double& out, int128 a) {
    out = 0;
    return decimal_to_double(decimal_unscaled(a), decimal_scale(a), &out);
  }
};
struct DecimalToText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, int128 a) {
    return print_decimal(context, out, decimal_unscaled(a), decimal_scale(a));
  }
};

/// The value without trailing zeros after the point: equal values have equal bits.
struct ShortestDecimal {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a) {
    int scale = decimal_scale(a);
    out = a;
    if (scale == 0) return false;
    int128 value = decimal_unscaled(a);
    if (value == static_cast<int64_t>(value)) {
      auto word = static_cast<int64_t>(value);
      for (int step = 16; step > 0 && word != 0; step /= 2) cut_zeros(&word, step, &scale);
      value = word;
    } else {
      for (int step = 32; step > 0; step /= 2) cut_zeros(&value, step, &scale);
    }
    if (value == 0) scale = 0;
    base::make_decimal(value, scale, &out);
    return false;
  }

 private:
  template <class T>
  STROM_INLINE static void cut_zeros(T* value, int digits, int* scale) {
    const auto unit = static_cast<T>(base::power_of_ten(digits));
    if (*scale < digits || *value % unit != 0) return;
    *value /= unit;
    *scale -= digits;
  }
};

/// kToDecimal: the decimal of a fixed-point value with `scale`.
STROM_INLINE bool to_decimal(int128 value, int scale, int128* out) { return give_decimal(value, scale, *out); }

/// imm of kFixDecimal's node and instruction tells how a decimal gets its scale.
inline constexpr uint32_t kFixTruncates = 1u << 16;
inline constexpr int kFixPrecisionShift = 8;  // digits of the result at most; 0: any number

/// A decimal at the scale imm & 0xff, rounded or truncated. True when it has too many digits.
STROM_INLINE bool fix_decimal(int128 decimal, uint32_t imm, int128* out) {
  const int scale = decimal_scale(decimal), to = static_cast<int>(imm & 0xff);
  const int precision = static_cast<int>(imm >> kFixPrecisionShift & 0xff);
  *out = decimal_unscaled(decimal);
  if (scale > to)
    *out = drop_digits(*out, scale - to, (imm & kFixTruncates) != 0);
  else if (append_digits(out, to - scale))
    return true;
  if (precision == 0) return false;
  const int128 limit = base::power_of_ten(precision);
  return *out >= limit || *out <= -limit;
}

/// 10^n for 0 <= n <= 15.
STROM_INLINE constexpr int64_t small_power_of_ten(int n) {
  int64_t value = n & 1 ? 10 : 1;
  if (n & 2) value *= 100;
  if (n & 4) value *= 10000;
  if (n & 8) value *= 100000000;
  return value;
}

/// kAlignDecimal: the value at scale kSummedScale above the same lower bits, so that the order of values is that of
/// integers.
STROM_INLINE bool order_decimal(int128 decimal, int128* out) {
  const int scale = decimal_scale(decimal);
  int128 value = decimal_unscaled(decimal);
  *out = 0;
  constexpr int kHalf = registry::kSummedScale / 2;
  constexpr int64_t kOrdinary = int64_t{1} << 53;
  if (scale <= kHalf && value < kOrdinary && value > -kOrdinary) {  // 128 bits hold the product, in two steps
    const auto first = static_cast<int128>(static_cast<int64_t>(value)) * small_power_of_ten(kHalf - scale);
    return give_decimal(first * small_power_of_ten(kHalf), scale, *out);
  }
  if (scale > registry::kSummedScale || append_digits(&value, registry::kSummedScale - scale)) return true;
  return give_decimal(value, scale, *out);
}

}  // namespace strom::engine::expr
