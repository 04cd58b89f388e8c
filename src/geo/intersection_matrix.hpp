// The matrix of intersections of two geometries. Single source.
#pragma once

#include "base/single_source.hpp"

namespace strom::geo {

/// Dimensions of the intersections of a geometry's interior, boundary and exterior with another geometry's, row by row.
/// 'F': no intersection.
struct IntersectionMatrix {
  char cells[9];

  STROM_BASE_INLINE static IntersectionMatrix nothing() { return {{'F', 'F', 'F', 'F', 'F', 'F', 'F', 'F', '2'}}; }
  STROM_BASE_INLINE char& at(int row, int column) { return cells[3 * row + column]; }
  STROM_BASE_INLINE IntersectionMatrix transposed() const {
    IntersectionMatrix out = *this;
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 3; ++column) out.at(column, row) = cells[3 * row + column];
    return out;
  }
  /// `pattern`: nine of T, F, *, 0, 1, 2; also t and f.
  STROM_BASE_INLINE bool matches(const char* pattern) const {
    for (int i = 0; i < 9; ++i) {
      const char wanted = pattern[i] == 't' ? 'T' : pattern[i] == 'f' ? 'F' : pattern[i];
      if (wanted == '*' || wanted == cells[i] || (wanted == 'T' && cells[i] != 'F')) continue;
      return false;
    }
    return true;
  }
};

}  // namespace strom::geo
