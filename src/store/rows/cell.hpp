// A value that is written to or read from a store table.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace strom::store::rows {

/// The bytes of one column's value. The cell does not own the memory.
struct Cell {
  const void* data = nullptr;
  uint32_t bytes = 0;
  bool is_null = true;

  std::string_view view() const { return {static_cast<const char*>(data), bytes}; }
};

/// Like memcpy() and memcmp(), but without a call for the most frequent widths.
inline void copy_value(void* to, const void* from, uint32_t bytes) {
  switch (bytes) {
    case 4: std::memcpy(to, from, 4); return;
    case 8: std::memcpy(to, from, 8); return;
    case 16: std::memcpy(to, from, 16); return;
    case 0: return;
    default: std::memcpy(to, from, bytes);
  }
}
inline bool is_same_value(const void* a, const void* b, uint32_t bytes) {
  if (a == nullptr || b == nullptr) return bytes == 0;
  switch (bytes) {
    case 4: return std::memcmp(a, b, 4) == 0;
    case 8: return std::memcmp(a, b, 8) == 0;
    default: return std::memcmp(a, b, bytes) == 0;
  }
}

inline Cell cell_of(std::string_view bytes) { return {bytes.data(), static_cast<uint32_t>(bytes.size()), false}; }

}  // namespace strom::store::rows
