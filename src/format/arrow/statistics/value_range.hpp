// Lowest and highest value of columns, for the statistics that let readers leave out record batches. Used by arrowstat
// and arrow-info.
// The form is that of statistics_text.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "columnar/batch.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/statistics/statistics_text.hpp"

namespace strom::format::arrow {

/// There are statistics for columns of this layout.
bool has_value_range(columnar::Layout layout);

/// Of one record batch, in the form of the metadata. Both are `null` when all rows are null, and when there is a NaN:
/// to PostgreSQL that is greater than all numbers, to others it is not.
struct ValueRange {
  std::string low{kNoValue}, high{kNoValue};
  bool operator==(const ValueRange&) const = default;
};

/// The column's layout has a range, or it is a dictionary of one that has.
ValueRange value_range(const columnar::ColumnView& column);

/// What a field's metadata says of each of `batches` record batches; empty when it says nothing, or of another number
/// of batches.
std::vector<ValueRange> stated_ranges(const columnar::Field& field, int batches);

/// `stated` admits all values of a column whose range is `actual`.
bool covers(columnar::Layout layout, const ValueRange& stated, const ValueRange& actual);

/// The field's metadata with these statistics in place of those that it has; without any when `ranges` is empty.
columnar::KeyValues with_ranges(const columnar::KeyValues& metadata, const std::vector<ValueRange>& ranges);

}  // namespace strom::format::arrow
