// See packet_columns.hpp.
#include "format/packets/packet_columns.hpp"

#include <algorithm>
#include <cstring>

#include "format/packets/byte_order.hpp"
#include "format/packets/column_table.hpp"
#include "format/packets/extra_columns.hpp"

namespace strom::format::packets {

namespace {

using columnar::ColumnBuilder;
using columnar::Field;
using columnar::Layout;

/// True when the header is parsed and has columns.
bool has_columns(Header header, const Protocols& protocols) {
  const bool tcp = protocols.tcp4 || protocols.tcp6, udp = protocols.udp4 || protocols.udp6;
  const bool sctp = protocols.sctp4 || protocols.sctp6;
  switch (header) {
    case Header::kIpv4: return protocols.ipv4;
    case Header::kIpv6: return protocols.ipv6;
    case Header::kIp: return protocols.ipv4 || protocols.ipv6;
    case Header::kTcp: return tcp;
    case Header::kUdp: return udp;
    case Header::kIcmp: return protocols.icmp4 || protocols.icmp6;
    case Header::kSctp: return sctp;
    case Header::kPorts: return tcp || udp || sctp;
    case Header::kArp: return protocols.arp;
    case Header::kEthernet:
    case Header::kLink:
    case Header::kPacket: break;
  }
  return true;
}

bool is_chosen(ColumnId id, const ColumnChoice& choice) {
  const Column& column = column_of(id);
  if (column.header != Header::kPacket) return has_columns(column.header, choice.protocols);
  switch (column.how) {
    case How::kInterface: return choice.interface_id;
    case How::kPayload: return choice.payload;
    case How::kVlanIds:
    case How::kVlanPriorities: return choice.vlan;
    case How::kMplsLabels: return choice.protocols.mpls;
    case How::kSctpChunks: return has_columns(Header::kSctp, choice.protocols);
    case How::kTunnelType:
    case How::kTunnelId: return choice.protocols.tunnels;
    case How::kDnsId:
    case How::kDnsResponse:
    case How::kDnsName:
    case How::kDnsType:
    case How::kDnsCode:
    case How::kDnsAddresses: return choice.dns;
    case How::kTlsServer:
    case How::kTlsVersion: return choice.tls;
    case How::kHttpLine:
    case How::kHttpHost: return choice.http;
    default: return true;
  }
}

/// The inner packet of a tunnel gets the columns that packets have themselves.
bool is_chosen_inside(ColumnId id, const ColumnChoice& choice) {
  const Header header = column_of(id).header;
  return choice.protocols.tunnels && header != Header::kPacket && header != Header::kArp && is_chosen(id, choice);
}

bool is_extra(How how) { return how >= How::kVlanIds; }

Field child_of(std::string name, Layout layout) {
  Field field;
  field.name = std::move(name);
  field.layout = layout;
  return field;
}

Field options_of(const char* name) {
  Field option = child_of("item", Layout::kStruct);
  option.children = {child_of("opt_code", Layout::kUInt8), child_of("opt_data", Layout::kBinary)};
  Field field = child_of(name, Layout::kList);
  field.children = {std::move(option)};
  return field;
}

Field field_of(ColumnId id, const ColumnChoice& choice) {
  constexpr int32_t kMac = 6;
  const Column& column = column_of(id);
  if (is_options(column.how) && choice.composite_options) return options_of(column.name);
  Field field = child_of(column.name, column.layout);
  field.nullable = column.how != How::kTime && column.how != How::kInterface && column.how != How::kPayload;
  if (column.layout == Layout::kFixedBinary) {
    field.byte_width = column.width;
    field.metadata.emplace_back("pg_type", column.width == kMac ? "pg_catalog.macaddr" : "pg_catalog.inet");
  }
  if (column.layout == Layout::kList)
    field.children = {
        child_of("item", column.width == 0 ? Layout::kUtf8 : columnar::integer_layout(8 * column.width, false))};
  if (column.how == How::kTime)
    field.unit = choice.nanoseconds ? columnar::TimeUnit::kNano : columnar::TimeUnit::kMicro;
  return field;
}

/// Writes one value for each packet of the tile from `get(row)`, zeros where it has none.
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

/// Writes values of fixed width.
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
    default: break;
  }
}

constexpr size_t kWidest = 16;
alignas(64) constexpr uint8_t kNoBits[kTilePackets / 8] = {};
/// Values, or offsets, for packets without a value in a column.
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

namespace {

struct NamedColumns {
  const char* name;
  void (*choose)(ColumnChoice&);
};

constexpr NamedColumns kNames[] = {
    {"tcp4", [](ColumnChoice& c) { c.protocols.tcp4 = true; }},
    {"udp4", [](ColumnChoice& c) { c.protocols.udp4 = true; }},
    {"icmp4", [](ColumnChoice& c) { c.protocols.icmp4 = true; }},
    {"sctp4", [](ColumnChoice& c) { c.protocols.sctp4 = true; }},
    {"ipv4", [](ColumnChoice& c) { c.protocols.ipv4 = true; }},
    {"tcp6", [](ColumnChoice& c) { c.protocols.tcp6 = true; }},
    {"udp6", [](ColumnChoice& c) { c.protocols.udp6 = true; }},
    {"icmp6", [](ColumnChoice& c) { c.protocols.icmp6 = true; }},
    {"sctp6", [](ColumnChoice& c) { c.protocols.sctp6 = true; }},
    {"ipv6", [](ColumnChoice& c) { c.protocols.ipv6 = true; }},
    {"vlan", [](ColumnChoice& c) { c.vlan = true; }},
    {"mpls", [](ColumnChoice& c) { c.protocols.mpls = true; }},
    {"arp", [](ColumnChoice& c) { c.protocols.arp = true; }},
    {"tunnels", [](ColumnChoice& c) { c.protocols.tunnels = true; }},
    {"dns", [](ColumnChoice& c) { c.dns = true; }},
    {"tls", [](ColumnChoice& c) { c.tls = true; }},
    {"http", [](ColumnChoice& c) { c.http = true; }},
};

bool choose(const std::string& name, ColumnChoice& out) {
  const bool is_default = name == "default", is_all = name == "all";
  bool is_known = is_default || is_all;
  for (const NamedColumns& known : kNames) {
    const std::string_view own = known.name;
    const bool is_wanted = own == name || is_all || (is_default && (own == "tcp4" || own == "udp4" || own == "icmp4"));
    if (!is_wanted) continue;
    known.choose(out);
    is_known = true;
  }
  return is_known;
}

}  // namespace

Result<ColumnChoice> parse_columns(const std::vector<std::string>& names) {
  ColumnChoice out;
  Protocols& p = out.protocols;
  p.ipv4 = p.ipv6 = p.tcp4 = p.udp4 = p.icmp4 = p.tcp6 = p.udp6 = p.icmp6 = false;
  for (const std::string& name : names) {
    if (choose(name, out)) continue;
    std::string all = "default, all";
    for (const NamedColumns& known : kNames) all += std::string(", ") + known.name;
    return Status(ErrorCode::kInvalidParameter, "\"" + name + "\" is no protocol").with_hint("There are " + all + ".");
  }
  const bool has_transport = p.tcp4 || p.tcp6 || p.udp4 || p.udp6;
  if ((out.dns || out.tls || out.http || p.tunnels) && !has_transport) p.tcp4 = p.tcp6 = p.udp4 = p.udp6 = true;
  p.ipv4 = p.ipv4 || p.tcp4 || p.udp4 || p.icmp4 || p.sctp4;
  p.ipv6 = p.ipv6 || p.tcp6 || p.udp6 || p.icmp6 || p.sctp6;
  return out;
}

PacketColumns::PacketColumns(const ColumnChoice& choice)
    : choice_(choice), tile_(std::make_unique<HeaderTile>()), extra_(std::make_unique<ExtraColumns>()) {
  if (choice.protocols.tunnels) {
    inner_ = std::make_unique<HeaderTile>();
    tile_->inner = inner_.get();
  }
  for (size_t i = 0; i < std::size(kColumns); ++i) {
    const auto id = static_cast<ColumnId>(i);
    if (is_chosen(id, choice)) add(id, false);
    if (column_of(id).how != How::kTunnelId) continue;
    for (size_t k = 0; k < std::size(kColumns); ++k) {
      const auto inside = static_cast<ColumnId>(k);
      if (is_chosen_inside(inside, choice)) add(inside, true);
    }
  }
}

PacketColumns::~PacketColumns() = default;

void PacketColumns::add(ColumnId id, bool is_inner) {
  chosen_.push_back({id, is_inner});
  Field field = field_of(id, choice_);
  if (is_inner) field.name = "inner_" + field.name;
  row_bytes_ += columnar::stored_width(field);
  fields_.push_back(std::move(field));
}

bool PacketColumns::append_column(const Chosen& chosen, ColumnBuilder& builder) {
  const HeaderTile& tile = chosen.is_inner ? *inner_ : *tile_;
  const Column& column = column_of(chosen.id);
  if (is_extra(column.how)) return extra_->append(column.how, tile, builder);
  if (is_options(column.how) && choice_.composite_options)
    return ExtraColumns::append_options(column.how, tile, builder);
  switch (column.how) {
    case How::kIpOptions:
      return append_options(tile, tile.ip_option_count, tile.ip_options, tile.no_ip_options, builder);
    case How::kIp6Options:
      return append_options(tile, tile.ip6_option_count, tile.ip6_options, tile.no_ip6_options, builder);
    case How::kTcpOptions:
      return append_options(tile, tile.tcp_option_count, tile.tcp_options, tile.no_tcp_options, builder);
    case How::kPayload: return builder.append_texts(tile.payload, nullptr, tile.packets);
    default: append_values(tile, column, choice_, builder); return true;
  }
}

Status PacketColumns::append_tile(std::vector<ColumnBuilder>& columns) {
  extra_->look_at(*tile_, choice_);
  bool fits = true;
  for (size_t i = 0; i < chosen_.size(); ++i) fits &= append_column(chosen_[i], columns[i]);
  if (fits) return Status::ok();
  return Status(ErrorCode::kOverBudget, "more than 2 GiB of payload in a record batch")
      .with_hint("Make record batches smaller with --chunk-size.");
}

Status PacketColumns::append(std::span<const Packet> packets, std::vector<ColumnBuilder>& columns,
                             PacketCounts& counts) {
  while (!packets.empty()) {
    const size_t count = std::min<size_t>(packets.size(), kTilePackets);
    locate_headers(packets.first(count), choice_.protocols, *tile_, counts);
    STROM_TRY(append_tile(columns));
    packets = packets.subspan(count);
  }
  return Status::ok();
}

}  // namespace strom::format::packets
