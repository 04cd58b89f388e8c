// A copy within a device's memory: what the kernel of engine/op/copies reads. Plain data; all pointers are addresses on
// the device. Made by engine/device/cached_columns.cpp.
#pragma once

#include <cstdint>

namespace strom::engine::block {

/// Addresses and size are multiples of 8.
struct BlockCopy {
  void* to;
  const void* from;
  uint64_t bytes;
};

}  // namespace strom::engine::block
