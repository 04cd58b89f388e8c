// Flows: consecutive packets with the same addresses, ports and protocol become one row. Used by pcap2arrow.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "columnar/builder.hpp"
#include "columnar/schema.hpp"
#include "format/packets/headers.hpp"
#include "format/packets/packet_columns.hpp"

namespace strom::format::packets {

/// Identifies a packet's flow. Without padding, so that bytes can be compared. Ports are 0 where there are none.
struct FlowKey {
  std::array<uint8_t, 16> source{}, target{};  // IPv4: the first four bytes
  uint16_t source_port = 0, target_port = 0;
  uint8_t version = 0, protocol = 0;  // version: of IP
  uint16_t unused = 0;
  bool operator==(const FlowKey&) const = default;
};
static_assert(sizeof(FlowKey) == 40);

struct FlowPacket {
  FlowKey key;
  int64_t time = 0;     // nanoseconds
  uint32_t length = 0;  // on the wire
  uint16_t flags = 0;   // of TCP
};

struct Flow {
  FlowKey key;
  int64_t first = 0, last = 0;  // nanoseconds
  int64_t packets = 0, bytes = 0;
  uint16_t flags = 0;  // of all packets
};

/// Finds the data that flows need of packets. Each thread has its own.
class FlowPackets {
 public:
  explicit FlowPackets(const Protocols& protocols);
  /// Appends the IP packets to `out`.
  void append(std::span<const Packet> packets, std::vector<FlowPacket>& out, PacketCounts& counts);

 private:
  const Protocols protocols_;
  std::unique_ptr<HeaderTile> tile_;
};

/// When a flow ends: some time after its last packet or its first one, or when there are too many flows.
struct FlowLimits {
  int64_t idle = 60'000'000'000, active = 1'800'000'000'000;  // nanoseconds
  size_t flows = size_t{1} << 20;
};

/// The active flows. Not thread-safe.
class FlowTable {
 public:
  explicit FlowTable(const FlowLimits& limits);

  /// Adds packets, roughly in order of time. Flows that end are appended to `ended`.
  void add(std::span<const FlowPacket> packets, std::vector<Flow>& ended);
  /// Ends flows that have had no packets within the idle time before `time`.
  void sweep(int64_t time, std::vector<Flow>& ended);
  /// Ends all flows.
  void finish(std::vector<Flow>& ended);
  size_t size() const { return flows_.size(); }

 private:
  size_t slot_of(const FlowKey& key) const;
  void add(const FlowPacket& packet, std::vector<Flow>& ended);
  void end_those_before(int64_t last, std::vector<Flow>& ended);
  void make_room(std::vector<Flow>& ended);
  void rebuild();

  const FlowLimits limits_;
  std::vector<Flow> flows_;
  std::vector<uint32_t> slots_;  // indexes of flows plus 1; 0: empty. A power of two, at most half full
  int64_t newest_ = INT64_MIN, swept_ = INT64_MIN;
};

/// Columns of flows: first_seen, last_seen, protocol, addresses, ports, packets, bytes, tcp_flags.
std::vector<columnar::Field> flow_fields(bool nanoseconds);
void append_flows(std::span<const Flow> flows, bool nanoseconds, std::vector<columnar::ColumnBuilder>& columns);

}  // namespace strom::format::packets
