// Writes the generator's batches in PostgreSQL's binary COPY format (documentation: COPY, "Binary Format"), to load
// heap tables: int32 as int4, int64 as int8, UTF-8 as text.
#pragma once

#include <string>

#include "columnar/batch.hpp"

namespace strom::ssb {

/// The bytes before the first row.
std::string copy_header();
/// The bytes after the last row.
std::string copy_trailer();
/// Appends the rows of `batch`. Columns must be kInt32, kInt64 or kUtf8 without nulls.
void append_copy_rows(const columnar::BatchView& batch, std::string& out);

}  // namespace strom::ssb
