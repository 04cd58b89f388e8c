// Join keys against what statistics say of a column: which chunks of the outer side can have a match at all. Keys are
// of integer registers (integers, dates, timestamps).
#pragma once

#include <cstdint>
#include <vector>

#include "columnar/bounds.hpp"

namespace strom::engine::op {

/// Key values of a join's inner side.
struct KeyRange {
  int64_t lowest = 1, highest = 0;  // in this order there is no key
  std::vector<int64_t> values;      // all of them, ascending, where they are few; else empty

  /// One of the keys lies between these two.
  bool overlaps(int64_t low, int64_t high) const;
};

/// Values of a source's column that rows must have to be of use.
struct ColumnKeys {
  uint32_t column;
  KeyRange keys;
};

/// Key sets of up to so many values are kept whole.
inline constexpr size_t kMostKeyValues = 4096;

/// Bounds as register values. False for layouts without integer registers and values that PostgreSQL does not have.
bool register_bounds(const columnar::Field& field, const columnar::Bounds& bounds, int64_t* low, int64_t* high);

}  // namespace strom::engine::op
