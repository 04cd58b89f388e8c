// A value on its way into a store table or out of it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace strom::store::rows {

/// Bytes of one column's value. The memory is somebody else's.
struct Cell {
  const void* data = nullptr;
  uint32_t bytes = 0;
  bool is_null = true;

  std::string_view view() const { return {static_cast<const char*>(data), bytes}; }
};

inline Cell cell_of(std::string_view bytes) { return {bytes.data(), static_cast<uint32_t>(bytes.size()), false}; }

}  // namespace strom::store::rows
