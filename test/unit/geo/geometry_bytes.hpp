// Makes serialised geometries of PostGIS and well-known binary for tests of src/geo.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "geo/float_box.hpp"

namespace strom::geo::test {

using Ring = std::vector<Point>;
using Polygon = std::vector<Ring>;

template <class T>
void put(std::string* bytes, T value, bool swapped = false) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  for (size_t i = 0; i < sizeof value; ++i) bytes->push_back(raw[swapped ? sizeof value - 1 - i : i]);
}

struct Form {
  int version = 2;
  int32_t srid = 0;
  bool z = false, m = false, box = true, more_flags = false;
};

/// The header of a serialised geometry, behind the varlena's.
inline std::string serialized_header(const Form& form, const Box& box) {
  std::string bytes;
  for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<char>((form.srid & 0x1FFFFF) >> shift));
  bytes.push_back(static_cast<char>((form.z ? 1 : 0) | (form.m ? 2 : 0) | (form.box ? 4 : 0) |
                                    (form.more_flags ? 16 : 0) | (form.version == 2 ? 64 : 0)));
  if (form.more_flags) put(&bytes, uint64_t{2});
  const Box stored = float_box_of(box);
  if (form.box)
    for (int dimension = 0; dimension < 2 + form.z + form.m; ++dimension) {
      put(&bytes, static_cast<float>(dimension == 0 ? stored.min_x : dimension == 1 ? stored.min_y : 0));
      put(&bytes, static_cast<float>(dimension == 0 ? stored.max_x : dimension == 1 ? stored.max_y : 0));
    }
  return bytes;
}

inline void put_point(std::string* bytes, Point point, const Form& form, bool swapped = false) {
  put(bytes, point.x, swapped);
  put(bytes, point.y, swapped);
  if (form.z) put(bytes, 7.0, swapped);
  if (form.m) put(bytes, 8.0, swapped);
}

inline void put_serialized_polygon(std::string* bytes, const Polygon& polygon, const Form& form) {
  put(bytes, uint32_t{3});
  put(bytes, static_cast<uint32_t>(polygon.size()));
  for (const Ring& ring : polygon) put(bytes, static_cast<uint32_t>(ring.size()));
  if (polygon.size() % 2 != 0) put(bytes, uint32_t{0});
  for (const Ring& ring : polygon)
    for (const Point point : ring) put_point(bytes, point, form);
}

inline Box box_of(const std::vector<Polygon>& polygons) {
  Box box = Box::empty();
  for (const Polygon& polygon : polygons)
    for (const Ring& ring : polygon)
      for (const Point point : ring) box.add(point);
  return box;
}

/// A polygon where there is one, else a multipolygon.
inline std::string serialized(const std::vector<Polygon>& polygons, Form form = {}) {
  if (box_of(polygons).is_empty()) form.box = false;
  std::string bytes = serialized_header(form, box_of(polygons));
  if (polygons.size() != 1) {
    put(&bytes, uint32_t{6});
    put(&bytes, static_cast<uint32_t>(polygons.size()));
  }
  for (const Polygon& polygon : polygons) put_serialized_polygon(&bytes, polygon, form);
  return bytes;
}

inline std::string serialized_point(Point point, Form form = {}) {
  form.box = false;
  std::string bytes = serialized_header(form, {});
  put(&bytes, uint32_t{1});
  put(&bytes, uint32_t{1});
  put_point(&bytes, point, form);
  return bytes;
}

inline SerializedGeometry opened(const std::string& bytes) {
  SerializedGeometry geometry;
  if (!SerializedGeometry::open(bytes.data(), static_cast<int64_t>(bytes.size()), &geometry)) std::abort();
  return geometry;
}

/// Lines, several as a multiline.
inline std::string lines(const std::vector<std::vector<Point>>& all) {
  std::string bytes = serialized_header({.box = false}, {});
  if (all.size() != 1) {
    put(&bytes, uint32_t{5});
    put(&bytes, static_cast<uint32_t>(all.size()));
  }
  for (const std::vector<Point>& line : all) {
    put(&bytes, uint32_t{2});
    put(&bytes, static_cast<uint32_t>(line.size()));
    for (const Point point : line) put_point(&bytes, point, {});
  }
  return bytes;
}

inline void put_wkb_type(std::string* bytes, uint32_t type, const Form& form, bool swapped, bool outermost) {
  bytes->push_back(swapped ? 0 : 1);
  const bool srid = outermost && form.srid != 0;
  put(bytes, type | (form.z ? 0x80000000u : 0) | (form.m ? 0x40000000u : 0) | (srid ? 0x20000000u : 0), swapped);
  if (srid) put(bytes, form.srid, swapped);
}

inline std::string wkb(const std::vector<Polygon>& polygons, const Form& form = {}, bool swapped = false) {
  std::string bytes;
  if (polygons.size() != 1) {
    put_wkb_type(&bytes, 6, form, swapped, true);
    put(&bytes, static_cast<uint32_t>(polygons.size()), swapped);
  }
  for (const Polygon& polygon : polygons) {
    put_wkb_type(&bytes, 3, form, swapped, polygons.size() == 1);
    put(&bytes, static_cast<uint32_t>(polygon.size()), swapped);
    for (const Ring& ring : polygon) {
      put(&bytes, static_cast<uint32_t>(ring.size()), swapped);
      for (const Point point : ring) put_point(&bytes, point, form, swapped);
    }
  }
  return bytes;
}

inline Ring rectangle(double min_x, double min_y, double max_x, double max_y) {
  return {{min_x, min_y}, {max_x, min_y}, {max_x, max_y}, {min_x, max_y}, {min_x, min_y}};
}

}  // namespace strom::geo::test
