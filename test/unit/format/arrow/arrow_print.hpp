// Values of Arrow columns as text, for comparing files in tests. Used by the unit tests and arrow_dump.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::test {

/// One value: "NULL", numbers in full (floats as %.17g, decimals unscaled, times as the stored integer), text in
/// double quotes with everything but printable ASCII escaped as \xHH, and INVALID for text whose offsets lead out of
/// bounds.
std::string print_value(const columnar::ColumnView& column, int64_t row);

/// Name, layout, and what belongs to it, e.g. `price Decimal128(12,2)`, `t Timestamp(us,UTC)`, `l unsupported(type
/// List)`.
std::string print_field(const columnar::Field& field);

/// All columns of basic layouts of all batches, a line per row, "-- batch N: ROWS rows" before each batch.
Result<std::string> print_file(const format::arrow::FileReader& reader);

/// Touches every byte that a query could touch: values, validity, text. For running under sanitizers. The result
/// depends on all of them.
uint64_t touch_column(const columnar::ColumnView& column);
/// With its children.
uint64_t touch_parts(const columnar::Field& field, const columnar::ColumnView& column);
uint64_t touch_file(const format::arrow::FileReader& reader);

}  // namespace strom::test
