// Checks the values of an Arrow file that can be opened: finds errors that readers find only when they come to the row,
// or never. Used by arrow-info.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::arrow {

struct Finding {
  int batch = 0;
  int64_t row = -1;  // in the batch; -1: the column as a whole
  std::string what;
};

/// The errors of one column of one record batch, the first of each kind: the count of nulls, offsets that go backwards
/// or outside, text that is not UTF-8, decimals with more digits than their type, dates in milliseconds that are not
/// whole days, and statistics that exclude values.
std::vector<Finding> validate_column(const columnar::Field& field, const columnar::ColumnView& view, int batch,
                                     int batches);

}  // namespace strom::format::arrow
