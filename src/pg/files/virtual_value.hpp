// Values of virtual columns, as texts: parts of a file's path, and of its custom metadata.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/arrow/read/reader.hpp"
#include "pg/files/options.hpp"

namespace strom::pg::files {

/// Of a column that is not a field: one value for all of the file, or (kMetadataSplit) those of its first record
/// batches; the others are NULL, as nullopt is. In the server's encoding. May throw.
std::vector<std::optional<std::string>> virtual_values(const ColumnSource& from, const TableOptions& options,
                                                       const FileEntry& entry, const format::arrow::FileReader& file);

/// UTF-8, which texts in files are, in the server's encoding. May throw.
std::string server_text(const std::string& utf8);

}  // namespace strom::pg::files
