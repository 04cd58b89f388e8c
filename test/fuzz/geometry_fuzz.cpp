// Fuzzer of the readers of geometries, and of polygons that are prepared from what they read. The first byte says which
// form the bytes have.
#include <cstdint>
#include <cstring>
#include <memory>

#include "geo/prepare_polygon.hpp"

using namespace strom::geo;

namespace {

template <class Paths>
double read_all(Paths& paths) {
  double sum = 0;
  Path path;
  while (paths.next(&path) == Step::kPath)
    for (int64_t i = 0; i < path.count * path.points.dimensions; ++i) sum += path.points.number(i);
  return sum;
}

/// The raster must agree with the edges.
void locate_points(const Rings& rings) {
  const std::vector<char> with = prepare_polygon(rings, Raster::kWith), none = prepare_polygon(rings, Raster::kNone);
  for (const Point a : rings.points)
    for (const Point p : {a, Point{a.x, rings.box.min_y}, Point{rings.box.max_x, a.y}})
      if (PreparedPolygon(with.data()).locate(p) != PreparedPolygon(none.data()).locate(p)) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  if (size < 1) return 0;
  // A copy of exactly its size, so that reading past its end is seen.
  const std::unique_ptr<char[]> geometry(new char[size - 1]);
  std::memcpy(geometry.get(), bytes + 1, size - 1);
  const auto length = static_cast<int64_t>(size - 1);
  double sum = 0;
  if (bytes[0] % 2 == 0) {
    SerializedGeometry opened;
    if (!SerializedGeometry::open(geometry.get(), length, &opened)) return 0;
    Box box;
    if (opened.stored_box(&box)) sum += box.min_x + box.max_y;
    SerializedPaths paths(opened);
    sum += read_all(paths);
    locate_points(read_rings(geometry.get(), length));
  } else {
    WkbPaths paths(geometry.get(), length);
    sum += read_all(paths);
    locate_points(read_wkb_rings(geometry.get(), length));
  }
  volatile double seen = sum;  // so that the bytes are read
  (void)seen;
  return 0;
}
