// Comparison of numbers, booleans and dates. Floats follow PostgreSQL: NaN = NaN and above everything, -0 = 0.
#pragma once

#include "engine/expr/element.hpp"

namespace strom::engine::expr {

#define STROM_DEFINE_COMPARE(name, op)                                      \
  struct name {                                                             \
    template <class A, class B>                                             \
    STROM_INLINE static bool eval(const Context&, uint8_t& out, A a, B b) { \
      out = a op b;                                                         \
      return false;                                                         \
    }                                                                       \
  };
STROM_DEFINE_COMPARE(Eq, ==)
STROM_DEFINE_COMPARE(Ne, !=)
STROM_DEFINE_COMPARE(Lt, <)
STROM_DEFINE_COMPARE(Le, <=)
STROM_DEFINE_COMPARE(Gt, >)
STROM_DEFINE_COMPARE(Ge, >=)
#undef STROM_DEFINE_COMPARE

template <class A, class B>
STROM_INLINE bool float_equal(A a, B b) {
  return (a == b) | ((a != a) & (b != b));
}
template <class A, class B>
STROM_INLINE bool float_less(A a, B b) {
  return (a < b) | ((b != b) & (a == a));
}

#define STROM_DEFINE_FLOAT_COMPARE(name, expression)                        \
  struct name {                                                             \
    template <class A, class B>                                             \
    STROM_INLINE static bool eval(const Context&, uint8_t& out, A a, B b) { \
      out = expression;                                                     \
      return false;                                                         \
    }                                                                       \
  };
STROM_DEFINE_FLOAT_COMPARE(EqFloat, float_equal(a, b))
STROM_DEFINE_FLOAT_COMPARE(NeFloat, !float_equal(a, b))
STROM_DEFINE_FLOAT_COMPARE(LtFloat, float_less(a, b))
STROM_DEFINE_FLOAT_COMPARE(LeFloat, !float_less(b, a))
STROM_DEFINE_FLOAT_COMPARE(GtFloat, float_less(b, a))
STROM_DEFINE_FLOAT_COMPARE(GeFloat, !float_less(a, b))
#undef STROM_DEFINE_FLOAT_COMPARE

/// uuid: the register has its bytes, the first byte lowest. The comparison begins with the first byte.
STROM_INLINE uint128 uuid_order(int128 value) {
  const auto bits = static_cast<uint128>(value);
  uint128 turned = 0;
  for (int i = 0; i < 16; ++i) turned |= (bits >> (8 * i) & 0xff) << (8 * (15 - i));
  return turned;
}

/// Compares order(a) with order(b).
template <auto order, class Compare>
struct CompareBy {
  STROM_INLINE static bool eval(const Context& context, uint8_t& out, int128 a, int128 b) {
    return Compare::eval(context, out, order(a), order(b));
  }
};
using EqUuid = Eq;
using NeUuid = Ne;
using LtUuid = CompareBy<uuid_order, Lt>;
using LeUuid = CompareBy<uuid_order, Le>;
using GtUuid = CompareBy<uuid_order, Gt>;
using GeUuid = CompareBy<uuid_order, Ge>;

/// Order of min and max: true when a goes before b.
template <class T>
STROM_INLINE bool value_less(T a, T b) {
  return a < b;
}
template <>
STROM_INLINE bool value_less(float a, float b) {
  return float_less(a, b);
}
template <>
STROM_INLINE bool value_less(double a, double b) {
  return float_less(a, b);
}

}  // namespace strom::engine::expr
