// Decompression of buffers of record batches. Their declared sizes come from the file and are not trusted: impossible
// sizes are rejected before anything is allocated, and large buffers grow as data is found. Private to src/format.
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

/// Memory that is reused, because fresh pages cost about as much time as decompression into them. Thread-safe.
class BufferPool {
 public:
  /// Memory of at least `capacity` bytes; none when no free memory is large enough.
  Memory take(int64_t capacity);
  void give(Memory memory);

 private:
  std::mutex mutex_;
  std::vector<Memory> free_;
  int64_t bytes_ = 0;
};

/// Decompressed bytes.
struct Decompressed {
  Memory memory;
  int64_t size = 0;
};

/// Returns the first `wanted` bytes of `size` compressed ones, which declare `declared` (>= wanted) bytes. The memory
/// is from `pool` if it is not nullptr. Thread-safe. Errors: kCorruptFile, whose message says what is wrong with the
/// data; kOutOfMemory.
Result<Decompressed> decompress(Codec codec, const uint8_t* from, int64_t size, int64_t declared, int64_t wanted,
                                BufferPool* pool);

}  // namespace strom::format::arrow
