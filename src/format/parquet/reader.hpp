// Reads Parquet files in the way of Arrow files: a row group is a record batch, and the Parquet module decodes each
// column when it is needed (docs/dev/arrow.md). Format: https://parquet.apache.org/docs/
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::parquet {

/// True when the file at `path` begins as Parquet files do; false when it cannot be opened.
bool is_parquet_file(const std::string& path);

/// Errors: those of arrow::FileReader::open(); kUnsupported (no module; encrypted file).
Result<std::shared_ptr<const arrow::FileReader>> open_file(const std::string& path);

}  // namespace strom::format::parquet
