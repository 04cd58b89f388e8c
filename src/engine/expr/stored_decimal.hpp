// Reading a numeric inside another value, a jsonb or an array. Single source.
#pragma once

#include "base/stored_numeric.hpp"
#include "engine/expr/row_decimal.hpp"

namespace strom::engine::expr {

/// The value of a numeric with its varlena header. False when it has no place in a decimal.
STROM_INLINE bool stored_decimal(StrView bytes, int128* decimal) {
  if (bytes.len < 1) return false;
  const auto first = static_cast<uint8_t>(bytes.ptr[0]);
  const int header_size = first & 1 ? 1 : 4;  // of the varlena
  const int64_t size = bytes.len - header_size;
  if (size < 0 || (header_size == 4 && (first & 3) != 0)) return false;
  const char* stored = bytes.ptr + header_size;
  base::NumericHeader header;
  if (!base::read_numeric_header(stored, size, &header)) return false;
  const int64_t digits = (size - header.size) / 2;
  uint128 value;
  if (digits < 0 || digits > 64 || !base::read_numeric_digits(stored + header.size, static_cast<int>(digits), &value)) return false;
  const int shift = base::numeric_shift(header, static_cast<int>(digits), header.scale);
  auto result = static_cast<int128>(value);
  if (result < 0) return false;
  if (shift >= 0) {
    if (append_digits(&result, shift)) return false;
  } else if (result != 0) {
    if (-shift > base::kMaxDecimalDigits) return false;
    const int128 unit = base::power_of_ten(-shift);
    if (result % unit != 0) return false;
    result /= unit;
  }
  return base::make_decimal(header.negative ? -result : result, header.scale, decimal);
}

}  // namespace strom::engine::expr
