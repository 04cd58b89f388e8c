// Casts between numbers, with PostgreSQL's rounding (half to even for floats) and range errors.
#pragma once

#include "base/half.hpp"
#include "engine/expr/arith.hpp"
#include "engine/expr/decimal.hpp"

namespace strom::engine::expr {

template <class To>
struct Convert {
  template <class R, class A>
  STROM_INLINE static bool eval(const Context&, R& out, A a) {
    out = static_cast<R>(static_cast<To>(a));
    return false;
  }
};

template <class Limit>
struct NarrowInt {
  template <class R, class A>
  STROM_INLINE static bool eval(const Context&, R& out, A a) {
    out = static_cast<R>(a);
    return outside<Limit>(a);
  }
};

struct NarrowFloat {
  STROM_INLINE static bool eval(const Context&, float& out, double a) {
    out = static_cast<float>(a);
    return (is_infinite(out) & !is_infinite(a)) | ((out == 0) & (a != 0));
  }
};

/// float2: its register holds a wider float.
struct NarrowHalf {
  STROM_INLINE static bool eval(const Context&, float& out, double a) {
    out = base::half_to_float(base::double_to_half(a));
    return (is_infinite(out) & !is_infinite(a)) | ((out == 0) & (a != 0));
  }
};

/// rint(): half to even, without depending on the math library. Exact for |value| < 2^52.
STROM_INLINE double round_half_even(double value) {
  constexpr double kShift = 4503599627370496.0;  // 2^52
  if (!(value > -kShift && value < kShift)) return value;
  return value < 0 ? (value - kShift) + kShift : (value + kShift) - kShift;
}

template <class Limit>
struct RoundToInt {
  template <class R, class A>
  STROM_INLINE static bool eval(const Context&, R& out, A a) {
    constexpr double kLowest = -static_cast<double>(static_cast<uint64_t>(1) << (sizeof(Limit) * 8 - 1));
    const double rounded = round_half_even(static_cast<double>(a));
    const bool fits = rounded >= kLowest && rounded < -kLowest;
    out = fits ? static_cast<R>(rounded) : R{0};
    return !fits;
  }
};

struct IntToBool {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, int32_t a) {
    out = a != 0;
    return false;
  }
};

/// numeric to float8. Correctly rounded when the unscaled value and the power of ten are both exact doubles. All others
/// make fallback rows, because PostgreSQL converts through the decimal text.
STROM_INLINE bool decimal_to_double(int128 value, int scale, double* out) {
  constexpr int64_t kExact = static_cast<int64_t>(1) << 53;
  if (scale > 22 || value > kExact || value < -kExact) return true;
  double unit = 1;
  for (int i = 0; i < scale; ++i) unit *= 10;
  *out = static_cast<double>(static_cast<int64_t>(value)) / unit;
  return false;
}

/// numeric of `scale` to an integer in [lowest, highest], rounded half away from zero.
STROM_INLINE bool decimal_to_int(int128 value, int scale, int64_t lowest, int64_t highest, int64_t* out) {
  int128 rounded;
  rescale_overflows(value, 1, base::power_of_ten(scale), &rounded);
  *out = static_cast<int64_t>(rounded);
  return rounded < lowest || rounded > highest;
}

}  // namespace strom::engine::expr
