// Buffers of compressed record batches. The declared sizes in front of them come from the file and are not trusted:
// what cannot be of that size is refused before anything is allocated, and large buffers grow with what is found.
// Private to src/format.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "base/status.hpp"

namespace strom::format::arrow {

enum class Codec : uint8_t { kNone, kLz4Frame, kZstd };
const char* codec_name(Codec codec);  // "LZ4", "ZSTD"

/// Memory of malloc(), aligned to 16 bytes.
struct Memory {
  struct Free {
    void operator()(void* bytes) const { std::free(bytes); }
  };
  std::unique_ptr<char, Free> bytes;
  int64_t capacity = 0;
};

/// Memory that is used again, because fresh pages take about as long as decompressing into them. Thread-safe.
class BufferPool {
 public:
  /// Of at least `capacity` bytes; none when nothing fits.
  Memory take(int64_t capacity);
  void give(Memory memory);

 private:
  std::mutex mutex_;
  std::vector<Memory> free_;
  int64_t bytes_ = 0;
};

/// Bytes that were decompressed.
struct Decompressed {
  Memory memory;
  int64_t size = 0;
};

/// The first `wanted` bytes of `size` compressed ones, which are said to make `declared` (>= wanted) bytes, in memory
/// of `pool` if it is not nullptr. Thread-safe. Errors: kCorruptFile, whose message says what is wrong with the data;
/// kOutOfMemory.
Result<Decompressed> decompress(Codec codec, const uint8_t* from, int64_t size, int64_t declared, int64_t wanted,
                                BufferPool* pool);

}  // namespace strom::format::arrow
