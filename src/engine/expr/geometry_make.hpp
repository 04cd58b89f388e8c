// Functions of PostGIS that make geometries or their type names, equal to PostGIS's in every byte. Single source.
#pragma once

#include "engine/expr/geometry.hpp"

namespace strom::engine::expr {

/// Writes a geometry of PostGIS's second version into memory of the tile.
class GeometryWriter {
 public:
  /// False: there is no room, so the row is a fallback row.
  STROM_INLINE bool begin(const Context& context, int64_t size, int32_t srid, uint8_t flags, StrView* out) {
    constexpr uint8_t kVersion2 = 0x40;
    char* made = context.make_text(size);
    if (made == nullptr) return false;
    *out = {made, static_cast<decltype(out->len)>(size)};
    at_ = made;
    put_srid(at_, srid);
    at_[3] = static_cast<char>(flags | kVersion2);
    at_ += 4;
    return true;
  }
  /// Begins with the bytes of `geometry` and leaves room for `more` bytes behind them. False as above.
  STROM_INLINE bool extend(const Context& context, StrView geometry, int64_t more, uint8_t flags, StrView* out) {
    char* made = context.make_text(geometry.len + more);
    if (made == nullptr) return false;
    *out = {made, static_cast<decltype(out->len)>(geometry.len + more)};
    for (int64_t i = 0; i < geometry.len; ++i) made[i] = geometry.ptr[i];
    made[3] = static_cast<char>(made[3] | flags);
    at_ = made + geometry.len;
    return true;
  }
  /// SRIDs have 21 bits.
  STROM_INLINE static void put_srid(char* at, int32_t srid) {
    at[0] = static_cast<char>(srid >> 16 & 0x1F);
    at[1] = static_cast<char>(srid >> 8);
    at[2] = static_cast<char>(srid);
  }
  STROM_INLINE void word(uint32_t value) {
    for (int i = 0; i < 4; ++i) *at_++ = static_cast<char>(value >> (8 * i));
  }
  STROM_INLINE void real(double value) {
    union {
      float value;
      uint32_t bits;
    } both = {static_cast<float>(value)};
    word(both.bits);
  }
  STROM_INLINE void number(double value) {
    union {
      double value;
      uint64_t bits;
    } both = {value};
    for (int i = 0; i < 8; ++i) *at_++ = static_cast<char>(both.bits >> (8 * i));
  }
  STROM_INLINE void point(geo::Point point) {
    number(point.x);
    number(point.y);
  }

 private:
  char* at_ = nullptr;
};

/// A point in PostGIS's stored form.
struct MakePoint {
  STROM_INLINE static bool eval(const Context& context, StrView& out, double x, double y, int32_t srid) {
    constexpr int64_t kSize = 28;
    GeometryWriter writer;
    if (!writer.begin(context, kSize, srid, 0, &out)) return true;
    writer.word(static_cast<uint32_t>(geo::GeometryType::kPoint));
    writer.word(1);
    writer.point({x, y});
    return false;
  }
};

/// The same point with one more coordinate: 1 is Z, 2 is M, which comes after Z.
template <uint8_t kFlag>
struct AddCoordinate {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView point, double value) {
    geo::SerializedGeometry opened;
    geo::Point ignored{0, 0};
    if (!open_geometry(point, &opened) || !geo::read_point(opened, &ignored) || opened.has_m()) return true;
    GeometryWriter writer;
    if (!writer.extend(context, point, sizeof value, kFlag, &out)) return true;
    writer.number(value);
    return false;
  }
};

/// A polygon with these corners, in this order.
STROM_INLINE bool make_rectangle(const Context& context, geo::Point a, geo::Point b, int32_t srid, StrView& out) {
  constexpr int64_t kSize = 116;
  constexpr uint8_t kHasBox = 4;
  if (!geo::is_finite(a) || !geo::is_finite(b)) return true;
  geo::Box box = geo::box_of(a);
  box.add(b);
  box = geo::float_box_of(box);
  GeometryWriter writer;
  if (!writer.begin(context, kSize, srid, kHasBox, &out)) return true;
  for (const double value : {box.min_x, box.max_x, box.min_y, box.max_y}) writer.real(value);
  const uint32_t kOneRing = 1, kPoints = 5, kPadding = 0;
  for (const uint32_t word : {static_cast<uint32_t>(geo::GeometryType::kPolygon), kOneRing, kPoints, kPadding})
    writer.word(word);
  writer.point(a);
  writer.point({a.x, b.y});
  writer.point(b);
  writer.point({b.x, a.y});
  writer.point(a);
  return false;
}

/// st_makeenvelope of two opposite corners.
struct MakeEnvelope {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView a, StrView b) {
    geo::SerializedGeometry first, second;
    geo::Point from{0, 0}, to{0, 0};
    if (!open_geometry(a, &first) || !open_geometry(b, &second)) return true;
    if (!geo::read_point(first, &from) || !geo::read_point(second, &to)) return true;
    return make_rectangle(context, from, to, first.srid(), out);
  }
};

/// st_envelope: a point, a line or a polygon, depending on the box.
struct EnvelopeOf {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView geometry) {
    geo::SerializedGeometry opened;
    geo::Box box;
    if (!open_geometry(geometry, &opened) || geo::exact_box(opened, &box) != geo::BoxAnswer::kBox) return true;
    const geo::Point low{box.min_x, box.min_y}, high{box.max_x, box.max_y};
    if (geo::is_same(low, high)) return MakePoint::eval(context, out, low.x, low.y, opened.srid());
    if (low.x != high.x && low.y != high.y) return make_rectangle(context, low, high, opened.srid(), out);
    constexpr int64_t kSize = 44;
    GeometryWriter writer;
    if (!writer.begin(context, kSize, opened.srid(), 0, &out)) return true;
    writer.word(static_cast<uint32_t>(geo::GeometryType::kLine));
    writer.word(2);
    writer.point(low);
    writer.point(high);
    return false;
  }
};

/// st_expand of a geometry of the plane.
struct ExpandBox {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView geometry, double by) {
    geo::SerializedGeometry opened;
    geo::Box box;
    if (!open_geometry(geometry, &opened) || opened.dimensions() != 2) return true;
    if (geo::exact_box(opened, &box) != geo::BoxAnswer::kBox) return true;
    box = box.expanded(by);
    return make_rectangle(context, {box.min_x, box.min_y}, {box.max_x, box.max_y}, opened.srid(), out);
  }
};

/// st_centroid of a point or a rectangle, by GEOS's operations in its order. Other geometries make fallback rows.
struct CentroidOf {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView geometry) {
    geo::SerializedGeometry opened;
    geo::Point point{0, 0};
    if (!open_geometry(geometry, &opened)) return true;
    if (geo::read_point(opened, &point)) {
      if (!geo::is_finite(point)) return true;
      return MakePoint::eval(context, out, 0 + point.x, 0 + point.y, opened.srid());
    }
    return !of_rectangle(opened, &point) || MakePoint::eval(context, out, point.x, point.y, opened.srid());
  }

 private:
  STROM_INLINE static bool of_rectangle(const geo::SerializedGeometry& geometry, geo::Point* out) {
    constexpr int64_t kPoints = 5;
    geo::SerializedPaths paths(geometry);
    geo::Path path, other;
    if (geometry.type() != geo::GeometryType::kPolygon || paths.next(&path) != geo::Step::kPath) return false;
    if (path.count != kPoints || paths.next(&other) != geo::Step::kEnd) return false;
    geo::Point p[kPoints];
    for (int i = 0; i < kPoints; ++i) {
      p[i] = path.points.point(i);
      if (!geo::is_small(p[i])) return false;
    }
    const bool upright = p[0].x == p[1].x && p[1].y == p[2].y && p[2].x == p[3].x && p[3].y == p[0].y;
    const bool level = p[0].y == p[1].y && p[1].x == p[2].x && p[2].y == p[3].y && p[3].x == p[0].x;
    if ((!upright && !level) || p[0].x == p[2].x || p[0].y == p[2].y || !geo::is_same(p[0], p[4])) return false;
    const bool clockwise = geo::agreed_side(p[0], p[1], p[2]) == geo::Side::kRight;
    const double sign = clockwise ? 1.0 : -1.0;
    double x = 0, y = 0, area = 0;
    for (int i = 0; i + 1 < kPoints; ++i) {
      const double twice = (p[i].x - p[0].x) * (p[i + 1].y - p[0].y) - (p[i + 1].x - p[0].x) * (p[i].y - p[0].y);
      x += sign * twice * (p[0].x + p[i].x + p[i + 1].x);
      y += sign * twice * (p[0].y + p[i].y + p[i + 1].y);
      area += sign * twice;
    }
    *out = {x / 3 / area, y / 3 / area};
    return area != 0 && geo::is_finite(*out);
  }
};

/// st_setsrid: only the SRID's bytes change.
struct SetSrid {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView geometry, int32_t srid) {
    geo::SerializedGeometry opened;
    if (!open_geometry(geometry, &opened)) return true;
    char* made = context.make_text(geometry.len);
    if (made == nullptr) return true;
    for (int64_t i = 3; i < geometry.len; ++i) made[i] = geometry.ptr[i];
    GeometryWriter::put_srid(made, srid);
    out = {made, geometry.len};
    return false;
  }
};

/// st_geometrytype of the simple types.
struct NameOfType {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView geometry) {
    geo::SerializedGeometry opened;
    if (!open_geometry(geometry, &opened) || !geo::is_simple_type(opened.type())) return true;
    const StrView name = name_of(opened.type());
    char* made = context.make_text(name.len);
    if (made == nullptr) return true;
    for (int64_t i = 0; i < name.len; ++i) made[i] = name.ptr[i];
    out = {made, name.len};
    return false;
  }

 private:
  STROM_INLINE static StrView name_of(geo::GeometryType type) {
    switch (type) {
      case geo::GeometryType::kPoint: return {"ST_Point", 8};
      case geo::GeometryType::kLine: return {"ST_LineString", 13};
      case geo::GeometryType::kPolygon: return {"ST_Polygon", 10};
      case geo::GeometryType::kMultiPoint: return {"ST_MultiPoint", 13};
      case geo::GeometryType::kMultiLine: return {"ST_MultiLineString", 18};
      case geo::GeometryType::kMultiPolygon: return {"ST_MultiPolygon", 15};
      default: return {"ST_GeometryCollection", 21};
    }
  }
};

}  // namespace strom::engine::expr
