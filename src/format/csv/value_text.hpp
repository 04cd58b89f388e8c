// Values of any layout as text: flat values as PostgreSQL prints them, nested ones as JSON. For values that
// row_tiles.hpp does not write itself. Private to src/format/csv.
#pragma once

#include <cstdint>
#include <string>

#include "columnar/batch.hpp"
#include "columnar/schema.hpp"

namespace strom::format::csv {

enum class ValueState : uint8_t {
  kWritten,
  kNull,     // nothing was written
  kCorrupt,  // offsets lead outside of the column's buffers
};

/// Appends the text of row `row`.
ValueState append_value(const columnar::Field& field, const columnar::ColumnView& view, int64_t row, std::string& out);

/// The same for a list of flat values, as PostgreSQL prints arrays: {1,NULL,"a b"}.
ValueState append_array(const columnar::Field& field, const columnar::ColumnView& view, int64_t row, std::string& out);

/// The same in JSON, with quotes around strings; null is written.
ValueState append_json(const columnar::Field& field, const columnar::ColumnView& view, int64_t row, std::string& out);

}  // namespace strom::format::csv
