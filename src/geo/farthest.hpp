// Are all points of two geometries within a distance of each other (st_dfullywithin, before PostGIS 3.5)? The largest
// distance is one of two vertices. Single source.
#pragma once

#include <math.h>

#include "geo/pair_predicate.hpp"

namespace strom::geo {

/// The largest distance of `p` from a vertex of the geometry. False: it has none, or others than finite ones, or
/// curves.
STROM_BASE_INLINE bool farthest_from(const SerializedGeometry& geometry, Point p, double* distance) {
  SerializedPaths paths(geometry);
  Path path;
  Step step;
  while ((step = paths.next(&path)) == Step::kPath) {
    if (!is_simple_type(path.type) || path.count == 0) return false;
    if (path.ring != 0) continue;  // PostGIS looks at shells alone
    for (int64_t i = 0; i < path.count; ++i) {
      const Point other = path.points.point(i);
      if (!is_small(other)) return false;
      const double dx = other.x - p.x, dy = other.y - p.y;
      *distance = larger(*distance, sqrt(dx * dx + dy * dy));
    }
  }
  return step == Step::kEnd;
}

/// kUncertain also where rounding decides, since PostGIS takes the one of two vertices that is farther by its own
/// arithmetic.
STROM_BASE_INLINE Verdict is_fully_within(const SerializedGeometry& a, const SerializedGeometry& b, double distance) {
  if (a.srid() != b.srid() || !(distance >= 0)) return Verdict::kUncertain;
  SerializedPaths paths(a);
  Path path;
  Step step;
  double largest = -1;
  while ((step = paths.next(&path)) == Step::kPath) {
    if (!is_simple_type(path.type) || path.count == 0) return Verdict::kUncertain;
    if (path.ring != 0) continue;
    for (int64_t i = 0; i < path.count; ++i) {
      const Point point = path.points.point(i);
      if (!is_small(point) || !farthest_from(b, point, &largest)) return Verdict::kUncertain;
    }
  }
  if (step != Step::kEnd || largest < 0) return Verdict::kUncertain;
  constexpr double kRounding = 1e-12;
  const bool points = a.type() == GeometryType::kPoint && b.type() == GeometryType::kPoint;
  if (!points && largest > distance * (1 - kRounding) && largest < distance * (1 + kRounding))
    return Verdict::kUncertain;
  return verdict(largest <= distance);
}

}  // namespace strom::geo
