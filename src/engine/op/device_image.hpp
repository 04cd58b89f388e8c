// Bytes for a device with pointers between them. The host writes them before it knows where they will lie. Used by
// engine/device and op/join/join_image.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "registry/types.hpp"

namespace strom::engine::op {

/// Alignment of everything in a device's memory.
inline constexpr size_t kDeviceAlign = 64;
inline size_t device_aligned(size_t bytes) { return (bytes + kDeviceAlign - 1) / kDeviceAlign * kDeviceAlign; }

/// Memory of a device with a copy on the host: the same bytes at equal offsets.
struct MirroredBytes {
  const char* host;  // nullptr: there is no copy
  const char* device;
  size_t size;
};

/// Hands out offsets in a region, which may not be allocated yet.
class DeviceOffsets {
 public:
  size_t take(size_t bytes) {
    const size_t at = used_;
    used_ = device_aligned(used_ + bytes);
    return at;
  }
  size_t used() const { return used_; }

 private:
  size_t used_ = 0;
};

class DeviceImage {
 public:
  static constexpr size_t kNowhere = SIZE_MAX;

  size_t size() const { return bytes_.size(); }
  /// Reserves so many bytes, zeroed; returns their offset. References to earlier bytes become invalid.
  size_t reserve(size_t bytes) {
    const size_t at = device_aligned(bytes_.size());
    bytes_.resize(at + bytes);
    return at;
  }
  size_t put(const void* from, size_t bytes) {
    const size_t at = reserve(bytes);
    if (bytes > 0) std::memcpy(bytes_.data() + at, from, bytes);
    return at;
  }
  template <class T>
  size_t put(std::span<const T> items) {
    return put(items.data(), items.size_bytes());
  }
  uint8_t* at(size_t offset) { return bytes_.data() + offset; }

  /// Makes the pointer at `offset` the address of offset `target`; nullptr for kNowhere.
  void point(size_t offset, size_t target) {
    const uint64_t value = target == kNowhere ? 0 : target;
    std::memcpy(at(offset), &value, sizeof value);
    if (target != kNowhere) pointers_.push_back(offset);
  }

  /// Puts an array of texts with their bytes behind it. Texts with a flag become empty. `flags` may be nullptr.
  size_t put_texts(const registry::StrView* texts, const uint8_t* flags, size_t count);

  /// Writes the image to `to`, memory of size() bytes. The final place of the image is `device`.
  void write(char* to, const char* device) const;

 private:
  std::vector<uint8_t> bytes_;
  std::vector<size_t> pointers_;
};

}  // namespace strom::engine::op
