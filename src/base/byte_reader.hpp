// Numbers and bytes one after another, of a format that is little-endian, as the machine is.
#pragma once

#include <cstring>
#include <string_view>

namespace strom::base {

/// Takes from the front. False, and nothing is taken: the bytes end before.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  [[nodiscard]] bool take(T* value) {
    if (rest_.size() < sizeof(T)) return false;
    std::memcpy(value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return true;
  }
  [[nodiscard]] bool take_bytes(size_t size, std::string_view* bytes) {
    if (rest_.size() < size) return false;
    *bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace strom::base
