// Lengths and areas, equal to PostGIS's in every bit: the same operations in the same order. Single source.
#pragma once

#include <math.h>

#include "geo/serialized.hpp"

namespace strom::geo {

enum class Measure : uint8_t {
  kLength,     // of lines; others have none
  kPerimeter,  // of polygons
  kArea
};

STROM_BASE_INLINE double length_of(const Path& path) {
  double length = 0;
  for (int64_t i = 1; i < path.count; ++i) {
    const Point a = path.points.point(i - 1), b = path.points.point(i);
    length += sqrt((a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y));
  }
  return length;
}

/// The area of a ring, without a sign. Numbers are relative to the first point, so that they stay small.
STROM_BASE_INLINE double area_of_ring(const Path& path) {
  double sum = 0;
  for (int64_t i = 2; i < path.count; ++i)
    sum +=
        (path.points.point(i - 1).x - path.points.point(0).x) * (path.points.point(i).y - path.points.point(i - 2).y);
  return fabs(sum / 2);
}

/// What a path adds to the measure of its line or polygon.
STROM_BASE_INLINE double measure_of(const Path& path, Measure measure) {
  const bool polygon = path.type == GeometryType::kPolygon;
  switch (measure) {
    case Measure::kLength: return path.type == GeometryType::kLine ? length_of(path) : 0;
    case Measure::kPerimeter: return polygon ? length_of(path) : 0;
    case Measure::kArea: return !polygon ? 0 : path.ring == 0 ? area_of_ring(path) : -area_of_ring(path);
  }
  return 0;
}

/// False: PostGIS has to measure the geometry: it is damaged, or of another type, or a collection. PostGIS sums the
/// members of a collection's members separately.
STROM_BASE_INLINE bool measure(const SerializedGeometry& geometry, Measure wanted, double* out) {
  *out = 0;
  if (!is_simple_type(geometry.type()) || geometry.type() == GeometryType::kCollection) return false;
  SerializedPaths paths(geometry);
  Path path;
  Step step;
  double part = 0;
  int32_t number = 0;
  while ((step = paths.next(&path)) == Step::kPath) {
    if (!is_simple_type(path.type)) return false;
    if (path.part != number) {
      *out += part;
      part = 0;
      number = path.part;
    }
    part += measure_of(path, wanted);
  }
  *out += part;
  return step == Step::kEnd;
}

}  // namespace strom::geo
