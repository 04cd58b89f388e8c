// Columns of a file by name. Used by the tools that read Arrow files.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/arrow/reader.hpp"

namespace strom::tool {

using ArrowFile = std::shared_ptr<const format::arrow::FileReader>;

/// Numbers of the columns with these names, in their order; all columns when there are no names. kInvalidParameter
/// names the column that is not there, with the nearest one that is.
Result<std::vector<int>> find_columns(const format::arrow::FileReader& file, const std::vector<std::string>& names);

/// Type with its parameters, e.g. "Decimal128(10,2)", or the feature that cannot be read.
std::string type_text(const columnar::Field& field);

/// Rows of all record batches.
Result<int64_t> count_rows(const format::arrow::FileReader& file);

}  // namespace strom::tool
