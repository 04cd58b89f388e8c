// Values of virtual columns as text: parts of a file's path, and of its custom metadata.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "format/arrow/read/reader.hpp"
#include "pg/files/options.hpp"

namespace strom::pg::files {

/// The values of a virtual column, in the server's encoding: one value for the whole file, or (kMetadataSplit) one for
/// each of its first record batches. Further batches are NULL, and so is nullopt. May throw.
std::vector<std::optional<std::string>> virtual_values(const ColumnSource& from, const TableOptions& options,
                                                       const FileEntry& entry, const format::arrow::FileReader& file);

/// Converts UTF-8, the encoding of texts in files, to the server's encoding. May throw.
std::string server_text(const std::string& utf8);

}  // namespace strom::pg::files
