// Encodes columns as nodes and buffers of a record batch. Private to src/format/arrow.
#pragma once

#include "columnar/batch.hpp"
#include "format/arrow/batch/batch_body.hpp"

namespace strom::format::arrow {

/// Adds a column of any layout with its children. `compressor` may be nullptr; the column must then stay until the body
/// is written.
Status add_column(const columnar::ColumnView& column, BatchBody& body, Compressor* compressor);

}  // namespace strom::format::arrow
