// Bytes as hexadecimal digits. Used by whatever prints, names or escapes bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace strom::base {

inline constexpr char kHexDigits[] = "0123456789abcdef", kUpperHexDigits[] = "0123456789ABCDEF";

/// Writes the two digits of `byte`; returns the place behind them.
constexpr char* put_hex(char* out, uint8_t byte, const char* digits = kHexDigits) {
  *out++ = digits[byte >> 4];
  *out++ = digits[byte & 15];
  return out;
}

/// Appends the two digits of `byte`.
inline void append_hex(std::string* text, char byte, const char* digits = kHexDigits) {
  char pair[2];
  put_hex(pair, static_cast<uint8_t>(byte), digits);
  text->append(pair, sizeof pair);
}

/// Appends two digits for each of `count` bytes.
inline void append_hex(std::string* text, const void* bytes, size_t count) {
  for (size_t i = 0; i < count; ++i) append_hex(text, static_cast<const char*>(bytes)[i]);
}

}  // namespace strom::base
