// Numeric as 128-bit fixed point. Values that do not fit 128 bits make fallback rows.
#pragma once

#include "engine/expr/element.hpp"

namespace strom::engine::expr {

/// True on overflow. Written by hand, because device compilers have no overflow builtin for 128 bits.
STROM_INLINE bool add_overflows(int128 a, int128 b, int128* out) {
  const uint128 sum = static_cast<uint128>(a) + static_cast<uint128>(b);
  *out = static_cast<int128>(sum);
  return static_cast<int128>((static_cast<uint128>(a) ^ sum) & (static_cast<uint128>(b) ^ sum)) < 0;
}

STROM_INLINE bool mul_overflows(int128 a, int128 b, int128* out) {
  if (a == static_cast<int64_t>(a) && b == static_cast<int64_t>(b)) {
    *out = static_cast<int128>(static_cast<int64_t>(a)) * static_cast<int64_t>(b);
    return false;
  }
  const bool negative = (a < 0) != (b < 0);
  const uint128 ua = a < 0 ? -static_cast<uint128>(a) : static_cast<uint128>(a);
  const uint128 ub = b < 0 ? -static_cast<uint128>(b) : static_cast<uint128>(b);
  const uint64_t a_high = static_cast<uint64_t>(ua >> 64), a_low = static_cast<uint64_t>(ua);
  const uint64_t b_high = static_cast<uint64_t>(ub >> 64), b_low = static_cast<uint64_t>(ub);
  if (a_high != 0 && b_high != 0) return true;
  const uint128 cross = static_cast<uint128>(a_high) * b_low + static_cast<uint128>(b_high) * a_low;
  if (cross >> 64 != 0) return true;
  const uint128 low = static_cast<uint128>(a_low) * b_low;
  const uint128 product = (cross << 64) + low;
  if (product < low || product >> 127 != 0) return true;
  *out = negative ? -static_cast<int128>(product) : static_cast<int128>(product);
  return false;
}

/// value * 10^up, or value / 10^down rounded half away from zero. True on overflow.
STROM_INLINE bool rescale_overflows(int128 value, int128 up, int128 down, int128* out) {
  if (up != 1) return mul_overflows(value, up, out);
  if (down == 1) {
    *out = value;
    return false;
  }
  const int128 quotient = value / down, rest = value % down;
  *out = quotient + (rest >= down - down / 2) - (rest <= down / 2 - down);
  return false;
}

struct AddI128 {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) { return add_overflows(a, b, &out); }
};
struct SubI128 {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) {
    const int128 negative = static_cast<int128>(-static_cast<uint128>(b));
    if (negative == b && b != 0) return true;
    return add_overflows(a, negative, &out);
  }
};
struct MulI128 {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) { return mul_overflows(a, b, &out); }
};
struct NegI128 {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a) {
    out = static_cast<int128>(-static_cast<uint128>(a));
    return out == a && a != 0;
  }
};
struct AbsI128 {
  STROM_INLINE static bool eval(const Context& context, int128& out, int128 a) {
    if (a < 0) return NegI128::eval(context, out, a);
    out = a;
    return false;
  }
};
struct ModI128 {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) {
    out = b == 0 || b == -1 ? 0 : a % b;
    return b == 0;
  }
};
/// div(): the quotient of two values of one scale, truncated to a whole number.
struct DivTruncI128 {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a, int128 b) {
    if (b == -1) return NegI128::eval(Context{}, out, a);
    out = b == 0 ? 0 : a / b;
    return b == 0;
  }
};
struct FloorI128 {
  STROM_INLINE static bool eval(const Context& context, int128& out, int128 a) {
    const int128 unit = base::power_of_ten(context.scale);
    out = a / unit - (a % unit < 0);
    return false;
  }
};
struct CeilI128 {
  STROM_INLINE static bool eval(const Context& context, int128& out, int128 a) {
    const int128 unit = base::power_of_ten(context.scale);
    out = a / unit + (a % unit > 0);
    return false;
  }
};
struct SignI128 {
  STROM_INLINE static bool eval(const Context&, int128& out, int128 a) {
    out = (a > 0) - (a < 0);
    return false;
  }
};
struct ConvertI128 {
  template <class A>
  STROM_INLINE static bool eval(const Context&, int128& out, A a) {
    out = a;
    return false;
  }
};

}  // namespace strom::engine::expr
