// Where a point lies relative to a polygon that is read from its serialised form, without preparation: for polygons
// that differ from row to row. All points are looked at. Single source.
#pragma once

#include "geo/ring_tally.hpp"
#include "geo/serialized.hpp"

namespace strom::geo {

/// Adds one ring. False: the ring is not closed, has fewer than four points, or numbers that are not finite.
STROM_BASE_INLINE bool add_ring(const Path& path, Point p, RingTally* tally) {
  constexpr int64_t kLeastPoints = 4;
  if (path.count < kLeastPoints) return false;
  const Point first = path.points.point(0);
  RingWinding winding;
  Point a = first;
  bool finite = is_small(first);
  for (int64_t i = 1; i < path.count; ++i) {
    const Point b = path.points.point(i);
    finite = finite && is_small(b);
    winding.add_edge(a, b, p);
    a = b;
  }
  tally->add(path.part, path.ring == 0, winding);
  return finite && a.x == first.x && a.y == first.y;
}

/// True when the boxes that PostGIS compares first do not meet. It rounds the point's box to floats, too.
STROM_BASE_INLINE bool is_beside(const Box& box, Point p) {
  constexpr double kRounding = 1e-6, kLeast = 1e-37;
  if (!box.is_finite() || !fits_floats(p)) return false;
  const double margin_x = larger(p.x, -p.x) * kRounding + kLeast, margin_y = larger(p.y, -p.y) * kRounding + kLeast;
  return p.x < box.min_x - margin_x || p.x > box.max_x + margin_x || p.y < box.min_y - margin_y ||
         p.y > box.max_y + margin_y;
}

/// The same answer as PreparedPolygon::locate() of the polygon. kUncertain for a geometry that is no polygon.
STROM_BASE_INLINE Answer locate_in_place(const SerializedGeometry& polygon, Point p) {
  if (!is_polygonal(polygon.type()) || !is_finite(p)) return Answer::kUncertain;
  Box box;
  const bool beside = polygon.stored_box(&box) && is_beside(box, p);
  RingTally tally;
  SerializedPaths paths(polygon);
  for (;;) {
    Path path;
    const Step step = paths.next(&path);
    if (step == Step::kEnd) return tally.answer();
    if (step == Step::kDamaged || path.type != GeometryType::kPolygon) return Answer::kUncertain;
    if (path.count == 0 && path.ring == 0) continue;
    // PostGIS checks first that the polygon is not empty, then compares the boxes.
    if (beside && path.count > 0) return Answer::kOutside;
    if (!add_ring(path, p, &tally)) return Answer::kUncertain;
  }
}

}  // namespace strom::geo
