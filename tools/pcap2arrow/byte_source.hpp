// Bytes of a capture file, wherever they come from: a mapped file, a pipe, a compressed file.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/status.hpp"
#include "columnar/builder.hpp"

namespace strom::pcap2arrow {

/// What holds bytes as long as somebody works on them.
struct HeldBytes {
  std::shared_ptr<const void> mapped;  // a file,
  columnar::ByteBuffer buffer;         // or what was read
};

/// Used by one thread at a time.
class ByteSource {
 public:
  /// "-": standard input. `step`: bytes that are read at once. Errors: kFileNotFound and the like, kInvalidParameter
  /// (standard input is a terminal, or was read before).
  static Result<std::unique_ptr<ByteSource>> open(const std::string& path, int64_t step);
  virtual ~ByteSource() = default;

  /// The bytes that follow those that were taken, at least `wanted` unless the file ends before. They are good as long
  /// as `held` is not filled again.
  virtual Result<std::span<const uint8_t>> bytes(HeldBytes& held, int64_t wanted) = 0;
  /// `size` bytes of the last bytes() are done with.
  virtual void take(int64_t size) = 0;
  /// Bytes of the file itself that were taken, which may be compressed.
  virtual int64_t position() const = 0;
  /// Of the file itself; 0: not known.
  virtual int64_t size() const = 0;
  /// Whether the file has stayed as it was.
  virtual Status check() const { return Status::ok(); }
};

}  // namespace strom::pcap2arrow
