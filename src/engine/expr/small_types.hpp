// Types with few functions: oid (its register is wider, so that it orders as a number), "char" (the byte, unsigned),
// enum (its OID) and money (its cents). Single source.
#pragma once

#include <math.h>

#include "engine/expr/compare.hpp"
#include "engine/expr/text_make.hpp"

namespace strom::engine::expr {

/// The values of an enum type are in the order of their OIDs where these are even, and stay so. Odd OIDs are values
/// that were added in between. PostgreSQL looks up their places.
template <class Compare>
struct CompareEnum {
  STROM_INLINE static bool eval(const Context& context, uint8_t& out, int64_t a, int64_t b) {
    Compare::eval(context, out, a, b);
    return ((a | b) & 1) != 0;
  }
};
using EqEnum = Eq;
using NeEnum = Ne;
using LtEnum = CompareEnum<Lt>;
using LeEnum = CompareEnum<Le>;
using GtEnum = CompareEnum<Gt>;
using GeEnum = CompareEnum<Ge>;

struct IntToOid {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a) {
    out = a;
    return a != static_cast<int64_t>(static_cast<uint32_t>(a));
  }
};

struct CharToInt {
  STROM_INLINE static bool eval(const Context&, int32_t& out, int32_t a) {
    out = static_cast<int8_t>(a);
    return false;
  }
};
struct IntToChar {
  STROM_INLINE static bool eval(const Context&, int32_t& out, int32_t a) {
    out = static_cast<uint8_t>(a);
    return a < INT8_MIN || a > INT8_MAX;
  }
};
/// Bytes above ASCII make fallback rows: versions of PostgreSQL differ.
struct CharToText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, int32_t a) {
    char* made = a < 0x80 ? context.make_text(1) : nullptr;
    if (made == nullptr) return true;
    *made = static_cast<char>(a);
    out = {made, a != 0};
    return false;
  }
};

struct DivMoney {
  STROM_INLINE static bool eval(const Context&, double& out, int64_t a, int64_t b) {
    out = static_cast<double>(a) / static_cast<double>(b == 0 ? 1 : b);
    return b == 0;
  }
};

STROM_INLINE bool round_money(int64_t& out, double cents) {
  const bool fits = fabs(cents) < 4e18;
  out = fits ? static_cast<int64_t>(rint(cents)) : 0;
  return !fits;
}

struct MoneyMulFloat {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a, double b) {
    return round_money(out, static_cast<double>(a) * b);
  }
};
struct FloatMulMoney {
  STROM_INLINE static bool eval(const Context&, int64_t& out, double a, int64_t b) {
    return round_money(out, a * static_cast<double>(b));
  }
};
struct MoneyDivFloat {
  STROM_INLINE static bool eval(const Context&, int64_t& out, int64_t a, double b) {
    out = 0;
    return b == 0 || round_money(out, static_cast<double>(a) / b);
  }
};

}  // namespace strom::engine::expr
