// Functions of PostGIS over its geometries. A value of the register is the bytes behind the varlena header. Where the
// planner knows points, they are two numbers. Rows for which src/geo is uncertain are fallback rows. Single source.
#pragma once

#include <math.h>

#include "engine/expr/element.hpp"
#include "geo/measure.hpp"
#include "geo/pair_predicate.hpp"
#include "geo/prepared_polygon.hpp"

namespace strom::engine::expr {

STROM_INLINE bool open_geometry(StrView bytes, geo::SerializedGeometry* geometry) {
  return geo::SerializedGeometry::open(bytes.ptr, bytes.len, geometry);
}

/// Writes the verdict to `out`. True when the row is a fallback row.
STROM_INLINE bool answer_to(geo::Verdict verdict, uint8_t& out) {
  out = verdict == geo::Verdict::kYes;
  return verdict == geo::Verdict::kUncertain;
}

/// A predicate of a polygon that the planner has prepared, and a point of the polygon's SRID.
template <geo::PairPredicate predicate>
struct PreparedAndNumbers {
  static constexpr geo::PairPredicate kPredicate = predicate;
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView prepared, double x, double y) {
    out = 0;
    if (!geo::PreparedPolygon::is_image(prepared.ptr, prepared.len)) return true;
    return answer_to(geo::of_location(predicate, geo::PreparedPolygon(prepared.ptr).locate({x, y})), out);
  }
};

/// The same for any second geometry.
template <geo::PairPredicate predicate>
struct PreparedAndGeometry {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView prepared, StrView geometry) {
    out = 0;
    geo::SerializedGeometry opened;
    geo::Point point{0, 0};
    if (!geo::PreparedPolygon::is_image(prepared.ptr, prepared.len) || !open_geometry(geometry, &opened)) return true;
    const geo::PreparedPolygon polygon(prepared.ptr);
    if (polygon.header().srid != opened.srid()) return true;
    if (geo::read_point(opened, &point)) return answer_to(geo::of_location(predicate, polygon.locate(point)), out);
    if (!polygon.header().decidable || polygon.header().box.is_empty()) return true;
    const geo::Box box = geo::float_box_of(polygon.header().box);
    const geo::Verdict by_box = geo::decide_by_boxes(predicate, box, opened);
    geo::EdgeBlocks first, second;
    if (by_box != geo::Verdict::kUncertain || !geo::read_edges(polygon, &first) || !geo::read_edges(opened, &second))
      return answer_to(by_box, out);
    return answer_to(geo::decide_shapes(predicate, first, second), out);
  }
};

/// A predicate of a geometry, and a point without an SRID.
template <geo::PairPredicate predicate>
struct GeometryAndNumbers {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView geometry, double x, double y) {
    out = 0;
    geo::SerializedGeometry opened;
    if (!open_geometry(geometry, &opened) || opened.srid() != 0) return true;
    return answer_to(geo::decide_with_point(predicate, opened, {x, y}), out);
  }
};

template <geo::PairPredicate predicate>
struct PairOfGeometries {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView a, StrView b) {
    out = 0;
    geo::SerializedGeometry first, second;
    if (!open_geometry(a, &first) || !open_geometry(b, &second)) return true;
    return answer_to(geo::decide(predicate, first, second), out);
  }
};

/// PostGIS's operators on boxes: geo::BoxRelation.
struct CompareBoxes {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView a, StrView b, int32_t relation) {
    geo::SerializedGeometry first, second;
    geo::Box one, other;
    out = 0;
    if (!open_geometry(a, &first) || !open_geometry(b, &second)) return true;
    if (geo::float_box(first, &one) != geo::BoxAnswer::kBox) return true;
    if (geo::float_box(second, &other) != geo::BoxAnswer::kBox) return true;
    out = geo::is_so(static_cast<geo::BoxRelation>(relation), one, other);
    return false;
  }
};

/// A coordinate of a point that is not empty and has the expected SRID.
template <bool kIsX>
struct PointCoordinate {
  STROM_INLINE static bool eval(const Context&, double& out, StrView geometry, int32_t srid) {
    geo::SerializedGeometry opened;
    geo::Point point{0, 0};
    if (!open_geometry(geometry, &opened) || opened.srid() != srid || !geo::read_point(opened, &point)) return true;
    out = kIsX ? point.x : point.y;
    return false;
  }
};

/// st_x, st_y, st_z, st_m: null for an empty point, or one without the coordinate. Gives a flag.
enum class Axis : uint8_t { kX, kY, kZ, kM };
template <Axis axis>
struct CoordinateOf {
  STROM_INLINE static uint8_t eval(const Context&, double& out, StrView geometry) {
    geo::SerializedGeometry opened;
    geo::Path path;
    if (!open_geometry(geometry, &opened) || opened.type() != geo::GeometryType::kPoint) return block::kErrorFlag;
    geo::SerializedPaths paths(opened);
    if (paths.next(&path) != geo::Step::kPath || path.count > 1) return block::kErrorFlag;
    if (path.count == 0) return block::kNullFlag;
    if ((axis == Axis::kZ && !opened.has_z()) || (axis == Axis::kM && !opened.has_m())) return block::kNullFlag;
    out = axis == Axis::kX   ? path.points.point(0).x
          : axis == Axis::kY ? path.points.point(0).y
          : axis == Axis::kZ ? path.points.extra(0, 0)
                             : path.points.extra(0, opened.has_z() ? 1 : 0);
    return 0;
  }
};

struct SridOf {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView geometry) {
    geo::SerializedGeometry opened;
    out = 0;
    if (!open_geometry(geometry, &opened)) return true;
    out = opened.srid();
    return false;
  }
};

/// The number of points of a geometry of a simple type.
struct PointsOf {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView geometry) {
    geo::SerializedGeometry opened;
    out = 0;
    if (!open_geometry(geometry, &opened) || !geo::is_simple_type(opened.type())) return true;
    geo::SerializedPaths paths(opened);
    geo::Path path;
    geo::Step step;
    while ((step = paths.next(&path)) == geo::Step::kPath) {
      if (!geo::is_simple_type(path.type)) return true;
      out += static_cast<int32_t>(path.count);
    }
    return step == geo::Step::kDamaged;
  }
};

struct IsEmpty {
  STROM_INLINE static bool eval(const Context& context, uint8_t& out, StrView geometry) {
    int32_t points;
    const bool raised = PointsOf::eval(context, points, geometry);
    out = points == 0;
    return raised;
  }
};

/// st_length, st_perimeter, st_area.
template <geo::Measure measure>
struct MeasureOf {
  STROM_INLINE static bool eval(const Context&, double& out, StrView geometry) {
    geo::SerializedGeometry opened;
    out = 0;
    return !open_geometry(geometry, &opened) || !geo::measure(opened, measure, &out);
  }
};

/// The length of the difference of two points. PostGIS has other rules for distances beyond the largest float.
struct PointDistance {
  STROM_INLINE static bool eval(const Context&, double& out, double dx, double dy) {
    constexpr double kLargestFloat = 3.4028234663852886e38;
    out = sqrt(dx * dx + dy * dy);
    return !(out < kLargestFloat);
  }
};

/// The distance of two points with the same SRID.
struct PointsDistance {
  STROM_INLINE static bool eval(const Context& context, double& out, StrView a, StrView b) {
    geo::SerializedGeometry first, second;
    geo::Point from{0, 0}, to{0, 0};
    out = 0;
    if (!open_geometry(a, &first) || !open_geometry(b, &second) || first.srid() != second.srid()) return true;
    if (!geo::read_point(first, &from) || !geo::read_point(second, &to)) return true;
    return PointDistance::eval(context, out, to.x - from.x, to.y - from.y);
  }
};

/// True when a distance is at most `most`, which must not be negative.
struct WithinDistance {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, double distance, double most) {
    out = most >= distance;
    return !(most >= 0);
  }
};

}  // namespace strom::engine::expr
