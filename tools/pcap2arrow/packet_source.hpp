// Packets as they arrive: one queue of an interface. Live captures read it; behind it are rings of the kernel.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/status.hpp"
#include "format/packets/packet.hpp"

namespace strom::pcap2arrow {

/// Since the last time that it was asked for.
struct SourceCounts {
  int64_t received = 0, dropped = 0;  // dropped: for want of room in the ring
};

/// Used by one thread, but for wake().
class PacketSource {
 public:
  virtual ~PacketSource() = default;
  /// Packets that have come; waits at most `milliseconds` for some. They are good until release(). Errors: kIoError
  /// (the interface has vanished).
  virtual Result<std::span<const format::packets::Packet>> next(int milliseconds) = 0;
  /// The packets of the last next() are done with.
  virtual void release() = 0;
  virtual SourceCounts counts() = 0;
  /// What has come by now is all that is wanted. Called once, after release().
  virtual void mark_end() = 0;
  /// Whether next() has given all of that, after release(). Some more may have come with it.
  virtual bool is_at_end() const = 0;
  /// Ends the waiting of next(), for ever. Any thread.
  virtual void wake() = 0;
};

}  // namespace strom::pcap2arrow
