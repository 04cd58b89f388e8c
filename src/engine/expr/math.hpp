// Functions of the math library, as PostgreSQL's float8 functions call them. Only PostgreSQL's own library gives the
// same last digit, so on devices every row is a fallback row. So are rows whose results may depend on errno or
// PostgreSQL's checks: results that are zero, subnormal, infinite or NaN, except for arguments where such results are
// right.
#pragma once

#include <float.h>
#include <math.h>

#include "engine/expr/arith.hpp"

namespace strom::engine::expr {

enum class Math {
  kExp,
  kLn,
  kLog10,
  kCbrt,
  kSin,
  kCos,
  kTan,
  kCot,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
};

STROM_INLINE bool is_plain(double value) {
  const double size = fabs(value);
  return size >= DBL_MIN && size <= DBL_MAX;
}

template <Math function>
struct MathFunction {
  STROM_INLINE static double value(double a) {
    if constexpr (function == Math::kExp) return exp(a);
    if constexpr (function == Math::kLn) return log(a);
    if constexpr (function == Math::kLog10) return log10(a);
    if constexpr (function == Math::kCbrt) return cbrt(a);
    if constexpr (function == Math::kSin) return sin(a);
    if constexpr (function == Math::kCos) return cos(a);
    if constexpr (function == Math::kTan) return tan(a);
    if constexpr (function == Math::kCot) return 1.0 / tan(a);
    if constexpr (function == Math::kAsin) return asin(a);
    if constexpr (function == Math::kAcos) return acos(a);
    if constexpr (function == Math::kAtan) return atan(a);
    if constexpr (function == Math::kSinh) return sinh(a);
    if constexpr (function == Math::kCosh) return cosh(a);
    if constexpr (function == Math::kTanh) return tanh(a);
    if constexpr (function == Math::kAsinh) return asinh(a);
    if constexpr (function == Math::kAcosh) return acosh(a);
    if constexpr (function == Math::kAtanh) return atanh(a);
  }

  static constexpr bool kZeroOfOne =
      function == Math::kLn || function == Math::kLog10 || function == Math::kAcos || function == Math::kAcosh;
  static constexpr bool kZeroOfZero = !kZeroOfOne && function != Math::kExp && function != Math::kCos &&
                                      function != Math::kCosh && function != Math::kCot;

  STROM_INLINE static bool eval(const Context&, double& out, double a) {
    out = a;
    if constexpr (!platform::kHostMath) return true;
    if (a != a || (kZeroOfZero && a == 0)) return false;
    out = value(a);
    return !is_plain(out) && !(kZeroOfOne && a == 1);
  }
};

struct Atan2Float {
  STROM_INLINE static bool eval(const Context&, double& out, double y, double x) {
    out = 0;
    if constexpr (!platform::kHostMath) return true;
    out = atan2(y, x);
    return !is_plain(out);
  }
};

struct PowerFloat {
  STROM_INLINE static bool eval(const Context&, double& out, double base, double exponent) {
    out = 0;
    if constexpr (!platform::kHostMath) return true;
    const bool of_zero = base == 0 && exponent > 0;  // is zero again
    if ((!is_plain(base) && !of_zero) || (!is_plain(exponent) && exponent != 0)) return true;
    out = pow(base, exponent);
    return !is_plain(out) && !of_zero;
  }
};

inline constexpr double kRadiansPerDegree = 0.0174532925199432957692;

struct DegreesFloat {
  STROM_INLINE static bool eval(const Context& context, double& out, double a) {
    return DivFloat<double>::eval(context, out, a, kRadiansPerDegree);
  }
};
struct RadiansFloat {
  STROM_INLINE static bool eval(const Context& context, double& out, double a) {
    return MulFloat<double>::eval(context, out, a, kRadiansPerDegree);
  }
};

}  // namespace strom::engine::expr
