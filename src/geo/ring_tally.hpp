// Where a point lies relative to a (multi)polygon, derived from where it lies relative to each ring.
//
// PostGIS counts the windings of each ring: a point is inside when a part's shell winds around it and none of the
// part's holes does. GEOS counts crossings of all rings together. For valid polygons both find the same. For other
// polygons the answer is kUncertain where PostGIS, its versions, or GEOS could differ. Single source.
#pragma once

#include "geo/orientation.hpp"

namespace strom::geo {

enum class Answer : uint8_t { kOutside, kInside, kBoundary, kUncertain };

/// Some versions of PostGIS leave out edges that are shorter than 1e-12. So they can find that a point far to the left
/// of such an edge, at its height, is in the polygon.
STROM_BASE_INLINE bool is_short(Point a, Point b) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  constexpr double kShort = 1.0000001e-24;
  return dx * dx + dy * dy < kShort;
}

/// True when the edge can make points far to the left of it uncertain: it is_short(), or products with its height
/// underflow.
STROM_BASE_INLINE bool is_doubtful(Point a, Point b) {
  constexpr double kLeastHeight = 1e-140;
  return a.y != b.y && (is_short(a, b) || larger(b.y - a.y, a.y - b.y) < kLeastHeight);
}

/// Windings of a ring around a point, from its edges in any order.
struct RingWinding {
  int32_t windings = 0;
  bool boundary = false, uncertain = false;

  /// Adds an edge from a to b. Edges to the left of `p`, or that do not reach its height, change nothing.
  STROM_BASE_INLINE void add_edge(Point a, Point b, Point p) {
    const double lowest = smaller(a.y, b.y), highest = larger(a.y, b.y);
    if (!(lowest <= p.y && p.y <= highest && p.x <= larger(a.x, b.x))) return;
    const Side side = agreed_side(a, b, p);
    const bool upward = a.y <= p.y && p.y < b.y, downward = b.y <= p.y && p.y < a.y;
    const bool touches = side == Side::kOn && smaller(a.x, b.x) <= p.x;
    if (side == Side::kUnknown) uncertain = true;
    const bool left = upward && side == Side::kLeft, right = downward && side == Side::kRight;
    if (!touches && !left && !right) return;
    if (is_short(a, b)) uncertain = true;
    if (touches)
      boundary = true;
    else if (left)
      ++windings;
    else
      --windings;
  }
};

/// Collects the rings of a polygon, part by part, each part's shell first. Rings that do not reach the point's height
/// may be left out, if no ring of their part reaches it.
class RingTally {
 public:
  STROM_BASE_INLINE void add(int32_t part, bool shell, const RingWinding& ring) {
    if (part != part_) end_part();
    part_ = part;
    if (ring.uncertain || (!ring.boundary && (ring.windings > 1 || ring.windings < -1))) uncertain_ = true;
    if (shell) {
      in_shell_ = ring.windings != 0 && !ring.boundary;
      on_shell_ = ring.boundary;
    } else {
      if (ring.boundary)
        ++on_holes_;
      else if (ring.windings != 0)
        ++in_holes_;
    }
  }

  STROM_BASE_INLINE Answer answer() {
    end_part();
    if (uncertain_) return Answer::kUncertain;
    if (boundaries_ > 0) return inside_ > 0 ? Answer::kUncertain : Answer::kBoundary;
    return inside_ == 0 ? Answer::kOutside : inside_ == 1 ? Answer::kInside : Answer::kUncertain;
  }

 private:
  STROM_BASE_INLINE void end_part() {
    if (on_shell_ || on_holes_ > 0) {
      ++boundaries_;
      // A point on a hole's edge is in its shell or on it, and in no other hole.
      if (in_holes_ > 0 || (!on_shell_ && !in_shell_)) uncertain_ = true;
    } else if (in_shell_) {
      if (in_holes_ == 0) ++inside_;
      if (in_holes_ > 1) uncertain_ = true;
    } else if (in_holes_ > 0) {
      uncertain_ = true;
    }
    in_shell_ = on_shell_ = false;
    on_holes_ = in_holes_ = 0;
  }

  int32_t part_ = -1;
  bool in_shell_ = false, on_shell_ = false, uncertain_ = false;
  int32_t on_holes_ = 0, in_holes_ = 0;  // holes of the part
  int32_t inside_ = 0, boundaries_ = 0;  // parts
};

}  // namespace strom::geo
