// The rings of a (multi)polygon, collected from a serialised form. What prepared polygons and indexes are made from.
// Host.
#pragma once

#include <cstddef>
#include <vector>

#include "geo/prepared_polygon.hpp"
#include "geo/wkb.hpp"

namespace strom::geo {

struct Rings {
  std::vector<Point> points;
  std::vector<PreparedRing> rings;  // without empty ones; each part's shell comes first
  Box box = Box::empty();
  int32_t srid = 0;
  /// All rings are closed and have four points, all numbers are finite, nothing but polygons. Else PostGIS decides
  /// about every point.
  bool decidable = true;

  /// An empty polygon has no rings.
  void add(const Path& path);
  /// As a new one is, with the memory that it has.
  void clear();
};

enum class GeometryForm : uint8_t {
  kSerialized,  // PostGIS's, behind the varlena header
  kWkb
};

/// Of a geometry's bytes. `rings` is cleared before.
void read_rings(const char* bytes, int64_t size, GeometryForm form, Rings* rings);
/// Of a serialised geometry behind its varlena header.
Rings read_rings(const char* bytes, int64_t size);
/// Of well-known binary.
Rings read_wkb_rings(const char* bytes, int64_t size);

/// The most points and rings that Rings can get, told without a look at points.
struct RingCounts {
  size_t points = 0, rings = 0;
};
RingCounts count_rings(const char* bytes, int64_t size, GeometryForm form);

}  // namespace strom::geo
