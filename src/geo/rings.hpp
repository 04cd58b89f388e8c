// The rings of a (multi)polygon, collected from a serialised form. Prepared polygons and indexes are made from them.
// Host.
#pragma once

#include <cstddef>
#include <vector>

#include "geo/prepared_polygon.hpp"
#include "geo/wkb.hpp"

namespace strom::geo {

struct Rings {
  std::vector<Point> points;
  std::vector<PreparedRing> rings;  // without empty rings; each part's shell comes first
  Box box = Box::empty();
  int32_t srid = 0;
  /// True: the geometry has nothing but polygons, all rings are closed and have at least four points, and all numbers
  /// are finite. False: PostGIS decides about every point.
  bool decidable = true;

  /// An empty polygon has no rings.
  void add(const Path& path);
  /// Removes all rings and keeps the memory.
  void clear();
};

enum class GeometryForm : uint8_t {
  kSerialized,  // PostGIS's, behind the varlena header
  kWkb
};

/// Reads the rings from a geometry's bytes. `rings` is cleared first.
void read_rings(const char* bytes, int64_t size, GeometryForm form, Rings* rings);
/// `bytes`: a serialised geometry without its varlena header.
Rings read_rings(const char* bytes, int64_t size);
/// `bytes`: well-known binary.
Rings read_wkb_rings(const char* bytes, int64_t size);

/// The most points and rings that Rings can get. The points themselves are not read.
struct RingCounts {
  size_t points = 0, rings = 0;
};
RingCounts count_rings(const char* bytes, int64_t size, GeometryForm form);

}  // namespace strom::geo
