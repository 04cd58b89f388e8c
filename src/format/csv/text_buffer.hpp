// Growable bytes that are not zeroed before they are written. Used by row_text.cpp and its callers.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

namespace strom::format::csv {

class TextBuffer {
 public:
  TextBuffer() = default;
  ~TextBuffer() { std::free(bytes_); }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  const char* data() const { return bytes_; }
  int64_t size() const { return size_; }
  std::string_view view() const { return {bytes_, static_cast<size_t>(size_)}; }
  void clear() { size_ = 0; }

  /// Reserves `count` bytes behind the content; commit() adds a part of them to the content. Throws std::bad_alloc.
  char* reserve(int64_t count) {
    if (count > capacity_ - size_) grow(count);
    return bytes_ + size_;
  }
  void commit(int64_t count) { size_ += count; }

 private:
  void grow(int64_t count) {
    const int64_t wanted = size_ + count > 2 * capacity_ ? size_ + count : 2 * capacity_;
    auto* bytes = static_cast<char*>(std::realloc(bytes_, static_cast<size_t>(wanted)));
    if (bytes == nullptr) throw std::bad_alloc();
    bytes_ = bytes;
    capacity_ = wanted;
  }

  char* bytes_ = nullptr;
  int64_t size_ = 0, capacity_ = 0;
};

}  // namespace strom::format::csv
