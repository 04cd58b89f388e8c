// Predicates of two geometries, as far as they can be decided exactly. Like PostGIS, they compare the boxes first.
// Single source.
#pragma once

#include "geo/float_box.hpp"
#include "geo/locate_in_place.hpp"
#include "geo/shape_relation.hpp"

namespace strom::geo {

/// Where a point lies relative to lines. It is on the boundary when it is an end of an odd number of lines.
class LineTally {
 public:
  /// False: the line has only one point, no length, or numbers that are not finite.
  STROM_BASE_INLINE bool add(const Path& path, Point p) {
    if (path.count < 2) return path.count == 0;
    const Point first = path.points.point(0);
    Point a = first;
    bool finite = is_small(first), has_length = false;
    int64_t edges = 0;  // edges that p lies on
    for (int64_t i = 1; i < path.count; ++i) {
      const Point b = path.points.point(i);
      finite = finite && is_small(b);
      has_length = has_length || !is_same(a, b);
      edges += is_on(a, b, p);
      a = b;
    }
    const int32_t ends = is_same(first, a) ? 0 : is_same(first, p) + is_same(a, p);
    ends_ += ends;
    if (ends == 0 && edges > 0) within_ = true;
    if (ends > 0 && edges > ends) uncertain_ = true;  // the line comes back to its end
    return finite && has_length;
  }

  STROM_BASE_INLINE Answer answer() const {
    if (uncertain_) return Answer::kUncertain;
    if (ends_ % 2 != 0) return within_ ? Answer::kUncertain : Answer::kBoundary;
    return within_ || ends_ > 0 ? Answer::kInside : Answer::kOutside;
  }

 private:
  STROM_BASE_INLINE bool is_on(Point a, Point b, Point p) {
    Box box = box_of(a);
    box.add(b);
    if (!box.contains(p)) return false;
    if (is_same(a, p) || is_same(b, p)) return true;
    const Side side = agreed_side(a, b, p), turned = agreed_side(b, a, p);
    if (side == Side::kUnknown || turned == Side::kUnknown) uncertain_ = true;
    if (side == Side::kOn) return true;
    // Where a line crosses itself, GEOS takes the rounded crossing for a point of the line.
    if (!is_clear_of({a, b, 0, 0}, p)) uncertain_ = true;
    return false;
  }

  int32_t ends_ = 0;
  bool within_ = false, uncertain_ = false;
};

STROM_BASE_INLINE Answer locate_in_lines(const SerializedGeometry& lines, Point p) {
  LineTally tally;
  SerializedPaths paths(lines);
  Path path;
  Step step;
  while ((step = paths.next(&path)) == Step::kPath)
    if (path.type != GeometryType::kLine || !tally.add(path, p)) return Answer::kUncertain;
  return step == Step::kEnd ? tally.answer() : Answer::kUncertain;
}

/// The verdict about a line or polygon and a point, from where the point lies.
STROM_BASE_INLINE Verdict of_location(PairPredicate predicate, Answer answer) {
  if (answer == Answer::kUncertain) return Verdict::kUncertain;
  switch (predicate) {
    case PairPredicate::kContains: return verdict(answer == Answer::kInside);
    case PairPredicate::kCovers:
    case PairPredicate::kIntersects: return verdict(answer != Answer::kOutside);
    // GEOS finds no boundary where invalid polygons have no area.
    case PairPredicate::kTouches: return answer == Answer::kBoundary ? Verdict::kUncertain : Verdict::kNo;
    case PairPredicate::kCrosses:
    case PairPredicate::kOverlaps: return Verdict::kNo;  // a point has no other points, and another dimension
    case PairPredicate::kEquals: return Verdict::kUncertain;
  }
  return Verdict::kUncertain;
}

STROM_BASE_INLINE Verdict of_points(PairPredicate predicate, Point a, Point b) {
  if (!is_finite(a) || !is_finite(b)) return Verdict::kUncertain;
  switch (predicate) {
    case PairPredicate::kTouches:
    case PairPredicate::kCrosses:
    case PairPredicate::kOverlaps: return Verdict::kNo;
    case PairPredicate::kContains:
    case PairPredicate::kCovers:
    case PairPredicate::kIntersects:
    case PairPredicate::kEquals: return verdict(is_same(a, b));
  }
  return Verdict::kUncertain;
}

/// The verdict from boxes of floats. kUncertain where the boxes leave it open.
STROM_BASE_INLINE Verdict of_boxes(PairPredicate predicate, const Box& a, const Box& b) {
  switch (predicate) {
    case PairPredicate::kContains:
    case PairPredicate::kCovers: return a.contains(b) ? Verdict::kUncertain : Verdict::kNo;
    // PostGIS compares only the upper corners before it calls GEOS, which raises errors for some invalid polygons.
    case PairPredicate::kEquals: return a.max_x == b.max_x && a.max_y == b.max_y ? Verdict::kUncertain : Verdict::kNo;
    default: return a.overlaps(b) ? Verdict::kUncertain : Verdict::kNo;
  }
}

/// True when geometries of this type are compared by their boxes. For collections GEOS raises errors.
STROM_BASE_INLINE bool is_compared_by_box(GeometryType type) {
  return is_simple_type(type) && type != GeometryType::kCollection;
}

/// The verdict about a geometry with box `a` (of floats) and a geometry of the same SRID.
STROM_BASE_INLINE Verdict decide_by_boxes(PairPredicate predicate, const Box& a, const SerializedGeometry& b) {
  Box box;
  if (!is_compared_by_box(b.type()) || float_box(b, &box) != BoxAnswer::kBox) return Verdict::kUncertain;
  return of_boxes(predicate, a, box);
}

/// The verdict about a geometry and, second, a point of its SRID.
STROM_BASE_INLINE Verdict decide_with_point(PairPredicate predicate, const SerializedGeometry& a, Point p) {
  Point other{0, 0};
  if (read_point(a, &other)) return of_points(predicate, other, p);
  const bool by_location = predicate != PairPredicate::kEquals;
  if (by_location && is_polygonal(a.type())) return of_location(predicate, locate_in_place(a, p));
  Box box;
  if (!is_finite(p) || !is_compared_by_box(a.type()) || float_box(a, &box) != BoxAnswer::kBox)
    return Verdict::kUncertain;
  const Verdict by_box = of_boxes(predicate, box, float_box_of(p));
  const bool lines = a.type() == GeometryType::kLine || a.type() == GeometryType::kMultiLine;
  if (by_box != Verdict::kUncertain || !by_location || !lines) return by_box;
  return of_location(predicate, locate_in_lines(a, p));
}

STROM_BASE_INLINE bool has_same_bytes(const SerializedGeometry& a, const SerializedGeometry& b) {
  if (a.size() != b.size()) return false;
  for (int64_t i = 0; i < a.size(); ++i)
    if (a.bytes()[i] != b.bytes()[i]) return false;
  return true;
}

/// The verdict about two geometries, the same as PostGIS's. kUncertain: PostGIS has to decide.
STROM_BASE_INLINE Verdict decide(PairPredicate predicate, const SerializedGeometry& a, const SerializedGeometry& b) {
  if (a.srid() != b.srid()) return Verdict::kUncertain;
  Point p{0, 0};
  if (read_point(b, &p)) return decide_with_point(predicate, a, p);
  const bool symmetric = predicate != PairPredicate::kContains && predicate != PairPredicate::kCovers;
  if (symmetric && read_point(a, &p)) return decide_with_point(predicate, b, p);
  Box box;
  if (!is_compared_by_box(a.type()) || float_box(a, &box) != BoxAnswer::kBox) return Verdict::kUncertain;
  const Verdict by_box = decide_by_boxes(predicate, box, b);
  if (by_box == Verdict::kNo || !is_compared_by_box(b.type())) return by_box;
  if (predicate == PairPredicate::kEquals && has_same_bytes(a, b)) return Verdict::kYes;
  EdgeBlocks first, second;
  if (!read_edges(a, &first) || !read_edges(b, &second)) return Verdict::kUncertain;
  return decide_shapes(predicate, first, second);
}

}  // namespace strom::geo
