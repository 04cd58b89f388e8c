// Columns of a file by name. Used by the tools that read Arrow files.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::tool {

using ArrowFile = std::shared_ptr<const format::arrow::FileReader>;

/// What the reader hands out for a column of a record batch: a view, with the memory behind it where that is not the
/// file.
using FileColumn = std::remove_cvref_t<decltype(std::declval<const format::arrow::FileReader&>().column(0, 0).value())>;

/// Numbers of the columns with these names, in their order; all columns when there are no names. kInvalidParameter
/// names the column that is not there, with the nearest one that is.
Result<std::vector<int>> find_columns(const format::arrow::FileReader& file, const std::vector<std::string>& names);

/// Type with its parameters, e.g. "Decimal128(10,2)", or the feature that cannot be read.

/// Rows of all record batches.
Result<int64_t> count_rows(const format::arrow::FileReader& file);

}  // namespace strom::tool
