// What two Arrow files differ in.
#pragma once

#include <string>
#include <vector>

#include "arrow_files/columns.hpp"
#include "base/status.hpp"

namespace strom::tool {

/// One line for each difference: columns, their types, metadata (unless `only_values`), the number of rows, and for
/// each column that both files have with the same type its rows with other values, of which the first is shown. Record
/// batches may be cut differently. Floating-point numbers are compared by their bits, so that NaN equals itself.
Result<std::vector<std::string>> differences(const format::arrow::FileReader& left,
                                             const format::arrow::FileReader& right, bool only_values, int threads);

}  // namespace strom::tool
