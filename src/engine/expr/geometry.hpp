// Functions of PostGIS over its geometries: a value of the register is what is behind the varlena header. Points come
// as two numbers where the planner knows them. Rows for which geo::Answer is uncertain are PostGIS's. Single source.
#pragma once

#include <math.h>

#include "engine/expr/element.hpp"
#include "geo/locate_in_place.hpp"
#include "geo/prepared_polygon.hpp"

namespace strom::engine::expr {

STROM_INLINE bool open_geometry(StrView bytes, geo::SerializedGeometry* geometry) {
  return geo::SerializedGeometry::open(bytes.ptr, bytes.len, geometry);
}

/// Which answers make a predicate true: that the point is inside, or that it is not outside.
enum class PointPredicate : uint8_t { kContains, kCovers };

/// True for an answer that is PostGIS's to give.
template <PointPredicate predicate>
STROM_INLINE bool answer_to(geo::Answer answer, uint8_t& out) {
  out = answer == geo::Answer::kInside || (predicate == PointPredicate::kCovers && answer == geo::Answer::kBoundary);
  return answer == geo::Answer::kUncertain;
}

/// Of a polygon that the planner has prepared, and a point of its SRID.
template <PointPredicate predicate>
struct PreparedAndNumbers {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView prepared, double x, double y) {
    out = 0;
    if (!geo::PreparedPolygon::is_image(prepared.ptr, prepared.len)) return true;
    return answer_to<predicate>(geo::PreparedPolygon(prepared.ptr).locate({x, y}), out);
  }
};

template <PointPredicate predicate>
struct PreparedAndPoint {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView prepared, StrView geometry) {
    out = 0;
    geo::SerializedGeometry opened;
    geo::Point point{0, 0};
    if (!geo::PreparedPolygon::is_image(prepared.ptr, prepared.len) || !open_geometry(geometry, &opened) ||
        !geo::read_point(opened, &point))
      return true;
    const geo::PreparedPolygon polygon(prepared.ptr);
    if (polygon.header().srid != opened.srid()) return true;
    return answer_to<predicate>(polygon.locate(point), out);
  }
};

/// Of a polygon, and a point without an SRID.
template <PointPredicate predicate>
struct PolygonAndNumbers {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView polygon, double x, double y) {
    out = 0;
    geo::SerializedGeometry opened;
    if (!open_geometry(polygon, &opened) || opened.srid() != 0) return true;
    return answer_to<predicate>(geo::locate_in_place(opened, {x, y}), out);
  }
};

/// Of two geometries, if the first is a polygon and the second a point.
template <PointPredicate predicate>
struct PolygonAndPoint {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView polygon, StrView geometry) {
    out = 0;
    geo::SerializedGeometry area, opened;
    geo::Point point{0, 0};
    if (!open_geometry(polygon, &area) || !open_geometry(geometry, &opened) || area.srid() != opened.srid() ||
        !geo::read_point(opened, &point))
      return true;
    return answer_to<predicate>(geo::locate_in_place(area, point), out);
  }
};

/// Of two geometries, if one is a polygon and the other a point.
struct PolygonMeetsPoint {
  STROM_INLINE static bool eval(const Context& context, uint8_t& out, StrView a, StrView b) {
    geo::SerializedGeometry first;
    const bool swapped = open_geometry(a, &first) && first.type() == geo::GeometryType::kPoint;
    return PolygonAndPoint<PointPredicate::kCovers>::eval(context, out, swapped ? b : a, swapped ? a : b);
  }
};

/// A coordinate of a point that has the SRID and is not empty.
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

/// The points of a geometry of a simple type.
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

/// The length of a difference of points. PostGIS has other rules for distances that no float holds.
struct PointDistance {
  STROM_INLINE static bool eval(const Context&, double& out, double dx, double dy) {
    constexpr double kLargestFloat = 3.4028234663852886e38;
    out = sqrt(dx * dx + dy * dy);
    return !(out < kLargestFloat);
  }
};

/// A distance is at most so much, which must not be negative.
struct WithinDistance {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, double distance, double most) {
    out = most >= distance;
    return !(most >= 0);
  }
};

/// A point as PostGIS stores it.
struct MakePoint {
  STROM_INLINE static bool eval(const Context& context, StrView& out, double x, double y, int32_t srid) {
    constexpr int64_t kSize = 28;
    char* made = context.make_text(kSize);
    if (made == nullptr) return true;
    union {
      double values[2];
      uint64_t words[2];
    } bits = {{x, y}};
    constexpr uint32_t kVersion2 = 0x40, kPoint = 1, kOne = 1;
    const uint32_t header = (static_cast<uint32_t>(srid) >> 16 & 0x1F) | (static_cast<uint32_t>(srid) & 0xFF00) |
                            (static_cast<uint32_t>(srid) & 0xFF) << 16 | kVersion2 << 24;
    const uint32_t words[3] = {header, kPoint, kOne};
    for (int i = 0; i < 12; ++i) made[i] = static_cast<char>(words[i / 4] >> (8 * (i % 4)));
    for (int i = 0; i < 16; ++i) made[12 + i] = static_cast<char>(bits.words[i / 8] >> (8 * (i % 8)));
    out = {made, kSize};
    return false;
  }
};

}  // namespace strom::engine::expr
