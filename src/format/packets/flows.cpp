// See flows.hpp.
#include "format/packets/flows.hpp"

#include <algorithm>
#include <cstring>

#include "format/packets/byte_order.hpp"

namespace strom::format::packets {

namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

uint64_t hash_of(const FlowKey& key) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  uint64_t hash = 0;
  std::array<uint64_t, sizeof(FlowKey) / sizeof(uint64_t)> words;
  std::memcpy(words.data(), &key, sizeof(key));
  for (const uint64_t word : words) {
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  }
  return hash;
}

bool has(const HeaderTile& tile, Header header, int row) {
  return (tile.valid[static_cast<size_t>(header)][row / 8] >> (row % 8) & 1) != 0;
}

const uint8_t* header_of(const HeaderTile& tile, Header header, int row) {
  return tile.at[static_cast<size_t>(header)][row];
}

FlowPacket packet_of(const HeaderTile& tile, int row) {
  constexpr int kIpv4 = 4, kIpv6 = 6, kSource4 = 12, kSource6 = 8, kAddress4 = 4, kAddress6 = 16, kFlags = 12;
  FlowPacket out;
  FlowKey& key = out.key;
  const bool is_six = has(tile, Header::kIpv6, row);
  const uint8_t* ip = header_of(tile, is_six ? Header::kIpv6 : Header::kIpv4, row) + (is_six ? kSource6 : kSource4);
  const int size = is_six ? kAddress6 : kAddress4;
  std::memcpy(key.source.data(), ip, static_cast<size_t>(size));
  std::memcpy(key.target.data(), ip + size, static_cast<size_t>(size));
  key.version = is_six ? kIpv6 : kIpv4;
  key.protocol = tile.protocol[row];
  const uint8_t* ports = header_of(tile, Header::kPorts, row);  // zeros where there are none
  key.source_port = big16(ports);
  key.target_port = big16(ports + 2);
  out.flags = big16(header_of(tile, Header::kTcp, row) + kFlags) & 0x0FFF;
  out.time = tile.packet[row].time;
  out.length = tile.packet[row].length;
  return out;
}

/// Nanoseconds between two times, which may be at any distance.
int64_t minus(int64_t time, int64_t other) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(time, other, &difference)) return difference;
  return time < other ? INT64_MIN : INT64_MAX;
}

}  // namespace

FlowPackets::FlowPackets(const Protocols& protocols) : protocols_(protocols), tile_(std::make_unique<HeaderTile>()) {}

void FlowPackets::append(std::span<const Packet> packets, std::vector<FlowPacket>& out, PacketCounts& counts) {
  while (!packets.empty()) {
    const size_t count = std::min<size_t>(packets.size(), kTilePackets);
    locate_headers(packets.first(count), protocols_, *tile_, counts);
    for (int row = 0; row < tile_->packets; ++row)
      if (has(*tile_, Header::kIp, row)) out.push_back(packet_of(*tile_, row));
    packets = packets.subspan(count);
  }
}

FlowTable::FlowTable(const FlowLimits& limits) : limits_(limits), slots_(1024) {}

/// Where the flow is, or the empty slot for it.
size_t FlowTable::slot_of(const FlowKey& key) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash_of(key) & mask;
  while (slots_[at] != 0 && !(flows_[slots_[at] - 1].key == key)) at = (at + 1) & mask;
  return at;
}

void FlowTable::rebuild() {
  size_t size = slots_.size();
  while (size < 2 * flows_.size() + 2) size *= 2;
  slots_.assign(size, 0);
  for (size_t i = 0; i < flows_.size(); ++i) slots_[slot_of(flows_[i].key)] = static_cast<uint32_t>(i + 1);
}

void FlowTable::end_those_before(int64_t last, std::vector<Flow>& ended) {
  const auto middle =
      std::stable_partition(flows_.begin(), flows_.end(), [&](const Flow& f) { return f.last >= last; });
  if (middle == flows_.end()) return;
  ended.insert(ended.end(), middle, flows_.end());
  flows_.erase(middle, flows_.end());
  rebuild();
}

void FlowTable::sweep(int64_t time, std::vector<Flow>& ended) {
  swept_ = time;
  end_those_before(minus(time, limits_.idle), ended);
}

/// Ends the quarter of the flows that has had no packets for the longest time.
void FlowTable::make_room(std::vector<Flow>& ended) {
  std::vector<int64_t> times(flows_.size());
  std::transform(flows_.begin(), flows_.end(), times.begin(), [](const Flow& flow) { return flow.last; });
  const auto quarter = times.begin() + static_cast<ptrdiff_t>(times.size() / 4);
  std::nth_element(times.begin(), quarter, times.end());
  end_those_before(*quarter, ended);
  if (flows_.size() >= limits_.flows) finish(ended);  // all have the same time
}

void FlowTable::add(const FlowPacket& packet, std::vector<Flow>& ended) {
  size_t slot = slot_of(packet.key);
  if (slots_[slot] != 0) {
    Flow& flow = flows_[slots_[slot] - 1];
    const bool is_over =
        minus(packet.time, flow.last) > limits_.idle || minus(packet.time, flow.first) > limits_.active;
    if (is_over) {
      ended.push_back(flow);
      flow = {packet.key, packet.time, packet.time};
    }
    flow.first = std::min(flow.first, packet.time);
    flow.last = std::max(flow.last, packet.time);
    ++flow.packets;
    flow.bytes += packet.length;
    flow.flags |= packet.flags;
    return;
  }
  if (flows_.size() >= limits_.flows) make_room(ended);
  flows_.push_back({packet.key, packet.time, packet.time, 1, packet.length, packet.flags});
  if (2 * flows_.size() >= slots_.size()) {
    rebuild();
  } else {
    slot = slot_of(packet.key);
    slots_[slot] = static_cast<uint32_t>(flows_.size());
  }
}

void FlowTable::add(std::span<const FlowPacket> packets, std::vector<Flow>& ended) {
  constexpr int kSweeps = 4;  // during an idle time
  for (const FlowPacket& packet : packets) {
    newest_ = std::max(newest_, packet.time);
    add(packet, ended);
    if (swept_ == INT64_MIN) swept_ = newest_;
    if (minus(newest_, swept_) >= limits_.idle / kSweeps) sweep(newest_, ended);
  }
}

void FlowTable::finish(std::vector<Flow>& ended) {
  ended.insert(ended.end(), flows_.begin(), flows_.end());
  flows_.clear();
  std::fill(slots_.begin(), slots_.end(), 0);
}

std::vector<Field> flow_fields(bool nanoseconds) {
  std::vector<Field> out;
  const auto add = [&](const char* name, Layout layout, int32_t width = 0) -> Field& {
    Field field;
    field.name = name;
    field.layout = layout;
    field.byte_width = width;
    field.nullable = false;
    if (layout == Layout::kFixedBinary) field.metadata.emplace_back("pg_type", "pg_catalog.inet");
    if (layout == Layout::kTimestamp) field.unit = nanoseconds ? columnar::TimeUnit::kNano : columnar::TimeUnit::kMicro;
    out.push_back(std::move(field));
    return out.back();
  };
  add("first_seen", Layout::kTimestamp);
  add("last_seen", Layout::kTimestamp);
  add("protocol", Layout::kUInt8);
  for (const char* name : {"src_addr", "dst_addr"}) add(name, Layout::kFixedBinary, 4).nullable = true;
  for (const char* name : {"src_addr6", "dst_addr6"}) add(name, Layout::kFixedBinary, 16).nullable = true;
  for (const char* name : {"src_port", "dst_port"}) add(name, Layout::kUInt16).nullable = true;
  add("packets", Layout::kInt64);
  add("bytes", Layout::kInt64);
  add("tcp_flags", Layout::kUInt16).nullable = true;
  return out;
}

namespace {

void append_address(bool is_there, const std::array<uint8_t, 16>& address, size_t size, ColumnBuilder& column) {
  if (is_there)
    std::memcpy(column.append_fixed(), address.data(), size);
  else
    column.append_null();
}

template <class T>
void append_if(bool is_there, T value, ColumnBuilder& column) {
  if (is_there)
    column.append(value);
  else
    column.append_null();
}

}  // namespace

void append_flows(std::span<const Flow> flows, bool nanoseconds, std::vector<ColumnBuilder>& columns) {
  constexpr uint8_t kTcp = 6, kUdp = 17, kSctp = 132;
  constexpr size_t kAddress4 = 4, kAddress6 = 16;
  constexpr int kIpv6 = 6;
  for (const Flow& flow : flows) {
    const FlowKey& key = flow.key;
    size_t at = 0;
    const auto next = [&]() -> ColumnBuilder& { return columns[at++]; };
    const bool is_six = key.version == kIpv6;
    const bool has_ports = key.protocol == kTcp || key.protocol == kUdp || key.protocol == kSctp;
    next().append(nanoseconds ? flow.first : microseconds(flow.first));
    next().append(nanoseconds ? flow.last : microseconds(flow.last));
    next().append(key.protocol);
    append_address(!is_six, key.source, kAddress4, next());
    append_address(!is_six, key.target, kAddress4, next());
    append_address(is_six, key.source, kAddress6, next());
    append_address(is_six, key.target, kAddress6, next());
    append_if(has_ports, key.source_port, next());
    append_if(has_ports, key.target_port, next());
    next().append(flow.packets);
    next().append(flow.bytes);
    append_if(key.protocol == kTcp, flow.flags, next());
  }
}

}  // namespace strom::format::packets
