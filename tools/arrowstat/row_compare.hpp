// Order of two rows of columns of any type, for those that have no simple key. Used by row_order.cpp.
#pragma once

#include <cstdint>

#include "columnar/batch.hpp"
#include "columnar/schema.hpp"

namespace strom::tool {

/// Compares values as PostgreSQL orders arrays and composite values: element by element, nulls last, what is shorter
/// first. `is_corrupt` is set when a value lies outside of its column.
class RowCompare {
 public:
  explicit RowCompare(const columnar::Field& field) : field_(field) {}
  /// Unions have no order.
  static bool can_compare(const columnar::Field& field);
  /// Negative, zero or positive.
  int operator()(const columnar::ColumnView& a, int64_t row_a, const columnar::ColumnView& b, int64_t row_b);
  bool is_corrupt() const { return is_corrupt_; }

 private:
  struct RowValue {
    const columnar::ColumnView* view;
    int64_t row;
  };
  int compare(const columnar::Field& field, RowValue a, RowValue b);
  int compare_lists(const columnar::Field& field, RowValue a, RowValue b);
  int compare_leaves(RowValue a, RowValue b);
  /// The value that a row stands for; false: NULL.
  bool resolve(const columnar::Field& field, RowValue& place, const columnar::Field** value);

  const columnar::Field& field_;
  bool is_corrupt_ = false;
};

}  // namespace strom::tool
