// Any bytes as a capture file: packets lie in the bytes, columns have a row for each, what is found does not depend on
// the pieces in which the bytes come, and flows add up to the packets.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "format/packets/application.hpp"
#include "format/packets/capture_file.hpp"
#include "format/packets/flows.hpp"
#include "format/packets/packet_columns.hpp"
#include "format/packets/ring_block.hpp"

using namespace strom::format::packets;
using strom::columnar::ColumnBuilder;

namespace {

constexpr size_t kLeastBlock = 48;  // its description

void check(bool condition) {
  if (!condition) __builtin_trap();
}

/// Bytes that are elsewhere each time, with nothing behind them.
struct Exact {
  explicit Exact(std::span<const uint8_t> bytes) : copy(bytes.begin(), bytes.end()) { copy.shrink_to_fit(); }
  std::vector<uint8_t> copy;
};

struct Found {
  int64_t packets = 0, bytes = 0, taken = 0;
  bool is_damaged = false;
  bool operator==(const Found&) const = default;
};

Found convert(std::span<const uint8_t> bytes, size_t step, std::vector<ColumnBuilder>& columns,
              PacketColumns& packets) {
  CaptureScanner scanner("x");
  Found found;
  PacketRun run;
  PacketCounts counts;
  RunLimits limits;
  limits.packets = 100;
  size_t at = 0, size = step;
  for (;;) {
    const Exact piece(bytes.subspan(at, std::min(size, bytes.size() - at)));
    const auto taken = scanner.scan(piece.copy, limits, run);
    if (!taken.is_ok()) {
      found.is_damaged = true;
      break;
    }
    std::vector<Packet> read(run.offsets.size());
    run.read(0, read.size(), read.data());
    for (const Packet& packet : read) {
      check(packet.data >= piece.copy.data());
      check(packet.data + packet.captured <= piece.copy.data() + piece.copy.size());
      found.bytes += packet.captured;
    }
    found.packets += static_cast<int64_t>(read.size());
    check(packets.append(read, columns, counts).is_ok());
    at += static_cast<size_t>(taken.value().bytes);
    size = std::max<size_t>(step, static_cast<size_t>(taken.value().wanted));
    if (read.empty() && taken.value().bytes == 0 && at + piece.copy.size() >= bytes.size()) break;
    if (at == bytes.size()) break;
  }
  if (!found.is_damaged) found.taken = static_cast<int64_t>(at);
  for (const ColumnBuilder& column : columns) check(column.length() == found.packets);
  check(counts.packets == found.packets);
  return found;
}

/// Flows have all packets of IP, whenever they end.
void add_flows(std::span<const uint8_t> bytes) {
  CaptureScanner scanner("x");
  PacketRun run;
  FlowPackets headers{Protocols()};
  FlowTable table({2'000'000'000, 5'000'000'000, 6});
  PacketCounts counts;
  std::vector<FlowPacket> found;
  std::vector<Flow> ended;
  int64_t packets = 0, length = 0;
  for (;;) {
    const auto taken = scanner.scan(bytes, {}, run);
    if (!taken.is_ok() || taken.value().bytes == 0) break;
    std::vector<Packet> read(run.offsets.size());
    run.read(0, read.size(), read.data());
    found.clear();
    headers.append(read, found, counts);
    for (const FlowPacket& packet : found) length += packet.length;
    packets += static_cast<int64_t>(found.size());
    table.add(found, ended);
    bytes = bytes.subspan(static_cast<size_t>(taken.value().bytes));
  }
  table.finish(ended);
  for (const Flow& flow : ended) {
    packets -= flow.packets;
    length -= flow.bytes;
    check(flow.first <= flow.last);
  }
  check(packets == 0 && length == 0);
  std::vector<ColumnBuilder> columns;
  for (const auto& field : flow_fields(true)) columns.emplace_back(field);
  append_flows(ended, true, columns);
  for (const ColumnBuilder& column : columns) check(column.length() == static_cast<int64_t>(ended.size()));
}

/// The same bytes as a block of a live capture.
void read_ring(std::span<const uint8_t> bytes) {
  const Exact block(bytes);
  if (block.copy.size() < kLeastBlock) return;
  std::vector<Packet> packets;
  read_block(block.copy.data(), static_cast<int64_t>(block.copy.size()), {}, packets);
  for (const Packet& packet : packets) {
    check(packet.data >= block.copy.data());
    check(packet.data + packet.captured <= block.copy.data() + block.copy.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ColumnChoice choice = parse_columns({"all"}).value();
  choice.interface_id = choice.composite_options = true;
  PacketColumns packets(choice);
  std::vector<ColumnBuilder> whole, pieces;
  for (const auto& field : packets.fields()) {
    whole.emplace_back(field);
    pieces.emplace_back(field);
  }
  constexpr size_t kStep = 61;
  const Found at_once = convert({data, size}, std::max<size_t>(size, 1), whole, packets);
  const Found by_step = convert({data, size}, kStep, pieces, packets);
  check(at_once == by_step);
  add_flows({data, size});
  read_ring({data, size});
  (void)parse_dns({data, size});
  (void)parse_tls_hello({data, size});
  (void)parse_http({data, size});
  return 0;
}
