// The rings of a (multi)polygon, collected from a serialised form. What prepared polygons and indexes are made from.
// Host.
#pragma once

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
};

/// Of a serialised geometry behind its varlena header.
Rings read_rings(const char* bytes, int64_t size);
/// Of well-known binary.
Rings read_wkb_rings(const char* bytes, int64_t size);

}  // namespace strom::geo
