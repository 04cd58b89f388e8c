// Reading a numeric inside a jsonb. Single source.
#pragma once

#include "base/stored_numeric.hpp"
#include "engine/expr/element.hpp"

namespace strom::engine::expr {

/// The value of a numeric with its varlena header. False when it does not fit a decimal.
STROM_INLINE bool stored_decimal(StrView bytes, int128* decimal) {
  if (bytes.len < 1) return false;
  const auto first = static_cast<uint8_t>(bytes.ptr[0]);
  const int header_size = first & 1 ? 1 : 4;  // of the varlena
  const int64_t size = bytes.len - header_size;
  if (size < 0 || (header_size == 4 && (first & 3) != 0)) return false;
  return base::numeric_to_decimal(bytes.ptr + header_size, size, decimal);
}

}  // namespace strom::engine::expr
