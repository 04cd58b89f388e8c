// Reads pieces of a published region that is not mapped. docs/dev/store.md lists the transports. Implemented by src/kv,
// used by far_reader.hpp.
#pragma once

#include <cstdint>
#include <span>

namespace strom::store::region {

/// A range of bytes of a region, and the destination.
struct Piece {
  uint64_t offset;
  uint32_t bytes;
  void* to;
};

/// The result of a read.
enum class Reach : uint8_t {
  kDone,
  kMoved,    // another region has replaced this one
  kDropped,  // the table is gone, or has no published region any more
  kDenied,   // the right to read is gone
  kBusy,     // the table is locked at the moment
  kSilent,   // no answer came in time
  kFailed,   // the connection is gone or unusable
};

class Transport {
 public:
  virtual ~Transport() = default;

  /// Reads all pieces in any order; in one round trip if the transport can. Bytes outside of the region read as zeros.
  /// The result may be torn. Several threads may call it at once. May throw std::bad_alloc.
  virtual Reach read(std::span<const Piece> pieces) = 0;

  /// Sets how long to wait for an answer; 0 = for ever.
  virtual void set_patience(unsigned milliseconds) = 0;
};

}  // namespace strom::store::region
