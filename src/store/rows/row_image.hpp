// Converts rows to bytes, for the redo log and the base file: docs/format/store.md.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "store/rows/cell.hpp"
#include "store/rows/shape.hpp"

namespace strom::store::rows {

/// Appends the image of a row, a cell for each column.
void append_row(const Shape& shape, std::span<const Cell> cells, std::string* bytes);

/// The size of a row's image, and a function that writes the image to memory of that size. Neither allocates.
uint64_t row_bytes(const Shape& shape, std::span<const Cell> cells) noexcept;
void write_row(const Shape& shape, std::span<const Cell> cells, uint8_t* to) noexcept;

/// Removes one row from the front of `bytes`; the cells point into it. False: the bytes are no row of this shape.
bool take_row(const Shape& shape, std::string_view* bytes, std::span<Cell> cells);

}  // namespace strom::store::rows
