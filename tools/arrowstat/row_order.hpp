// The order of a file's rows by the values of columns.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "columnar/batch.hpp"
#include "columnar/schema.hpp"

namespace strom::tool {

struct RowPlace {
  uint32_t batch, row;
};

/// Sorts `rows` by one column, of which `batches` has the views of all record batches: ascending, nulls last, equal
/// rows in the order that they have. Errors: kUnsupported, kCorruptFile (a text outside of its column). Throws
/// std::bad_alloc.
Status sort_rows(const columnar::Field& field, const std::vector<columnar::ColumnView>& batches, int threads,
                 std::vector<RowPlace>& rows);

}  // namespace strom::tool
