// The form of rows in the published region and in answers to messages, shorter than their image: docs/format/store.md.
// The key's column is left out, since the record has the key anyway.
#pragma once

#include <span>
#include <string_view>

#include "store/rows/cell.hpp"
#include "store/rows/shape.hpp"

namespace strom::store::rows {

struct PayloadSize {
  uint64_t bytes;
  bool has_nulls;  // the payload begins with a bitmap of NULLs
};

/// The most bytes that the payload of a row has beside its values.
inline constexpr uint64_t kPayloadOverhead = kMaxColumns / 8 + kMaxColumns * sizeof(uint32_t);

/// The size of a row's payload, and a function that writes the payload to memory of that size. Neither allocates.
PayloadSize payload_size(const Shape& shape, std::span<const Cell> cells) noexcept;
void write_payload(const Shape& shape, std::span<const Cell> cells, bool has_nulls, uint8_t* to) noexcept;

/// Finds the values of a row, which may be any bytes; the cells, one for each column, point into `key` and `payload`.
/// False: this is no row of the shape.
bool parse_payload(const Shape& shape, std::string_view key, std::string_view payload, bool has_nulls,
                   std::span<Cell> cells) noexcept;

}  // namespace strom::store::rows
