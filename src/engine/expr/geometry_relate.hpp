// Functions of PostGIS that tell more of two geometries than a predicate does. Single source.
#pragma once

#include "engine/expr/geometry.hpp"
#include "geo/crossing.hpp"
#include "geo/relate.hpp"

namespace strom::engine::expr {

/// False: the matrix of the two geometries is not certain.
STROM_INLINE bool relate_geometries(StrView a, StrView b, geo::IntersectionMatrix* out) {
  geo::SerializedGeometry first, second;
  return open_geometry(a, &first) && open_geometry(b, &second) && geo::relate(first, second, out);
}

/// st_relate: the matrix as text.
struct RelateText {
  STROM_INLINE static bool eval(const Context& context, StrView& out, StrView a, StrView b) {
    constexpr int64_t kCells = sizeof geo::IntersectionMatrix::cells;
    geo::IntersectionMatrix matrix;
    if (!relate_geometries(a, b, &matrix)) return true;
    char* made = context.make_text(kCells);
    if (made == nullptr) return true;
    for (int64_t i = 0; i < kCells; ++i) made[i] = matrix.cells[i];
    out = {made, kCells};
    return false;
  }
};

/// st_relate with a pattern of nine characters: whether the matrix matches it.
struct RelatePattern {
  STROM_INLINE static bool eval(const Context&, uint8_t& out, StrView a, StrView b, StrView pattern) {
    geo::IntersectionMatrix matrix;
    out = 0;
    if (pattern.len != sizeof matrix.cells || !relate_geometries(a, b, &matrix)) return true;
    out = matrix.matches(pattern.ptr);
    return false;
  }
};

struct CrossingDirection {
  STROM_INLINE static bool eval(const Context&, int32_t& out, StrView a, StrView b) {
    geo::SerializedGeometry first, second;
    out = 0;
    if (!open_geometry(a, &first) || !open_geometry(b, &second)) return true;
    return !geo::crossing_direction(first, second, &out);
  }
};

}  // namespace strom::engine::expr
