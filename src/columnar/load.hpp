// Loads a value from a column's buffer. Buffers in files need not be aligned.
#pragma once

#include <cstdint>
#include <cstring>

namespace strom::columnar {

template <class T>
inline T load(const void* values, int64_t row) {
  T value;
  std::memcpy(&value, static_cast<const char*>(values) + row * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

}  // namespace strom::columnar
