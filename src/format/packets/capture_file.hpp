// Files of packets: pcap (both byte orders, microseconds and nanoseconds) and pcapng
// (https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html, draft-ietf-opsawg-pcapng-02.html). A scanner finds
// the packets in bytes that come in pieces. Any thread may then read a run of packets. Used by pcap2arrow.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "format/packets/packet.hpp"
#include "format/packets/record_strands.hpp"

namespace strom::format::packets {

/// Where packets of a file were captured.
struct Interface {
  std::string name;
  uint16_t link = 0;
  uint32_t snap = 0;                        // most bytes of a packet; 0: no limit
  uint64_t multiplier = 1000, divisor = 1;  // from the file's units of time to nanoseconds
  int64_t offset = 0;                       // nanoseconds to add
};

/// The form of a file's records.
struct Framing {
  bool is_pcapng = false;
  bool is_swapped = false;
  uint32_t header = 16;  // bytes before a packet's bytes in a pcap file
};

/// Packets that follow one another in memory. Immutable while it is read.
struct PacketRun {
  Framing framing;
  std::shared_ptr<const std::vector<Interface>> interfaces;
  const uint8_t *begin = nullptr, *end = nullptr;  // offsets are relative to `begin`; all packets lie before `end`
  std::vector<uint32_t> offsets;                   // of records
  int64_t packet_bytes = 0;                        // captured bytes of all packets

  /// Reads packets [first, first + count) into `out`. Packets end before `end`, even if the bytes have changed since
  /// they were scanned.
  void read(size_t first, size_t count, Packet* out) const;
};

/// The limits of a run.
struct RunLimits {
  int64_t packets = std::numeric_limits<int64_t>::max();
  int64_t bytes = std::numeric_limits<int64_t>::max();  // packet_bytes, plus `packet_cost` for each packet
  int64_t packet_cost = 0;
};

/// Finds the packets of one file.
class CaptureScanner {
 public:
  struct Taken {
    int64_t bytes = 0;   // bytes that were taken
    int64_t wanted = 0;  // bytes behind these that the next record needs; 0: a limit was reached, or all is taken
  };

  /// `name`: of the file, for messages.
  explicit CaptureScanner(std::string name) : name_(std::move(name)) {}

  /// Continues at the beginning of `bytes`, which follow the taken ones. Clears and fills `run`. A run has at most 4 GB
  /// of bytes. Errors: kUnsupported (neither pcap nor pcapng), kCorruptFile. Packets before the damage are returned
  /// first, as a run.
  Result<Taken> scan(std::span<const uint8_t> bytes, const RunLimits& limits, PacketRun& run);

  /// True when the beginning of the file was read.
  bool is_open() const { return is_open_; }
  int64_t packets() const { return packets_; }
  int64_t position() const { return position_; }
  /// Packets that the capture has dropped, according to the file.
  int64_t dropped() const { return dropped_; }
  const std::vector<Interface>& interfaces() const { return interfaces_; }

 private:
  struct Window;
  Result<bool> open(Window& window);
  Result<bool> open_pcap(Window& window);
  template <bool kSwapped>
  bool scan_block(Window& window, const RunLimits& limits, PacketRun& run);
  template <bool kSwapped>
  Status scan_pcap(Window& window, const RunLimits& limits, PacketRun& run);
  Status scan_pcapng(Window& window, const RunLimits& limits, PacketRun& run);
  Status take_block(const uint8_t* block, uint32_t type, uint32_t size, int64_t at);
  Status take_section(Window& window, bool& is_taken);
  Status add_interface(const uint8_t* body, uint32_t size);
  void take_statistics(const uint8_t* body, uint32_t size);
  void snapshot(PacketRun& run);
  Status corrupt(const char* what, int64_t at) const;
  template <class T>
  T number(const uint8_t* at) const;

  std::string name_;
  bool is_open_ = false;
  Framing framing_;
  std::vector<Interface> interfaces_;
  std::vector<uint64_t> interface_drops_;
  std::shared_ptr<const std::vector<Interface>> known_;  // interfaces_, for runs
  uint32_t longest_ = 0;                                 // most bytes of a packet in a pcap file
  int64_t position_ = 0, packets_ = 0, dropped_ = 0;
  RecordStrands strands_;
};

}  // namespace strom::format::packets
