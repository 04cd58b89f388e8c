// A row as bytes, for the redo log, the base file and the published region: docs/format/store.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "store/rows/cell.hpp"
#include "store/rows/shape.hpp"

namespace strom::store::rows {

/// Appends the image of a row, a cell for each column.
void append_row(const Shape& shape, std::span<const Cell> cells, std::string* bytes);

/// Takes one row off the front of `bytes`; the cells point into them. False: the bytes are no row of that shape.
bool take_row(const Shape& shape, std::string_view* bytes, std::span<Cell> cells);

}  // namespace strom::store::rows
