// The matrix of intersections of two geometries (st_relate), as far as it can be decided exactly: of a point and a
// point, line or polygon, of two polygons, and of geometries that are apart. Single source.
#pragma once

#include "geo/pair_predicate.hpp"

namespace strom::geo {

/// Dimensions of a geometry's interior and boundary: '0' … '2', 'F' for no boundary.
struct Dimensions {
  char interior, boundary;
};

/// True when two edges meet in the polygon's leftmost point (the lowest of these) and no other edge reaches it. Such an
/// edge occurs once in the polygon, so the polygon has an interior and a boundary, valid or not.
STROM_BASE_INLINE bool has_plain_corner(const SerializedGeometry& polygon) {
  SerializedPaths paths(polygon);
  Path path;
  Step step;
  Point corner{0, 0}, before{0, 0}, behind{0, 0};
  int64_t visits = 0;
  while ((step = paths.next(&path)) == Step::kPath) {
    if (path.type != GeometryType::kPolygon) return false;
    for (int64_t i = 0; i + 1 < path.count; ++i) {
      const Point p = path.points.point(i);
      if (!is_small(p)) return false;
      if (visits > 0 && is_same(p, corner)) ++visits;
      if (visits > 0 && (p.x > corner.x || (p.x == corner.x && p.y >= corner.y))) continue;
      visits = 1;
      corner = p;
      before = path.points.point(i > 0 ? i - 1 : path.count - 2);
      behind = path.points.point(i + 1);
    }
  }
  if (step != Step::kEnd || visits != 1) return false;
  const Side side = agreed_side(corner, before, behind);
  return side == Side::kLeft || side == Side::kRight;
}

/// False: the dimensions are not certain, or the geometry is neither points, one line, nor polygons.
STROM_BASE_INLINE bool dimensions_of(const SerializedGeometry& geometry, Dimensions* out) {
  if (is_polygonal(geometry.type())) {
    *out = {'2', '1'};
    return has_plain_corner(geometry);
  }
  if (geometry.type() == GeometryType::kPoint || geometry.type() == GeometryType::kMultiPoint) {
    *out = {'0', 'F'};
    return true;
  }
  SerializedPaths paths(geometry);
  Path path;
  if (geometry.type() != GeometryType::kLine || paths.next(&path) != Step::kPath || path.count < 2) return false;
  const Point first = path.points.point(0);
  bool has_length = false;
  for (int64_t i = 0; i < path.count; ++i) {
    const Point p = path.points.point(i);
    if (!is_small(p)) return false;
    has_length = has_length || !is_same(first, p);
  }
  *out = {'1', is_same(first, path.points.point(path.count - 1)) ? 'F' : '0'};
  return has_length;
}

/// The matrix of a geometry and, second, a point of its SRID. False: PostGIS has to find it.
STROM_BASE_INLINE bool relate_with_point(const SerializedGeometry& a, Point p, IntersectionMatrix* out) {
  *out = IntersectionMatrix::nothing();
  Point other{0, 0};
  if (!is_finite(p)) return false;
  if (read_point(a, &other)) {
    if (!is_finite(other)) return false;
    const bool same = is_same(other, p);
    out->at(0, 0) = same ? '0' : 'F';
    out->at(0, 2) = out->at(2, 0) = same ? 'F' : '0';
    return true;
  }
  Dimensions own;
  if (a.type() == GeometryType::kMultiPoint || !dimensions_of(a, &own)) return false;
  const Answer answer = is_polygonal(a.type()) ? locate_in_place(a, p) : locate_in_lines(a, p);
  if (answer == Answer::kUncertain) return false;
  out->at(0, 2) = own.interior;
  out->at(1, 2) = own.boundary;
  out->at(answer == Answer::kInside ? 0 : answer == Answer::kBoundary ? 1 : 2, 0) = '0';
  return true;
}

/// False: PostGIS has to find the matrix.
STROM_BASE_INLINE bool relate(const SerializedGeometry& a, const SerializedGeometry& b, IntersectionMatrix* out) {
  *out = IntersectionMatrix::nothing();
  if (a.srid() != b.srid()) return false;
  Point p{0, 0};
  if (read_point(b, &p)) return relate_with_point(a, p, out);
  if (read_point(a, &p)) {
    if (!relate_with_point(b, p, out)) return false;
    *out = out->transposed();
    return true;
  }
  Dimensions of_a, of_b;
  Box box;
  if (!is_compared_by_box(a.type()) || float_box(a, &box) != BoxAnswer::kBox) return false;
  if (is_polygonal(a.type()) && is_polygonal(b.type())) {
    EdgeBlocks first, second;
    if (read_edges(a, &first) && read_edges(b, &second) && relate_shapes(first, second, out)) return true;
    *out = IntersectionMatrix::nothing();
  }
  if (decide_by_boxes(PairPredicate::kIntersects, box, b) != Verdict::kNo) return false;
  if (!dimensions_of(a, &of_a) || !dimensions_of(b, &of_b)) return false;
  out->at(0, 2) = of_a.interior;
  out->at(1, 2) = of_a.boundary;
  out->at(2, 0) = of_b.interior;
  out->at(2, 1) = of_b.boundary;
  return true;
}

}  // namespace strom::geo
