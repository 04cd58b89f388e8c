// Boxes of floats, by which PostGIS's operators compare geometries: the box that is stored with a geometry, or else the
// box of its points, rounded outwards. Single source.
#pragma once

#include "geo/serialized.hpp"

namespace strom::geo {

enum class BoxAnswer : uint8_t {
  kBox,
  kNone,      // of an empty geometry: no operator is true for it
  kUncertain  // PostGIS has to decide
};

/// The largest float that is not above the value, or the smallest that is not below it. Finite values.
STROM_BASE_INLINE float float_beside(double value, bool below) {
  constexpr float kLargest = 3.402823466e38F;
  if (value > static_cast<double>(kLargest)) return kLargest;
  if (value < static_cast<double>(-kLargest)) return -kLargest;
  union {
    float value;
    uint32_t bits;
  } near = {static_cast<float>(value)};
  if (below ? static_cast<double>(near.value) <= value : static_cast<double>(near.value) >= value) return near.value;
  if (near.value == 0)
    near.bits = below ? 0x80000001u : 1u;
  else
    near.bits += (near.value < 0) == below ? 1u : ~uint32_t{0};
  return near.value;
}

STROM_BASE_INLINE Box float_box_of(Point point) {
  return {float_beside(point.x, true), float_beside(point.y, true), float_beside(point.x, false),
          float_beside(point.y, false)};
}

STROM_BASE_INLINE Box float_box_of(const Box& box) {
  return {float_beside(box.min_x, true), float_beside(box.min_y, true), float_beside(box.max_x, false),
          float_beside(box.max_y, false)};
}

/// The box of the points as doubles.
STROM_BASE_INLINE BoxAnswer exact_box(const SerializedGeometry& geometry, Box* box) {
  *box = Box::empty();
  SerializedPaths paths(geometry);
  Path path;
  Step step;
  bool any = false;
  while ((step = paths.next(&path)) == Step::kPath) {
    if (!is_simple_type(path.type)) return BoxAnswer::kUncertain;  // curves leave the box of their points
    if (path.ring != 0) continue;                                  // PostGIS looks at shells alone
    for (int64_t i = 0; i < path.count; ++i) {
      const Point point = path.points.point(i);
      if (!is_finite(point)) return BoxAnswer::kUncertain;
      box->add(point);
      any = true;
    }
  }
  if (step == Step::kDamaged) return BoxAnswer::kUncertain;
  return any ? BoxAnswer::kBox : BoxAnswer::kNone;
}

/// The box of the points as floats.
STROM_BASE_INLINE BoxAnswer float_box(const SerializedGeometry& geometry, Box* box) {
  if (geometry.stored_box(box)) return box->is_finite() && !box->is_empty() ? BoxAnswer::kBox : BoxAnswer::kUncertain;
  const BoxAnswer answer = exact_box(geometry, box);
  if (answer == BoxAnswer::kBox) *box = float_box_of(*box);
  return answer;
}

/// PostGIS's operators on boxes, by the names of their functions.
enum class BoxRelation : int32_t {
  kOverlaps,
  kContains,
  kWithin,
  kSame,
  kLeft,
  kRight,
  kOverLeft,
  kOverRight,
  kBelow,
  kAbove,
  kOverBelow,
  kOverAbove
};

STROM_BASE_INLINE bool is_same(const Box& a, const Box& b) {
  return a.min_x == b.min_x && a.min_y == b.min_y && a.max_x == b.max_x && a.max_y == b.max_y;
}

/// True when the relation holds between two boxes that are not empty.
STROM_BASE_INLINE bool is_so(BoxRelation relation, const Box& a, const Box& b) {
  switch (relation) {
    case BoxRelation::kOverlaps: return a.overlaps(b);
    case BoxRelation::kContains: return a.contains(b);
    case BoxRelation::kWithin: return b.contains(a);
    case BoxRelation::kSame: return is_same(a, b);
    case BoxRelation::kLeft: return a.max_x < b.min_x;
    case BoxRelation::kRight: return a.min_x > b.max_x;
    case BoxRelation::kOverLeft: return a.max_x <= b.max_x;
    case BoxRelation::kOverRight: return a.min_x >= b.min_x;
    case BoxRelation::kBelow: return a.max_y < b.min_y;
    case BoxRelation::kAbove: return a.min_y > b.max_y;
    case BoxRelation::kOverBelow: return a.max_y <= b.max_y;
    case BoxRelation::kOverAbove: return a.min_y >= b.min_y;
  }
  return false;
}

}  // namespace strom::geo
