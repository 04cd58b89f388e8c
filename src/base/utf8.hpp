// Is a run of bytes UTF-8? Used by code that writes text from a file.
#pragma once

#include <cstdint>
#include <cstring>

namespace strom::base {

namespace utf8_detail {

constexpr bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

/// Bytes of the character at `at`, of which `left` >= 1 are there; 0 when it is none.
inline int64_t character_size(const unsigned char* at, int64_t left) {
  const unsigned char first = at[0];
  if (first < 0x80) return first != 0 ? 1 : 0;
  const int64_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || left < size) return 0;
  for (int64_t i = 1; i < size; ++i)
    if (!is_continuation(at[i])) return 0;
  // Overlong forms, surrogates, and what is above U+10FFFF.
  if ((first == 0xE0 && at[1] < 0xA0) || (first == 0xED && at[1] > 0x9F)) return 0;
  if ((first == 0xF0 && at[1] < 0x90) || (first == 0xF4 && at[1] > 0x8F)) return 0;
  return size;
}

}  // namespace utf8_detail

/// Offset of the first byte that is not part of a character as PostgreSQL accepts it: no overlong forms, no surrogates,
/// nothing above U+10FFFF, no zero bytes. `size` when there is none.
inline int64_t valid_utf8_prefix(const char* text, int64_t size) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(text);
  int64_t at = 0;
  while (at < size) {
    if (at + 8 <= size) {
      constexpr uint64_t kHigh = 0x8080808080808080, kOnes = 0x0101010101010101;
      uint64_t word;
      std::memcpy(&word, bytes + at, sizeof(word));
      if ((word & kHigh) == 0 && ((word - kOnes) & kHigh) == 0) {  // eight ASCII characters, none of them zero
        at += 8;
        continue;
      }
    }
    const int64_t character = utf8_detail::character_size(bytes + at, size - at);
    if (character == 0) return at;
    at += character;
  }
  return size;
}

inline bool is_valid_utf8(const char* text, int64_t size) { return valid_utf8_prefix(text, size) == size; }

}  // namespace strom::base
