// Columns as nodes and buffers of a record batch. Private to src/format/arrow.
#pragma once

#include "columnar/batch.hpp"
#include "format/arrow/batch/batch_body.hpp"

namespace strom::format::arrow {

/// A column of any layout with its children. `compressor` may be nullptr; then the column must stay until the body is
/// written.
Status add_column(const columnar::ColumnView& column, BatchBody& body, Compressor* compressor);

}  // namespace strom::format::arrow
