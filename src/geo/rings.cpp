#include "geo/rings.hpp"

namespace strom::geo {

namespace {

constexpr int64_t kMostPoints = int64_t{1} << 30;

template <class Paths, class F>
Step for_each_path(Paths& paths, F&& f) {
  for (;;) {
    Path path;
    const Step step = paths.next(&path);
    if (step != Step::kPath) return step;
    f(path);
  }
}

template <class Paths>
Step add_paths(Paths& paths, Rings* rings) {
  return for_each_path(paths, [&](const Path& path) { rings->add(path); });
}

void read_serialized(const char* bytes, int64_t size, Rings* rings) {
  SerializedGeometry geometry;
  if (!SerializedGeometry::open(bytes, size, &geometry)) {
    rings->decidable = false;
    return;
  }
  SerializedPaths paths(geometry);
  rings->srid = geometry.srid();
  if (!is_polygonal(geometry.type()) || add_paths(paths, rings) != Step::kEnd) rings->decidable = false;
}

void read_wkb(const char* bytes, int64_t size, Rings* rings) {
  WkbPaths paths(bytes, size);
  if (add_paths(paths, rings) != Step::kEnd || !is_polygonal(paths.type())) rings->decidable = false;
  rings->srid = paths.srid();
}

}  // namespace

void Rings::add(const Path& path) {
  if (path.type != GeometryType::kPolygon) decidable = false;
  if (path.count == 0) {
    // PostGIS makes no part that has holes and an empty shell.
    if (path.ring > 0) decidable = false;
    return;
  }
  const bool shell = path.ring == 0;
  if (!shell && (rings.empty() || rings.back().part != path.part)) decidable = false;
  if (path.count < 4 || static_cast<int64_t>(points.size()) + path.count > kMostPoints) {
    decidable = false;
    return;
  }
  const auto first = static_cast<uint32_t>(points.size());
  for (int64_t i = 0; i < path.count; ++i) {
    const Point point = path.points.point(i);
    if (!is_small(point)) {
      decidable = false;
      return;
    }
    box.add(point);
    points.push_back(point);
  }
  if (points[first].x != points.back().x || points[first].y != points.back().y) decidable = false;
  rings.push_back({first, static_cast<uint32_t>(path.count), path.part, shell ? 1u : 0u});
}

void Rings::clear() {
  points.clear();
  rings.clear();
  box = Box::empty();
  srid = 0;
  decidable = true;
}

void read_rings(const char* bytes, int64_t size, GeometryForm form, Rings* rings) {
  rings->clear();
  form == GeometryForm::kSerialized ? read_serialized(bytes, size, rings) : read_wkb(bytes, size, rings);
}

Rings read_rings(const char* bytes, int64_t size) {
  Rings rings;
  read_serialized(bytes, size, &rings);
  return rings;
}

Rings read_wkb_rings(const char* bytes, int64_t size) {
  Rings rings;
  read_wkb(bytes, size, &rings);
  return rings;
}

RingCounts count_rings(const char* bytes, int64_t size, GeometryForm form) {
  RingCounts counts;
  const auto count = [&](const Path& path) {
    counts.points += static_cast<size_t>(path.count);
    ++counts.rings;
  };
  if (form == GeometryForm::kSerialized) {
    SerializedGeometry geometry;
    if (!SerializedGeometry::open(bytes, size, &geometry)) return counts;
    SerializedPaths paths(geometry);
    for_each_path(paths, count);
  } else {
    WkbPaths paths(bytes, size);
    for_each_path(paths, count);
  }
  return counts;
}

}  // namespace strom::geo
