// See packet_columns.hpp.
#include "format/packets/packet_columns.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "format/packets/byte_order.hpp"

namespace strom::format::packets {

namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

enum class How : uint8_t {
  kByte,
  kBig16,
  kBig32,
  kBytes,
  kTime,
  kEtherType,
  kInterface,
  kTrafficClass,
  kFlowLabel,
  kProtocol,
  kTcpFlags,
  kIpOptions,
  kIp6Options,
  kTcpOptions,
  kPayload,
};

struct Column {
  const char* name;
  Layout layout;
  int32_t width;
  Header header;
  How how;
  int offset;
};

constexpr Column kColumns[] = {
#define STROM_PACKET_COLUMN(id, name, layout, width, header, how, offset) \
  {name, Layout::layout, width, Header::header, How::how, offset},
#include "format/packets/packet_columns.def"
#undef STROM_PACKET_COLUMN
};

const Column& column_of(ColumnId id) { return kColumns[static_cast<size_t>(id)]; }

bool is_chosen(ColumnId id, const ColumnChoice& choice) {
  const Protocols& protocols = choice.protocols;
  switch (column_of(id).header) {
    case Header::kIpv4: return protocols.ipv4;
    case Header::kIpv6: return protocols.ipv6;
    case Header::kIp: return protocols.ipv4 || protocols.ipv6;
    case Header::kTcp: return protocols.tcp4 || protocols.tcp6;
    case Header::kUdp: return protocols.udp4 || protocols.udp6;
    case Header::kIcmp: return protocols.icmp4 || protocols.icmp6;
    case Header::kPorts: return protocols.tcp4 || protocols.tcp6 || protocols.udp4 || protocols.udp6;
    case Header::kEthernet:
    case Header::kLink:
    case Header::kPacket: break;
  }
  if (id == ColumnId::kPayload) return choice.payload;
  return id != ColumnId::kInterfaceId || choice.interface_id;
}

Field field_of(ColumnId id, const ColumnChoice& choice) {
  const Column& column = column_of(id);
  Field field;
  field.name = column.name;
  field.layout = column.layout;
  field.nullable = column.header != Header::kPacket;
  if (column.layout == Layout::kFixedBinary) {
    constexpr int32_t kMac = 6;
    field.byte_width = column.width;
    field.metadata.emplace_back("pg_type", column.width == kMac ? "pg_catalog.macaddr" : "pg_catalog.inet");
  }
  if (column.how == How::kTime)
    field.unit = choice.nanoseconds ? columnar::TimeUnit::kNano : columnar::TimeUnit::kMicro;
  return field;
}

/// One value of each packet of the tile, zeros where it has none, from `get(row)`.
template <class T, class Get>
void fill(const HeaderTile& tile, uint8_t* out, const Get& get) {
  for (int row = 0; row < tile.packets; ++row) {
    const T value = get(row);
    std::memcpy(out + static_cast<size_t>(row) * sizeof(T), &value, sizeof(T));
  }
}

template <int kWidth>
void copy(const HeaderTile& tile, const uint8_t* const* at, int offset, uint8_t* out) {
  for (int row = 0; row < tile.packets; ++row) {
    std::memcpy(out, at[row] + offset, kWidth);
    out += kWidth;
  }
}

void copy(const HeaderTile& tile, const uint8_t* const* at, const Column& column, uint8_t* out) {
  constexpr int kIpv4 = 4, kMac = 6, kIpv6 = 16;
  switch (column.width) {
    case kIpv4: return copy<kIpv4>(tile, at, column.offset, out);
    case kMac: return copy<kMac>(tile, at, column.offset, out);
    default: return copy<kIpv6>(tile, at, column.offset, out);
  }
}

constexpr int64_t kMicro = 1000;

/// Nanoseconds as microseconds, rounded down also before 1970.
int64_t microseconds(int64_t time) { return time / kMicro - (time % kMicro < 0 ? 1 : 0); }

/// Values of fixed width.
void fill_values(const HeaderTile& tile, const Column& column, const ColumnChoice& choice, uint8_t* out) {
  constexpr uint32_t kLabel = 0xFFFFF;
  constexpr uint16_t kFlags = 0x0FFF;
  const uint8_t* const* at =
      static_cast<int>(column.header) < kPointers ? tile.at[static_cast<int>(column.header)] : nullptr;
  const int offset = column.offset;
  switch (column.how) {
    case How::kByte: return fill<uint8_t>(tile, out, [&](int row) { return at[row][offset]; });
    case How::kBig16: return fill<uint16_t>(tile, out, [&](int row) { return big16(at[row] + offset); });
    case How::kBig32: return fill<uint32_t>(tile, out, [&](int row) { return big32(at[row] + offset); });
    case How::kBytes: return copy(tile, at, column, out);
    case How::kTime:
      if (choice.nanoseconds) return fill<int64_t>(tile, out, [&](int row) { return tile.packet[row].time; });
      return fill<int64_t>(tile, out, [&](int row) { return microseconds(tile.packet[row].time); });
    case How::kEtherType: return fill<uint16_t>(tile, out, [&](int row) { return tile.ether_type[row]; });
    case How::kInterface: return fill<uint32_t>(tile, out, [&](int row) { return tile.packet[row].interface; });
    case How::kTrafficClass:
      return fill<uint8_t>(tile, out, [&](int row) { return static_cast<uint8_t>(big16(at[row]) >> 4); });
    case How::kFlowLabel: return fill<uint32_t>(tile, out, [&](int row) { return big32(at[row]) & kLabel; });
    case How::kProtocol: return fill<uint8_t>(tile, out, [&](int row) { return tile.protocol[row]; });
    case How::kTcpFlags: return fill<uint16_t>(tile, out, [&](int row) { return big16(at[row] + offset) & kFlags; });
    case How::kIpOptions:
    case How::kIp6Options:
    case How::kTcpOptions:
    case How::kPayload: break;
  }
}

constexpr size_t kWidest = 16;
alignas(64) constexpr uint8_t kNoBits[kTilePackets / 8] = {};
/// Values, or offsets, of packets that have nothing of a column.
alignas(64) constexpr uint8_t kNoValues[(kTilePackets + 1) * kWidest] = {};

void append_values(const HeaderTile& tile, const Column& column, const ColumnChoice& choice, ColumnBuilder& builder) {
  const auto header = static_cast<size_t>(column.header);
  if (tile.count[header] == tile.packets)
    return fill_values(tile, column, choice, builder.append_fixed(nullptr, tile.packets));
  if (tile.count[header] == 0) {
    (void)builder.append_rows({kNoBits, kNoValues, nullptr}, 0, tile.packets);
    return;
  }
  alignas(64) uint8_t values[kTilePackets * kWidest];
  fill_values(tile, column, choice, values);
  (void)builder.append_rows({tile.valid[header], values, nullptr}, 0, tile.packets);
}

bool append_options(const HeaderTile& tile, int count, const Bytes* options, const uint8_t* flags,
                    ColumnBuilder& builder) {
  if (count == 0) return builder.append_rows({kNoBits, kNoValues, nullptr}, 0, tile.packets);
  return builder.append_texts(options, count == tile.packets ? nullptr : flags, tile.packets);
}

}  // namespace

Result<Protocols> parse_protocols(const std::vector<std::string>& names) {
  Protocols out{false, false, false, false, false, false, false, false};
  const std::pair<const char*, bool*> known[] = {{"tcp4", &out.tcp4},   {"udp4", &out.udp4}, {"icmp4", &out.icmp4},
                                                 {"ipv4", &out.ipv4},   {"tcp6", &out.tcp6}, {"udp6", &out.udp6},
                                                 {"icmp6", &out.icmp6}, {"ipv6", &out.ipv6}};
  for (const std::string& name : names) {
    const auto* found =
        std::find_if(std::begin(known), std::end(known), [&](const auto& entry) { return name == entry.first; });
    if (found == std::end(known))
      return Status(ErrorCode::kInvalidParameter, "\"" + name + "\" is no protocol")
          .with_hint("There are tcp4, udp4, icmp4, ipv4, tcp6, udp6, icmp6, ipv6.");
    *found->second = true;
  }
  out.ipv4 = out.ipv4 || out.tcp4 || out.udp4 || out.icmp4;
  out.ipv6 = out.ipv6 || out.tcp6 || out.udp6 || out.icmp6;
  return out;
}

PacketColumns::PacketColumns(const ColumnChoice& choice) : choice_(choice) {
  for (size_t i = 0; i < std::size(kColumns); ++i) {
    const auto id = static_cast<ColumnId>(i);
    if (!is_chosen(id, choice)) continue;
    ids_.push_back(id);
    fields_.push_back(field_of(id, choice));
    row_bytes_ += columnar::stored_width(fields_.back());
  }
}

Status PacketColumns::append_tile(std::vector<ColumnBuilder>& columns) {
  bool fits = true;
  for (size_t i = 0; i < ids_.size(); ++i) {
    const Column& column = column_of(ids_[i]);
    ColumnBuilder& builder = columns[i];
    switch (column.how) {
      case How::kIpOptions:
        fits &= append_options(tile_, tile_.ip_option_count, tile_.ip_options, tile_.no_ip_options, builder);
        break;
      case How::kIp6Options:
        fits &= append_options(tile_, tile_.ip6_option_count, tile_.ip6_options, tile_.no_ip6_options, builder);
        break;
      case How::kTcpOptions:
        fits &= append_options(tile_, tile_.tcp_option_count, tile_.tcp_options, tile_.no_tcp_options, builder);
        break;
      case How::kPayload: fits &= builder.append_texts(tile_.payload, nullptr, tile_.packets); break;
      default: append_values(tile_, column, choice_, builder);
    }
  }
  if (fits) return Status::ok();
  return Status(ErrorCode::kOverBudget, "more than 2 GiB of payload in a record batch")
      .with_hint("Make record batches smaller with --chunk-size.");
}

Status PacketColumns::append(std::span<const Packet> packets, std::vector<ColumnBuilder>& columns,
                             PacketCounts& counts) {
  while (!packets.empty()) {
    const size_t count = std::min<size_t>(packets.size(), kTilePackets);
    locate_headers(packets.first(count), choice_.protocols, tile_, counts);
    STROM_TRY(append_tile(columns));
    packets = packets.subspan(count);
  }
  return Status::ok();
}

}  // namespace strom::format::packets
