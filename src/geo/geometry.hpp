// A geometry as a sequence of paths: readers of serialised forms (serialized.hpp, wkb.hpp) produce it, predicates take
// it. Single source.
#pragma once

#include "base/stored_numeric.hpp"
#include "geo/point.hpp"

namespace strom::geo {

/// The numbers are those of WKB and of PostGIS's own form.
enum class GeometryType : uint32_t {
  kPoint = 1,
  kLine = 2,
  kPolygon = 3,
  kMultiPoint = 4,
  kMultiLine = 5,
  kMultiPolygon = 6,
  kCollection = 7,
  kCircularLine = 8,
  kCompoundCurve = 9,
  kCurvePolygon = 10,
  kMultiCurve = 11,
  kMultiSurface = 12,
  kPolyhedralSurface = 13,
  kTriangle = 14,
  kTin = 15
};

/// True for the types of the first standard: of straight lines, without surfaces in space.
STROM_BASE_INLINE bool is_simple_type(GeometryType type) {
  return type >= GeometryType::kPoint && type <= GeometryType::kCollection;
}
STROM_BASE_INLINE bool is_polygonal(GeometryType type) {
  return type == GeometryType::kPolygon || type == GeometryType::kMultiPolygon;
}

/// Coordinates in the bytes of a geometry, at any address.
struct Coordinates {
  const char* bytes;
  int32_t dimensions;  // numbers of a point, 2 to 4
  bool swapped;        // the byte order is not this machine's

  STROM_BASE_INLINE double number(int64_t index) const {
    auto bits = base::load_unaligned<uint64_t>(bytes + 8 * index);
    if (swapped) bits = swap_bytes(bits);
    union {
      uint64_t bits;
      double value;
    } both = {bits};
    return both.value;
  }
  STROM_BASE_INLINE Point point(int64_t index) const {
    return {number(index * dimensions), number(index * dimensions + 1)};
  }
  /// The third number of a point (0) or the fourth (1).
  STROM_BASE_INLINE double extra(int64_t index, int which) const { return number(index * dimensions + 2 + which); }

 private:
  STROM_BASE_INLINE static uint64_t swap_bytes(uint64_t bits) {
    uint64_t swapped = 0;
    for (int i = 0; i < 8; ++i) swapped |= (bits >> (8 * i) & 0xFF) << (56 - 8 * i);
    return swapped;
  }
};

/// The points of a point, of a line, or of one ring of a polygon.
struct Path {
  GeometryType type;  // kPoint, kLine, kPolygon, or one that is not simple
  int32_t part;       // number of the point, line or polygon
  int32_t ring;       // 0: a polygon's shell
  int64_t count;      // points
  Coordinates points;
};

}  // namespace strom::geo
