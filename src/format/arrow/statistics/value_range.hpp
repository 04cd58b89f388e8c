// Lowest and highest value of columns, for the statistics by which readers skip record batches. Used by arrowstat and
// arrow-info. The form is that of statistics_text.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "columnar/batch.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/statistics/statistics_text.hpp"

namespace strom::format::arrow {

/// True when columns of this layout have statistics.
bool has_value_range(columnar::Layout layout);

/// The range of one record batch, in the form of the metadata. Both are `null` when all rows are null, and when there
/// is a NaN, which is greater than all numbers in PostgreSQL but not elsewhere.
struct ValueRange {
  std::string low{kNoValue}, high{kNoValue};
  bool operator==(const ValueRange&) const = default;
};

/// The column's layout must have a range, or it is a dictionary of such a layout.
ValueRange value_range(const columnar::ColumnView& column);

/// The ranges of each of `batches` record batches in a field's metadata; empty when there are none, or another number.
std::vector<ValueRange> stated_ranges(const columnar::Field& field, int batches);

/// True when `stated` covers all values of a column whose range is `actual`.
bool covers(columnar::Layout layout, const ValueRange& stated, const ValueRange& actual);

/// The field's metadata with these statistics instead of the present ones; without statistics when `ranges` is empty.
columnar::KeyValues with_ranges(const columnar::KeyValues& metadata, const std::vector<ValueRange>& ranges);

}  // namespace strom::format::arrow
