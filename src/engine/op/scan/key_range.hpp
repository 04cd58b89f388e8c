// Compares join keys with the statistics of a column: which chunks of the outer side can have a match at all. Keys are
// in integer registers (integers, dates, timestamps).
#pragma once

#include <cstdint>
#include <vector>

#include "columnar/bounds.hpp"

namespace strom::engine::op {

/// Key values of a join's inner side.
struct KeyRange {
  int64_t lowest = 1, highest = 0;  // lowest > highest: there is no key
  std::vector<int64_t> values;      // all of them, ascending, if they are few; else empty

  /// True when one of the keys lies between the two values.
  bool overlaps(int64_t low, int64_t high) const;
};

/// Key values that a source's column must have, or the row is not needed.
struct ColumnKeys {
  uint32_t column;
  KeyRange keys;
};

/// Larger key sets are not kept value by value.
inline constexpr size_t kMostKeyValues = 4096;

/// Bounds as register values. False for layouts without integer registers and values that PostgreSQL does not have.
bool register_bounds(const columnar::Field& field, const columnar::Bounds& bounds, int64_t* low, int64_t* high);

}  // namespace strom::engine::op
