// What is known of the values of one column in one record batch without reading them. Made by format readers from a
// file's statistics, used to leave out record batches.
#pragma once

#include <cstdint>
#include <string>

#include "columnar/schema.hpp"
#include "columnar/stored_number.hpp"

namespace strom::columnar {

/// Every value of the column that is neither NULL nor NaN lies between these two, which need not occur themselves.
struct Bounds {
  enum class Kind : uint8_t {
    kInteger,  // layouts that store integers: dates and times in the column's unit, decimals without their scale
    kReal,
    kText,
    kBox,  // of structs for which is_box() holds, and of geometries that such a struct tells of
  };
  Kind kind = Kind::kInteger;
  __int128 low = 0, high = 0;
  double low_real = 0, high_real = 0;
  std::string low_text, high_text;
  bool high_is_prefix = false;  // kText: values that begin with `high_text` belong as well
  double box[4] = {};           // kBox: all boxes lie in this one; lowest x and y, highest x and y
};

inline constexpr const char* kBoxCorners[] = {"xmin", "ymin", "xmax", "ymax"};

/// A struct of the corners of boxes, as GeoParquet 1.1 has them: floating point of these names, and others beside them.
/// `corners`: which children they are.
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

/// How statistics of a layout are held. False for layouts that have none.
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
