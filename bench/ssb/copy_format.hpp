// PostgreSQL's binary COPY format (documentation: COPY, "Binary Format") of the generator's batches, for loading
// heap tables: int32 as int4, int64 as int8, UTF-8 as text.
#pragma once

#include <string>

#include "columnar/batch.hpp"

namespace strom::ssb {

/// What stands before the first row.
std::string copy_header();
/// What stands after the last row.
std::string copy_trailer();
/// Appends the rows of `batch`. Columns must be kInt32, kInt64 or kUtf8 without nulls.
void append_copy_rows(const columnar::BatchView& batch, std::string& out);

}  // namespace strom::ssb
