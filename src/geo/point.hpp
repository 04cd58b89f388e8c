// Points and boxes of the plane. Used by everything in src/geo. Single source.
#pragma once

#include <cstdint>

#include "base/single_source.hpp"

namespace strom::geo {

struct Point {
  double x, y;
};

STROM_BASE_INLINE double smaller(double a, double b) { return a < b ? a : b; }
STROM_BASE_INLINE double larger(double a, double b) { return a > b ? a : b; }

/// False for NaN and infinities.
STROM_BASE_INLINE bool is_finite(double value) { return value - value == 0; }
STROM_BASE_INLINE bool is_finite(Point point) { return is_finite(point.x) && is_finite(point.y); }

/// True when the point lies in its box of floats as PostGIS stores it: larger numbers become the largest float there.
STROM_BASE_INLINE bool fits_floats(Point point) {
  constexpr double kLargest = 3.4e38;
  return point.x <= kLargest && point.x >= -kLargest && point.y <= kLargest && point.y >= -kLargest;
}

/// True when the coordinates and their squares are finite.
STROM_BASE_INLINE bool is_small(Point point) {
  constexpr double kLargest = 1e150;
  return point.x <= kLargest && point.x >= -kLargest && point.y <= kLargest && point.y >= -kLargest;
}

/// True when products of differences of such coordinates, and the rounding errors of these products, do not underflow.
STROM_BASE_INLINE bool is_exact(Point point) {
  constexpr double kSmallest = 1e-120;  // its last bit's square is far above the smallest number
  const auto is_fine = [](double x) { return x == 0 || x >= kSmallest || x <= -kSmallest; };
  return is_fine(point.x) && is_fine(point.y);
}

STROM_BASE_INLINE bool is_same(Point a, Point b) { return a.x == b.x && a.y == b.y; }

/// A closed rectangle. An empty box has min > max.
struct Box {
  double min_x, min_y, max_x, max_y;

  STROM_BASE_INLINE static Box empty() { return {kBeyond, kBeyond, -kBeyond, -kBeyond}; }
  /// The box of all finite points.
  STROM_BASE_INLINE static Box everything() { return {-kBeyond, -kBeyond, kBeyond, kBeyond}; }
  STROM_BASE_INLINE bool is_empty() const { return !(min_x <= max_x && min_y <= max_y); }
  STROM_BASE_INLINE bool is_finite() const { return geo::is_finite({min_x, min_y}) && geo::is_finite({max_x, max_y}); }
  STROM_BASE_INLINE bool fits_floats() const {
    return geo::fits_floats({min_x, min_y}) && geo::fits_floats({max_x, max_y});
  }
  STROM_BASE_INLINE void add(Point point) {
    min_x = smaller(min_x, point.x);
    min_y = smaller(min_y, point.y);
    max_x = larger(max_x, point.x);
    max_y = larger(max_y, point.y);
  }
  STROM_BASE_INLINE void add(const Box& box) {
    add(Point{box.min_x, box.min_y});
    add(Point{box.max_x, box.max_y});
  }
  STROM_BASE_INLINE bool contains(Point point) const {
    return min_x <= point.x && point.x <= max_x && min_y <= point.y && point.y <= max_y;
  }
  STROM_BASE_INLINE bool contains(const Box& box) const {
    return min_x <= box.min_x && box.max_x <= max_x && min_y <= box.min_y && box.max_y <= max_y;
  }
  STROM_BASE_INLINE bool overlaps(const Box& box) const {
    return min_x <= box.max_x && box.min_x <= max_x && min_y <= box.max_y && box.min_y <= max_y;
  }
  STROM_BASE_INLINE Box expanded(double by) const { return {min_x - by, min_y - by, max_x + by, max_y + by}; }

 private:
  static constexpr double kBeyond = 1.7976931348623157e308;
};

STROM_BASE_INLINE Box box_of(Point point) { return {point.x, point.y, point.x, point.y}; }

}  // namespace strom::geo
