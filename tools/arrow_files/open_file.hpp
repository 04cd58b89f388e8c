// Arrow files by their names on the command line.
#pragma once

#include <string>

#include "arrow_files/columns.hpp"
#include "format/arrow/write/file_storage.hpp"
#include "base/status.hpp"

namespace strom::tool {

/// What FileReader::open() opens, or for "-" what comes from standard input, to its end.
Result<ArrowFile> open_arrow_file(const std::string& path);

/// How a file that was opened so stores what it has.
Result<format::arrow::FileStorage> storage_of(const format::arrow::FileReader& file);

}  // namespace strom::tool
