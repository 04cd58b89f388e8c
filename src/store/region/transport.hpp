// How a published region is read where it is not mapped: pieces of it, by whatever carries them. docs/dev/store.md says
// which transports there are. Implemented by src/kv, used by far_reader.hpp.
#pragma once

#include <cstdint>
#include <span>

namespace strom::store::region {

/// Bytes of a region, and where they go.
struct Piece {
  uint64_t offset;
  uint32_t bytes;
  void* to;
};

/// What became of a read.
enum class Reach : uint8_t {
  kDone,
  kMoved,    // another region has taken the place of this one
  kDropped,  // the table is gone, or has no published region any more
  kDenied,   // the right to read is gone
  kBusy,     // the table is locked for the moment
  kSilent,   // no answer came in time
  kFailed,   // the connection is gone, or cannot be understood
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// Reads all pieces, in one round trip where the transport can, in any order. Bytes that are none of the region's are
  /// zeros. What is read may be torn. Threads may call it at once. May throw
  /// std::bad_alloc.
  virtual Reach read(std::span<const Piece> pieces) = 0;

  /// How long an answer may take; 0 = for ever.
  virtual void set_patience(unsigned milliseconds) = 0;
};

}  // namespace strom::store::region
