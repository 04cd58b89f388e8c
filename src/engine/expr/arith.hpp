// Arithmetic with PostgreSQL's errors: integer overflow, division by zero, float overflow and underflow.
#pragma once

#include <math.h>

#include "engine/expr/element.hpp"

namespace strom::engine::expr {

/// Results of int2 are in an int32 register. `Limit` is the SQL type's C type, whose range bounds the result.
template <class Limit, class Wide>
STROM_INLINE bool outside(Wide value) {
  return value != static_cast<Wide>(static_cast<Limit>(value));
}

template <class Limit>
struct AddInt {
  template <class R, class A, class B>
  STROM_INLINE static bool eval(const Context&, R& out, A a, B b) {
    if constexpr (sizeof(Limit) < 8) {
      const int64_t wide = static_cast<int64_t>(a) + static_cast<int64_t>(b);
      out = static_cast<R>(wide);
      return outside<Limit>(wide);
    } else {
      const uint64_t ua = static_cast<uint64_t>(static_cast<int64_t>(a)),
                     ub = static_cast<uint64_t>(static_cast<int64_t>(b));
      const uint64_t sum = ua + ub;
      out = static_cast<R>(sum);
      return static_cast<int64_t>((ua ^ sum) & (ub ^ sum)) < 0;
    }
  }
};

template <class Limit>
struct SubInt {
  template <class R, class A, class B>
  STROM_INLINE static bool eval(const Context&, R& out, A a, B b) {
    if constexpr (sizeof(Limit) < 8) {
      const int64_t wide = static_cast<int64_t>(a) - static_cast<int64_t>(b);
      out = static_cast<R>(wide);
      return outside<Limit>(wide);
    } else {
      const uint64_t ua = static_cast<uint64_t>(static_cast<int64_t>(a)),
                     ub = static_cast<uint64_t>(static_cast<int64_t>(b));
      const uint64_t difference = ua - ub;
      out = static_cast<R>(difference);
      return static_cast<int64_t>((ua ^ ub) & (ua ^ difference)) < 0;
    }
  }
};

template <class Limit>
struct MulInt {
  template <class R, class A, class B>
  STROM_INLINE static bool eval(const Context&, R& out, A a, B b) {
    if constexpr (sizeof(Limit) < 8) {
      const int64_t wide = static_cast<int64_t>(a) * static_cast<int64_t>(b);
      out = static_cast<R>(wide);
      return outside<Limit>(wide);
    } else {
      const int128 wide = static_cast<int128>(a) * static_cast<int128>(b);
      out = static_cast<R>(wide);
      return outside<int64_t>(wide);
    }
  }
};

template <class Limit>
struct DivInt {
  template <class R, class A, class B>
  STROM_INLINE static bool eval(const Context&, R& out, A a, B b) {
    constexpr Limit kLowest = static_cast<Limit>(static_cast<uint64_t>(1) << (sizeof(Limit) * 8 - 1));
    const bool bad = (b == 0) | ((b == -1) & (static_cast<int64_t>(a) == static_cast<int64_t>(kLowest)));
    const int64_t divisor = bad ? 1 : static_cast<int64_t>(b);
    out = static_cast<R>(static_cast<int64_t>(a) / divisor);
    return bad;
  }
};

template <class Limit>
struct ModInt {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a, R b) {
    const bool bad = b == 0;
    out = static_cast<R>(bad | (b == -1) ? 0 : a % (bad ? 1 : b));
    return bad;
  }
};

template <class Limit>
struct NegInt {
  template <class R>
  STROM_INLINE static bool eval(const Context& context, R& out, R a) {
    return SubInt<Limit>::eval(context, out, R{0}, a);
  }
};

template <class Limit>
struct AbsInt {
  template <class R>
  STROM_INLINE static bool eval(const Context& context, R& out, R a) {
    R negative;
    const bool bad = SubInt<Limit>::eval(context, negative, R{0}, a);
    out = a < 0 ? negative : a;
    return (a < 0) & bad;
  }
};

template <class T>
STROM_INLINE bool is_infinite(T value) {
  return (value - value != 0) & (value == value);
}

template <class F>
struct AddFloat {
  template <class R, class A, class B>
  STROM_INLINE static bool eval(const Context&, R& out, A a, B b) {
    const F x = static_cast<F>(a), y = static_cast<F>(b);
    out = x + y;
    return is_infinite(out) & !is_infinite(x) & !is_infinite(y);
  }
};

template <class F>
struct SubFloat {
  template <class R, class A, class B>
  STROM_INLINE static bool eval(const Context&, R& out, A a, B b) {
    const F x = static_cast<F>(a), y = static_cast<F>(b);
    out = x - y;
    return is_infinite(out) & !is_infinite(x) & !is_infinite(y);
  }
};

template <class F>
struct MulFloat {
  template <class R, class A, class B>
  STROM_INLINE static bool eval(const Context&, R& out, A a, B b) {
    const F x = static_cast<F>(a), y = static_cast<F>(b);
    out = x * y;
    const bool overflow = is_infinite(out) & !is_infinite(x) & !is_infinite(y);
    const bool underflow = (out == 0) & (x != 0) & (y != 0);
    return overflow | underflow;
  }
};

template <class F>
struct DivFloat {
  template <class R, class A, class B>
  STROM_INLINE static bool eval(const Context&, R& out, A a, B b) {
    const F x = static_cast<F>(a), y = static_cast<F>(b);
    out = x / y;
    const bool by_zero = (y == 0) & (x == x);
    const bool overflow = is_infinite(out) & !is_infinite(x) & (y != 0);
    const bool underflow = (out == 0) & (x != 0) & !is_infinite(y);
    return by_zero | overflow | underflow;
  }
};

struct AndInt {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a, R b) {
    out = a & b;
    return false;
  }
};
struct OrInt {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a, R b) {
    out = a | b;
    return false;
  }
};
struct XorInt {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a, R b) {
    out = a ^ b;
    return false;
  }
};
struct NotInt {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a) {
    out = ~a;
    return false;
  }
};

/// Shift counts outside of the type's width make fallback rows: PostgreSQL's result depends on the processor.
template <class Limit>
struct ShiftLeft {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a, int32_t bits) {
    const bool bad = (bits < 0) | (bits >= static_cast<int32_t>(sizeof(R) * 8));
    out = static_cast<R>(static_cast<Limit>(static_cast<uint64_t>(static_cast<int64_t>(a)) << (bad ? 0 : bits)));
    return bad;
  }
};
struct ShiftRight {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a, int32_t bits) {
    const bool bad = (bits < 0) | (bits >= static_cast<int32_t>(sizeof(R) * 8));
    out = static_cast<R>(a >> (bad ? 0 : bits));
    return bad;
  }
};

struct RoundFloat {
  STROM_INLINE static bool eval(const Context&, double& out, double a) {
    out = rint(a);
    return false;
  }
};
struct FloorFloat {
  STROM_INLINE static bool eval(const Context&, double& out, double a) {
    out = floor(a);
    return false;
  }
};
struct CeilFloat {
  STROM_INLINE static bool eval(const Context&, double& out, double a) {
    out = ceil(a);
    return false;
  }
};
struct TruncFloat {
  STROM_INLINE static bool eval(const Context&, double& out, double a) {
    out = trunc(a);
    return false;
  }
};
struct SignFloat {
  STROM_INLINE static bool eval(const Context&, double& out, double a) {
    out = a > 0 ? 1.0 : a < 0 ? -1.0 : 0.0;
    return false;
  }
};
struct SqrtFloat {
  STROM_INLINE static bool eval(const Context&, double& out, double a) {
    out = sqrt(a < 0 ? 0 : a);
    return a < 0;
  }
};

template <class F>
struct NegFloat {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a) {
    out = -a;
    return false;
  }
};

template <class F>
struct AbsFloat {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a) {
    out = a < 0 ? -a : a == 0 ? R{0} : a;
    return false;
  }
};

/// Unary plus.
struct Same {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a) {
    out = a;
    return false;
  }
};

/// Greatest common divisor by Euclid, not negative. Those of the lowest values make fallback rows.
template <class Limit>
struct GcdInt {
  template <class R>
  STROM_INLINE static bool eval(const Context&, R& out, R a, R b) {
    constexpr auto kLowest = static_cast<R>(static_cast<Limit>(static_cast<uint64_t>(1) << (sizeof(Limit) * 8 - 1)));
    out = 0;
    if (a == kLowest || b == kLowest) return true;
    R x = a < 0 ? -a : a, y = b < 0 ? -b : b;
    while (y != 0) {
      const R rest = x % y;
      x = y;
      y = rest;
    }
    out = x;
    return false;
  }
};

template <class Limit>
struct LcmInt {
  template <class R>
  STROM_INLINE static bool eval(const Context& context, R& out, R a, R b) {
    R divisor;
    if (GcdInt<Limit>::eval(context, divisor, a, b)) return true;
    if (divisor == 0) {
      out = 0;
      return false;
    }
    const bool bad = MulInt<Limit>::eval(context, out, static_cast<R>(a / divisor), b);
    if (!bad && out < 0) out = static_cast<R>(-out);
    return bad;
  }
};

}  // namespace strom::engine::expr
