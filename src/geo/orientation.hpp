// On which side of a line is a point? The sign of a determinant of doubles, without a rounding error.
//
// The sign of the rounded determinant is right when the determinant is larger than its largest possible error.
// Otherwise the determinant is computed without rounding, as a sum of doubles that do not overlap (an expansion):
// Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997. Needs
// compilation without contraction to fused operations. Single source.
#pragma once

#include <initializer_list>

#include "geo/apart.hpp"
#include "geo/point.hpp"

namespace strom::geo {

enum class Side : int8_t {
  kRight = -1,
  kOn = 0,
  kLeft = 1,
  kUnknown = 2  // the numbers are too large, too small or not finite for exact arithmetic
};

/// A sum of two doubles: `low` is what rounding took from `high`.
struct ExactPair {
  double high, low;
};

STROM_BASE_INLINE ExactPair exact_sum(double a, double b) {
  const double sum = a + b, of_b = sum - a, of_a = sum - of_b;
  return {sum, (a - of_a) + (b - of_b)};
}
STROM_BASE_INLINE ExactPair exact_difference(double a, double b) { return exact_sum(a, -b); }

/// Upper and lower half of a double's bits.
STROM_BASE_INLINE ExactPair split(double a) {
  const double shifted = 134217729.0 * a;  // 2^27 + 1
  const double high = shifted - (shifted - a);
  return {high, a - high};
}
STROM_BASE_INLINE ExactPair exact_product(double a, double b) {
  const double product = a * b;
  const ExactPair x = split(a), y = split(b);
  const double error = product - x.high * y.high - x.low * y.high - x.high * y.low;
  return {product, x.low * y.low - error};
}

/// A sum of doubles that do not overlap, the smallest first.
class Expansion {
 public:
  STROM_BASE_INLINE void add(double value) {
    int kept = 0;
    for (int i = 0; i < count_; ++i) {
      const ExactPair sum = exact_sum(value, parts_[i]);
      value = sum.high;
      if (sum.low != 0) parts_[kept++] = sum.low;
    }
    if (value != 0 || kept == 0) parts_[kept++] = value;
    count_ = kept;
  }
  /// The largest part. It has the sign of the sum and about the sum's value.
  STROM_BASE_INLINE double estimate() const { return count_ == 0 ? 0 : parts_[count_ - 1]; }

 private:
  static constexpr int kMost = 16;  // products of two pairs, twice, of two doubles each
  double parts_[kMost];
  int count_ = 0;
};

/// The determinant (b - a) x (p - a), rounded in the order in which PostGIS computes it.
struct RoundedSide {
  double determinant, magnitude;  // magnitude: the sum of its products' absolute values

  /// True when the rounded determinant surely has the right sign.
  STROM_BASE_INLINE bool is_certain() const {
    constexpr double kError = 3.3306690738754716e-16;  // (3 + 16 epsilon) epsilon, epsilon = 2^-53
    constexpr double kLeast = 1e-280;                  // below, products lose bits to underflow
    const double absolute = determinant < 0 ? -determinant : determinant;
    return absolute > kError * magnitude && magnitude > kLeast && is_finite(magnitude);
  }
  STROM_BASE_INLINE Side side() const {
    return determinant > 0 ? Side::kLeft : determinant < 0 ? Side::kRight : Side::kOn;
  }
};

STROM_BASE_INLINE RoundedSide rounded_side(Point a, Point b, Point p) {
  const double left = (b.x - a.x) * (p.y - a.y), right = (p.x - a.x) * (b.y - a.y);
  return {left - right, (left < 0 ? -left : left) + (right < 0 ? -right : right)};
}

/// True when products of values within these bounds are exact, with their rounding errors.
STROM_BASE_INLINE bool is_exact_factor(const ExactPair& pair) {
  constexpr double kLeast = 3.2033e-145, kMost = 3.1217e+144;  // 2^-480, 2^480
  const double high = pair.high < 0 ? -pair.high : pair.high, low = pair.low < 0 ? -pair.low : pair.low;
  return high <= kMost && (high >= kLeast || high == 0) && (low >= kLeast || low == 0);
}

/// What exact arithmetic finds where rounding left doubts.
struct ExactSide {
  Side side;
  bool plain;  // the coordinates' differences are doubles, so arithmetic of 106 bits does not round the determinant
  double remaining;  // the approximate determinant
};

STROM_BASE_INLINE void add_product(Expansion* sum, const ExactPair& a, const ExactPair& b) {
  for (const double x : {a.low, a.high})
    for (const double y : {b.low, b.high}) {
      if (x == 0 || y == 0) continue;
      const ExactPair product = exact_product(x, y);
      sum->add(product.low);
      sum->add(product.high);
    }
}

STROM_GEO_APART ExactSide exact_side(Point a, Point b, Point p) {
  const ExactPair bx = exact_difference(b.x, a.x), by = exact_difference(b.y, a.y);
  const ExactPair px = exact_difference(p.x, a.x), py = exact_difference(p.y, a.y);
  if (!is_exact_factor(bx) || !is_exact_factor(by) || !is_exact_factor(px) || !is_exact_factor(py))
    return {Side::kUnknown, false, 0};
  Expansion sum;
  add_product(&sum, bx, py);
  add_product(&sum, {-px.high, -px.low}, by);
  const double value = sum.estimate();
  const bool plain = bx.low == 0 && by.low == 0 && px.low == 0 && py.low == 0;
  return {value > 0 ? Side::kLeft : value < 0 ? Side::kRight : Side::kOn, plain, value};
}

/// The side of the line from a to b on which p lies.
STROM_BASE_INLINE Side side_of(Point a, Point b, Point p) {
  const RoundedSide rounded = rounded_side(a, b, p);
  return rounded.is_certain() ? rounded.side() : exact_side(a, b, p).side;
}

/// The same, but kUnknown also where another side could be found by rounded arithmetic (as in PostGIS) or by arithmetic
/// of 106 bits (as in GEOS).
STROM_BASE_INLINE Side agreed_side(Point a, Point b, Point p) {
  const RoundedSide rounded = rounded_side(a, b, p);
  if (rounded.is_certain()) return rounded.side();
  if ((b.x == a.x || p.y == a.y) && (p.x == a.x || b.y == a.y)) return Side::kOn;  // both products are zero
  const ExactSide exact = exact_side(a, b, p);
  if (exact.side != rounded.side()) return Side::kUnknown;
  constexpr double kDoubtful = 1e-24;  // 2^-80
  const double remaining = exact.remaining < 0 ? -exact.remaining : exact.remaining;
  return exact.plain || remaining > kDoubtful * rounded.magnitude ? exact.side : Side::kUnknown;
}

}  // namespace strom::geo
