// What is known of the values of one column in one record batch without reading them. Format readers make it from a
// file's statistics; scans use it to skip record batches.
#pragma once

#include <cstdint>
#include <string>

#include "columnar/schema.hpp"
#include "columnar/stored_number.hpp"

namespace strom::columnar {

/// Every value of the column that is neither NULL nor NaN lies between the low and the high bound. The bounds
/// themselves need not occur.
struct Bounds {
  enum class Kind : uint8_t {
    kInteger,  // layouts that store integers: dates and times in the column's unit, decimals without their scale
    kReal,
    kText,
    kBox,  // structs for which is_box() holds, and geometries whose boxes are in such a struct
  };
  Kind kind = Kind::kInteger;
  __int128 low = 0, high = 0;
  double low_real = 0, high_real = 0;
  std::string low_text, high_text;
  bool high_is_prefix = false;  // kText: values that begin with `high_text` are within the bounds, too
  double box[4] = {};           // kBox: all boxes lie in this one; lowest x and y, highest x and y
};

inline constexpr const char* kBoxCorners[] = {"xmin", "ymin", "xmax", "ymax"};

/// True for a struct of the corners of boxes, as GeoParquet 1.1 has them: it has floating-point children of these names
/// and may have others. `corners`: the numbers of these children.
inline bool is_box(const Field& field, size_t (&corners)[4]) {
  if (field.layout != Layout::kStruct || field.dictionary) return false;
  for (size_t i = 0; i < 4; ++i) {
    size_t& at = corners[i];
    for (at = 0; at < field.children.size() && field.children[at].name != kBoxCorners[i];) ++at;
    if (at == field.children.size() || field.children[at].dictionary) return false;
    const Layout layout = field.children[at].layout;
    if (layout != Layout::kFloat32 && layout != Layout::kFloat64) return false;
  }
  return true;
}
inline bool is_box(const Field& field) {
  size_t corners[4];
  return is_box(field, corners);
}

/// The kind of bounds that a layout has. False for layouts without bounds.
constexpr bool bounds_kind(Layout layout, Bounds::Kind* kind) {
  const Values values = values_of(layout);
  if (values == Values::kText) {
    *kind = Bounds::Kind::kText;
    return true;
  }
  *kind = values == Values::kReal ? Bounds::Kind::kReal : Bounds::Kind::kInteger;
  return has_stored_number(layout) && values != Values::kSpan;
}

}  // namespace strom::columnar
