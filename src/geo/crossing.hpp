// How one line crosses another (st_linecrossingdirection), by the rules of PostGIS: it counts the pairs of edges that
// cross to the left and to the right. A touch counts if it is at the first point of an edge.
#pragma once

#include <math.h>

#include "geo/orientation.hpp"
#include "geo/serialized.hpp"

namespace strom::geo {

enum class EdgeCrossing : uint8_t { kNone, kLeft, kRight, kUncertain };

/// How the edge from q to q2 crosses the edge from p to p2.
STROM_BASE_INLINE EdgeCrossing edge_crossing(Point p, Point p2, Point q, Point q2) {
  const Side q_side = agreed_side(p, p2, q), q2_side = agreed_side(p, p2, q2);
  if (q_side == q2_side && (q_side == Side::kLeft || q_side == Side::kRight)) return EdgeCrossing::kNone;
  const Side p_side = agreed_side(q, q2, p), p2_side = agreed_side(q, q2, p2);
  for (const Side side : {q_side, q2_side, p_side, p2_side})
    if (side == Side::kUnknown) return EdgeCrossing::kUncertain;
  if (p_side == p2_side && p_side != Side::kOn) return EdgeCrossing::kNone;
  if (q2_side == Side::kOn || p2_side == Side::kOn) return EdgeCrossing::kNone;
  return q2_side == Side::kRight ? EdgeCrossing::kRight : EdgeCrossing::kLeft;
}

/// Reads the only path of a line that has two points or more, finite numbers and a length.
STROM_BASE_INLINE bool read_line(const SerializedGeometry& geometry, Path* path) {
  if (geometry.type() != GeometryType::kLine) return false;
  SerializedPaths paths(geometry);
  if (paths.next(path) != Step::kPath || path->count < 2 || !is_small(path->points.point(0))) return false;
  double length = 0;
  for (int64_t i = 1; i < path->count; ++i) {
    const Point a = path->points.point(i - 1), b = path->points.point(i);
    if (!is_small(b)) return false;
    length += sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
  }
  return length > 0;
}

/// PostGIS's number: 0 no crossing; -1 and 1 one crossing, to the left or right; -2 and 2 several that end on that
/// side; -3 and 3 several that end on the side where they began, the first to the left or right. False: PostGIS has to
/// find it.
STROM_BASE_INLINE bool crossing_direction(const SerializedGeometry& a, const SerializedGeometry& b, int32_t* out) {
  Path p, q;
  *out = 0;
  if (a.srid() != b.srid() || !read_line(a, &p) || !read_line(b, &q)) return false;
  int64_t lefts = 0, rights = 0;
  EdgeCrossing first = EdgeCrossing::kNone;
  for (int64_t i = 1; i < q.count; ++i)
    for (int64_t k = 1; k < p.count; ++k) {
      const EdgeCrossing crossing =
          edge_crossing(p.points.point(k - 1), p.points.point(k), q.points.point(i - 1), q.points.point(i));
      if (crossing == EdgeCrossing::kNone) continue;
      if (crossing == EdgeCrossing::kUncertain) return false;
      if (first == EdgeCrossing::kNone) first = crossing;
      ++(crossing == EdgeCrossing::kLeft ? lefts : rights);
    }
  const int64_t more = lefts - rights;
  constexpr int32_t kSeveral = 2, kSameSide = 3;
  if (lefts + rights == 0) return true;
  if (lefts + rights == 1)
    *out = lefts == 1 ? -1 : 1;
  else if (more == 1 || more == -1)
    *out = more == 1 ? -kSeveral : kSeveral;
  else if (more == 0)
    *out = first == EdgeCrossing::kLeft ? -kSameSide : kSameSide;
  return true;
}

}  // namespace strom::geo
