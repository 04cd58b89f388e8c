// Writes characters as UTF-8, and checks whether bytes from elsewhere are UTF-8.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace strom::columnar {

/// Strict: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629).
inline bool is_utf8(std::string_view text) {
  const auto* at = reinterpret_cast<const uint8_t*>(text.data());
  const uint8_t* const end = at + text.size();
  const auto follows = [&](int index) { return (at[index] & 0xC0) == 0x80; };
  while (at < end) {
    uint64_t eight;
    if (end - at >= 8 && (std::memcpy(&eight, at, 8), (eight & 0x8080808080808080u) == 0)) {
      at += 8;
    } else if (at[0] < 0x80) {
      at += 1;
    } else if (at[0] >= 0xC2 && at[0] <= 0xDF && end - at >= 2 && follows(1)) {
      at += 2;
    } else if ((at[0] & 0xF0) == 0xE0 && end - at >= 3 && follows(1) && follows(2)) {
      if ((at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xED && at[1] > 0x9F)) return false;
      at += 3;
    } else if (at[0] >= 0xF0 && at[0] <= 0xF4 && end - at >= 4 && follows(1) && follows(2) && follows(3)) {
      if ((at[0] == 0xF0 && at[1] < 0x90) || (at[0] == 0xF4 && at[1] > 0x8F)) return false;
      at += 4;
    } else {
      return false;
    }
  }
  return true;
}

/// Bytes of a character in UTF-8.
constexpr int32_t utf8_size(uint32_t code) { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }

/// Writes a character, of utf8_size() bytes; returns the position behind it. For kernels, too.
constexpr char* put_utf8(char* to, uint32_t code) {
  const int32_t size = utf8_size(code);
  for (int32_t i = size - 1; i > 0; --i, code >>= 6) to[i] = static_cast<char>(0x80 | (code & 0x3f));
  to[0] = static_cast<char>(size == 1 ? code : (0xf00u >> size & 0xff) | code);
  return to + size;
}

}  // namespace strom::columnar
