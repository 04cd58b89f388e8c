// Compression of buffers of Arrow IPC messages for the writer: each buffer separately, after its uncompressed size
// (https://arrow.apache.org/docs/format/Columnar.html#compression).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.hpp"

namespace strom::format::arrow {

enum class Codec : uint8_t { kNone, kLz4, kZstd };

struct Compression {
  Codec codec = Codec::kNone;
  int level = 0;  // kZstd; 0: the library's default
};

/// `none`, `lz4`, `zstd` or `zstd:LEVEL`. kInvalidParameter for anything else.
Result<Compression> parse_compression(std::string_view text);

/// Compresses buffers one after another. Each thread has its own.
class Compressor {
 public:
  explicit Compressor(Compression compression) : compression_(compression) {}
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  Codec codec() const { return compression_.codec; }
  /// Appends `size` > 0 bytes to `out` as a buffer's contents: the size and the compressed bytes or, when compression
  /// does not make them smaller, -1 and the uncompressed bytes.
  Status append(const void* bytes, int64_t size, std::vector<char>& out);

 private:
  Compression compression_;
  void* context_ = nullptr;  // ZSTD_CCtx
};

}  // namespace strom::format::arrow
