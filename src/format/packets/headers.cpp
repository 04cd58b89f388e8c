// See headers.hpp.
#include "format/packets/headers.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "format/packets/byte_order.hpp"

namespace strom::format::packets {

namespace {

constexpr uint16_t kIpv4Type = 0x0800, kIpv6Type = 0x86DD;
constexpr uint16_t kVlan = 0x8100, kServiceVlan = 0x88A8, kOldServiceVlan = 0x9100;
/// Smaller numbers are lengths of IEEE 802.3 frames.
constexpr uint16_t kLeastEtherType = 0x0600;

constexpr uint16_t kArpType = 0x0806, kMplsType = 0x8847, kMplsMulticastType = 0x8848, kBridgedType = 0x6558;

constexpr uint8_t kIcmpProtocol = 1, kIpInIp = 4, kTcpProtocol = 6, kUdpProtocol = 17, kIp6InIp = 41, kGre = 47,
                  kIcmp6Protocol = 58, kSctpProtocol = 132;
constexpr uint16_t kVxlanPort = 4789, kOldVxlanPort = 8472, kGenevePort = 6081;
constexpr uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kAuthentication = 51, kDestination = 60,
                  kMobility = 135, kHip = 139, kShim = 140;

alignas(64) constexpr uint8_t kZeros[64] = {};

constexpr uint16_t bit(Header header) { return static_cast<uint16_t>(1u << static_cast<int>(header)); }

/// The transport protocols that are parsed for one version of IP.
struct Transports {
  bool tcp, udp, icmp, sctp;
  uint8_t icmp_protocol;
};

/// Parses one packet's headers. `at` moves forward; the rest is payload in the end.
class Walk {
 public:
  Walk(HeaderTile& tile, int row, const Protocols& protocols, PacketCounts& counts)
      : tile_(tile), row_(row), protocols_(protocols), counts_(counts) {}

  void run(const Packet& packet) {
    at_ = packet.data;
    end_ = packet.data + packet.captured;
    if (packet.link == link::kCooked)
      typed(packet.ether_type);
    else
      link(packet.link);
    tile_.payload[row_] = {reinterpret_cast<const char*>(at_), end_ - at_};
  }
  /// Bits by Header.
  uint16_t mask() const { return mask_; }
  uint16_t inner_mask() const { return inner_mask_; }

 private:
  int64_t left() const { return end_ - at_; }
  void note(Malformed reason) { ++counts_.malformed[static_cast<size_t>(reason)]; }
  void set(Header header) {
    tile_.at[static_cast<int>(header)][row_] = at_;
    mask_ |= bit(header);
  }
  bool need(int64_t size, Malformed reason) {
    if (left() >= size) return true;
    note(reason);
    return false;
  }
  void set_type(uint16_t type) {
    tile_.ether_type[row_] = type;
    mask_ |= bit(Header::kLink);
  }
  void typed(uint16_t type) {
    set_type(type);
    network(type);
  }
  bool is_inner() const { return tile_.inner == nullptr; }

  void link(uint16_t type);
  void ethernet();
  void loopback(uint32_t family);
  void ppp();
  void raw();
  void network(uint16_t type);
  void arp();
  void mpls();
  void ipv4();
  void ipv6();
  bool ipv6_extensions(uint8_t& next, bool& is_fragment);
  void transport(uint8_t protocol, const Transports& known);
  void tcp();
  void udp();
  void sctp();
  void gre();
  void udp_tunnel(uint16_t port);
  void enter(Tunnel tunnel, int64_t header, uint16_t type);

  HeaderTile& tile_;
  const int row_;
  const Protocols& protocols_;
  PacketCounts& counts_;
  const uint8_t *at_ = nullptr, *end_ = nullptr;
  uint16_t mask_ = 0, inner_mask_ = 0;
};

void Walk::link(uint16_t type) {
  constexpr int64_t kCooked = 16, kCooked2 = 20, kLoopback = 4, kHdlc = 2;
  switch (type) {
    case link::kEthernet: ethernet(); return;
    case link::kRaw:
    case link::kRawOld:
    case link::kRawOpenBsd: raw(); return;
    case link::kIpv4: typed(kIpv4Type); return;
    case link::kIpv6: typed(kIpv6Type); return;
    case link::kLinuxSll:
    case link::kLinuxSll2: {
      const bool is_second = type == link::kLinuxSll2;
      if (!need(is_second ? kCooked2 : kCooked, Malformed::kLinkCut)) return;
      const uint16_t protocol = big16(at_ + (is_second ? 0 : 14));
      at_ += is_second ? kCooked2 : kCooked;
      typed(protocol);
      return;
    }
    case link::kNull:
    case link::kLoop: {
      if (!need(kLoopback, Malformed::kLinkCut)) return;
      const auto family = load<uint32_t>(at_);
      at_ += kLoopback;
      loopback(type == link::kLoop || family > UINT16_MAX ? swapped(family) : family);
      return;
    }
    case link::kPppHdlc:
      if (!need(kHdlc, Malformed::kLinkCut)) return;
      at_ += kHdlc;
      ppp();
      return;
    case link::kPpp: ppp(); return;
    default: note(Malformed::kUnknownLink); ++counts_.unknown_links[type];
  }
}

void Walk::ethernet() {
  constexpr int64_t kAddresses = 12, kHeader = 14, kTag = 4;
  if (!need(kHeader, Malformed::kLinkCut)) return;
  set(Header::kEthernet);
  uint16_t type = big16(at_ + kAddresses);
  at_ += kHeader;
  while (type == kVlan || type == kServiceVlan || type == kOldServiceVlan) {
    if (!need(kTag, Malformed::kLinkCut)) break;
    type = big16(at_ + 2);
    at_ += kTag;
    if (tile_.tag_count[row_] < UINT8_MAX) ++tile_.tag_count[row_];
  }
  set_type(type);
  if (type >= kLeastEtherType) network(type);
}

void Walk::loopback(uint32_t family) {
  constexpr uint32_t kInet = 2, kInet6[] = {10, 23, 24, 28, 30};
  const bool is_six = std::find(std::begin(kInet6), std::end(kInet6), family) != std::end(kInet6);
  if (family != kInet && !is_six) return;
  typed(is_six ? kIpv6Type : kIpv4Type);
}

void Walk::ppp() {
  constexpr uint16_t kAddress = 0xFF03, kPppIpv4 = 0x0021, kPppIpv6 = 0x0057;
  if (left() >= 2 && big16(at_) == kAddress) at_ += 2;
  if (!need(2, Malformed::kLinkCut)) return;
  const uint16_t protocol = big16(at_);
  at_ += 2;
  if (protocol != kPppIpv4 && protocol != kPppIpv6) return;
  typed(protocol == kPppIpv6 ? kIpv6Type : kIpv4Type);
}

void Walk::raw() {
  if (!need(1, Malformed::kLinkCut)) return;
  typed(at_[0] >> 4 == 6 ? kIpv6Type : kIpv4Type);
}

void Walk::network(uint16_t type) {
  if (type == kIpv4Type && protocols_.ipv4) ipv4();
  if (type == kIpv6Type && protocols_.ipv6) ipv6();
  if (type == kArpType && protocols_.arp) arp();
  if ((type == kMplsType || type == kMplsMulticastType) && protocols_.mpls) mpls();
}

void Walk::arp() {
  constexpr int64_t kHeader = 28;
  constexpr uint64_t kEthernetIpv4 = 0x0001080006040000;
  if (!need(kHeader, Malformed::kArpCut)) return;
  if ((load_big<uint64_t>(at_) & ~uint64_t{0xFFFF}) != kEthernetIpv4) return note(Malformed::kArpCut);
  set(Header::kArp);
  at_ += kHeader;
  end_ = at_;  // the rest is padding
}

/// The bytes behind the labels tell their version of IP, if they are IP.
void Walk::mpls() {
  constexpr int64_t kLabel = 4;
  constexpr uint8_t kBottom = 1;
  const uint8_t* begin = at_;
  bool is_bottom = false;
  while (!is_bottom) {
    if (!need(kLabel, Malformed::kMplsCut)) break;
    is_bottom = (at_[2] & kBottom) != 0;
    at_ += kLabel;
  }
  tile_.labels[row_] = {reinterpret_cast<const char*>(begin), at_ - begin};
  if (!is_bottom || left() == 0) return;
  const int version = at_[0] >> 4;
  if (version == 4) network(kIpv4Type);
  if (version == 6) network(kIpv6Type);
}

void Walk::ipv4() {
  constexpr int64_t kHeader = 20;
  constexpr uint16_t kOffsetBits = 0x1FFF;
  if (!need(kHeader, Malformed::kIpCut)) return;
  const uint8_t* header = at_;
  if (header[0] >> 4 != 4) return note(Malformed::kIpVersion);
  const int64_t size = (header[0] & 0x0F) * 4;
  if (size < kHeader) return note(Malformed::kIpHeaderLength);
  set(Header::kIpv4);
  mask_ |= bit(Header::kIp);
  const uint8_t protocol = header[9];
  tile_.protocol[row_] = protocol;
  // A length of 0 is that of a segment that the network card will split.
  const int64_t length = big16(header + 2);
  if (length != 0 && length < size) note(Malformed::kIpLength);
  if (length >= size && length < left()) end_ = header + length;
  if (left() < size) {
    note(Malformed::kIpCut);
    at_ = end_;
    return;
  }
  if (size > kHeader) {
    tile_.ip_options[row_] = {reinterpret_cast<const char*>(header + kHeader), size - kHeader};
    tile_.no_ip_options[row_] = 0;
    ++tile_.ip_option_count;
  }
  at_ = header + size;
  if ((big16(header + 6) & kOffsetBits) != 0) return;  // the header is in the first fragment
  transport(protocol, {protocols_.tcp4, protocols_.udp4, protocols_.icmp4, protocols_.sctp4, kIcmpProtocol});
}

/// False when the chain is incomplete. The passed headers become the options.
bool Walk::ipv6_extensions(uint8_t& next, bool& is_fragment) {
  const uint8_t* begin = at_;
  bool is_whole = true;
  for (;;) {
    const bool is_fixed = next == kFragment;
    if (!is_fixed && next != kHopByHop && next != kRouting && next != kAuthentication && next != kDestination &&
        next != kMobility && next != kHip && next != kShim)
      break;
    if (left() < 8) {
      is_whole = false;
      break;
    }
    const int64_t size = is_fixed ? 8 : next == kAuthentication ? (at_[1] + 2) * 4 : (at_[1] + 1) * 8;
    if (left() < size) {
      is_whole = false;
      break;
    }
    if (is_fixed && (big16(at_ + 2) & 0xFFF8) != 0) is_fragment = true;
    next = at_[0];
    at_ += size;
    if (is_fragment) break;
  }
  if (at_ > begin) {
    tile_.ip6_options[row_] = {reinterpret_cast<const char*>(begin), at_ - begin};
    tile_.no_ip6_options[row_] = 0;
    ++tile_.ip6_option_count;
  }
  return is_whole;
}

void Walk::ipv6() {
  constexpr int64_t kHeader = 40;
  if (!need(kHeader, Malformed::kIpCut)) return;
  const uint8_t* header = at_;
  if (header[0] >> 4 != 6) return note(Malformed::kIpVersion);
  set(Header::kIpv6);
  mask_ |= bit(Header::kIp);
  at_ += kHeader;
  const int64_t length = big16(header + 4);  // 0: a jumbogram, or a segment that will be split
  if (length != 0 && length < left()) end_ = at_ + length;
  uint8_t next = header[6];
  bool is_fragment = false;
  const bool is_whole = ipv6_extensions(next, is_fragment);
  tile_.protocol[row_] = next;
  if (!is_whole) return note(Malformed::kIp6Extension);
  if (is_fragment) return;
  transport(next, {protocols_.tcp6, protocols_.udp6, protocols_.icmp6, protocols_.sctp6, kIcmp6Protocol});
}

void Walk::transport(uint8_t protocol, const Transports& known) {
  constexpr int64_t kIcmp = 4;  // common to all messages
  if (protocol == kTcpProtocol) {
    if (known.tcp) tcp();
  } else if (protocol == kUdpProtocol) {
    if (known.udp) udp();
  } else if (protocol == known.icmp_protocol) {
    if (!known.icmp || !need(kIcmp, Malformed::kIcmpCut)) return;
    set(Header::kIcmp);
    at_ += kIcmp;
  } else if (protocol == kSctpProtocol) {
    if (known.sctp) sctp();
  } else if (protocols_.tunnels && !is_inner()) {
    if (protocol == kGre) gre();
    if (protocol == kIpInIp) enter(Tunnel::kIp, 0, kIpv4Type);
    if (protocol == kIp6InIp) enter(Tunnel::kIp, 0, kIpv6Type);
  }
}

void Walk::sctp() {
  constexpr int64_t kHeader = 12;
  if (!need(kHeader, Malformed::kSctpCut)) return;
  set(Header::kSctp);
  set(Header::kPorts);
  at_ += kHeader;
}

/// Begins the inner packet behind `header` bytes: an Ethernet frame, or another type.
void Walk::enter(Tunnel tunnel, int64_t header, uint16_t type) {
  tile_.tunnel[row_] = tunnel;
  Packet packet;
  packet.data = at_ + header;
  packet.captured = static_cast<uint32_t>(left() - header);
  packet.link = type == kBridgedType ? link::kEthernet : link::kCooked;
  packet.ether_type = type;
  Walk inner(*tile_.inner, row_, protocols_, counts_);
  inner.run(packet);
  inner_mask_ = inner.mask();
  at_ = inner.at_;
  end_ = inner.end_;
}

void Walk::gre() {
  constexpr int64_t kFixed = 4, kField = 4;
  constexpr uint16_t kChecksum = 0x8000, kKey = 0x2000, kSequence = 0x1000, kAcknowledgement = 0x0080, kVersion = 7;
  constexpr uint16_t kPpp = 0x880B;
  if (!need(kFixed, Malformed::kTunnelCut)) return;
  const uint16_t flags = big16(at_), type = big16(at_ + 2);
  const bool is_pptp = (flags & kVersion) == 1 && type == kPpp;
  if ((flags & kVersion) != 0 && !is_pptp) return note(Malformed::kTunnelCut);
  int64_t size = kFixed;
  const auto add_field = [&](uint16_t flag) {
    const int64_t at = size;
    if ((flags & flag) != 0) size += kField;
    return at;
  };
  add_field(kChecksum);
  const int64_t key = add_field(kKey);
  add_field(kSequence);
  if (is_pptp) add_field(kAcknowledgement);
  if (!need(size, Malformed::kTunnelCut)) return;
  if ((flags & kKey) != 0) {
    tile_.tunnel_id[row_] = big32(at_ + key);
    tile_.has_tunnel_id[row_] = 1;
  }
  enter(Tunnel::kGre, size, type);
}

/// VXLAN (RFC 7348) and Geneve (RFC 8926), by their ports.
void Walk::udp_tunnel(uint16_t port) {
  constexpr int64_t kHeader = 8, kOption = 4;
  constexpr uint8_t kHasNumber = 0x08, kOptions = 0x3F;
  const bool is_vxlan = port == kVxlanPort || port == kOldVxlanPort;
  if (!is_vxlan && port != kGenevePort) return;
  if (!need(kHeader, Malformed::kTunnelCut)) return;
  if (is_vxlan && (at_[0] & kHasNumber) == 0) return note(Malformed::kTunnelCut);
  const int64_t size = kHeader + (is_vxlan ? 0 : (at_[0] & kOptions) * kOption);
  if (!need(size, Malformed::kTunnelCut)) return;
  tile_.tunnel_id[row_] = big32(at_ + 4) >> 8;
  tile_.has_tunnel_id[row_] = 1;
  enter(is_vxlan ? Tunnel::kVxlan : Tunnel::kGeneve, size, is_vxlan ? kBridgedType : big16(at_ + 2));
}

void Walk::tcp() {
  constexpr int64_t kHeader = 20;
  if (!need(kHeader, Malformed::kTcpCut)) return;
  set(Header::kTcp);
  set(Header::kPorts);
  const uint8_t* header = at_;
  const int64_t size = (header[12] >> 4) * 4;
  if (size < kHeader) {
    note(Malformed::kTcpHeaderLength);
    at_ += kHeader;
    return;
  }
  if (left() < size) {
    note(Malformed::kTcpCut);
    at_ = end_;
    return;
  }
  if (size > kHeader) {
    tile_.tcp_options[row_] = {reinterpret_cast<const char*>(header + kHeader), size - kHeader};
    tile_.no_tcp_options[row_] = 0;
    ++tile_.tcp_option_count;
  }
  at_ += size;
}

void Walk::udp() {
  constexpr int64_t kHeader = 8;
  if (!need(kHeader, Malformed::kUdpCut)) return;
  set(Header::kUdp);
  set(Header::kPorts);
  const int64_t length = big16(at_ + 4);  // 0: a jumbogram, or a datagram that will be split
  if (length != 0 && length < kHeader) note(Malformed::kUdpLength);
  if (length >= kHeader && length < left()) end_ = at_ + length;
  const uint16_t port = big16(at_ + 2);
  at_ += kHeader;
  if (protocols_.tunnels && !is_inner()) udp_tunnel(port);
}

/// Writes bit `shift` of `masks` as a bitmap, and returns how many bits are set.
int fill_bitmap(const uint8_t* masks, int packets, int shift, uint8_t* bitmap) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t count = 0;
  for (int row = 0; row < packets; row += 8) {
    uint64_t bytes = load<uint64_t>(masks + row) >> shift & kOnes;
    if (packets - row < 8) bytes &= (uint64_t{1} << 8 * (packets - row)) - 1;
    bitmap[row / 8] = static_cast<uint8_t>(bytes * 0x0102040810204080 >> 56);  // the first byte's bit lowest
    count += bytes * kOnes >> 56;
  }
  return static_cast<int>(count);
}

constexpr const char* kMalformedNames[] = {
    "link_header_cut",      "unknown_link_type", "ip_header_cut",     "ip_version_mismatch",
    "ip_header_too_short",  "ip_length_wrong",   "ip6_extension_cut", "tcp_header_cut",
    "tcp_header_too_short", "udp_header_cut",    "udp_length_wrong",  "icmp_header_cut",
    "sctp_header_cut",      "arp_other_or_cut",  "mpls_labels_cut",   "tunnel_header_cut"};
static_assert(std::size(kMalformedNames) == kMalformed);

}  // namespace

const char* tunnel_name(Tunnel tunnel) {
  switch (tunnel) {
    case Tunnel::kGre: return "gre";
    case Tunnel::kIp: return "ip";
    case Tunnel::kVxlan: return "vxlan";
    case Tunnel::kGeneve: return "geneve";
    case Tunnel::kNone: break;
  }
  return nullptr;
}

const char* malformed_name(Malformed reason) { return kMalformedNames[static_cast<size_t>(reason)]; }

void PacketCounts::add(const PacketCounts& other) {
  packets += other.packets;
  bytes += other.bytes;
  for (size_t i = 0; i < malformed.size(); ++i) malformed[i] += other.malformed[i];
  for (const auto& [type, count] : other.unknown_links) unknown_links[type] += count;
}

int64_t PacketCounts::all_malformed() const { return std::accumulate(malformed.begin(), malformed.end(), int64_t{0}); }

namespace {

/// Called before packets are parsed.
void prepare(int packets, HeaderTile& tile) {
  tile.packets = packets;
  tile.ip_option_count = tile.ip6_option_count = tile.tcp_option_count = 0;
  for (auto& pointers : tile.at) std::fill_n(pointers, packets, kZeros);
  std::memset(tile.no_ip_options, 1, sizeof(tile.no_ip_options));
  std::memset(tile.no_ip6_options, 1, sizeof(tile.no_ip6_options));
  std::memset(tile.no_tcp_options, 1, sizeof(tile.no_tcp_options));
  std::memset(tile.ether_type, 0, sizeof(tile.ether_type));
  std::memset(tile.protocol, 0, sizeof(tile.protocol));
  std::memset(tile.tag_count, 0, sizeof(tile.tag_count));
}

/// Writes a bitmap for each header. `low` and `high` have the lower and upper eight bits of each packet's mask.
void fill_bitmaps(const uint8_t* low, const uint8_t* high, HeaderTile& tile) {
  constexpr int kBits = 8;
  for (int header = 0; header < kHeaders - 1; ++header) {
    const uint8_t* masks = header < kBits ? low : high;
    tile.count[header] = fill_bitmap(masks, tile.packets, header % kBits, tile.valid[header]);
  }
  tile.count[static_cast<size_t>(Header::kPacket)] = tile.packets;
}

}  // namespace

void locate_headers(std::span<const Packet> packets, const Protocols& protocols, HeaderTile& tile,
                    PacketCounts& counts) {
  constexpr int kBits = 8;
  const int count = static_cast<int>(packets.size());
  prepare(count, tile);
  tile.packet = packets.data();
  const bool has_inner = protocols.tunnels && tile.inner != nullptr;
  if (has_inner) {
    prepare(count, *tile.inner);
    tile.inner->packet = packets.data();
    std::fill_n(tile.tunnel, count, Tunnel::kNone);
    std::fill_n(tile.has_tunnel_id, count, uint8_t{0});
  }
  if (protocols.mpls) {
    std::fill_n(tile.labels, count, Bytes{});
    if (has_inner) std::fill_n(tile.inner->labels, count, Bytes{});
  }
  alignas(8) uint8_t low[kTilePackets], high[kTilePackets], inner_low[kTilePackets], inner_high[kTilePackets];
  int64_t bytes = 0;
  for (int row = 0; row < count; ++row) {
    const Packet& packet = packets[static_cast<size_t>(row)];
    Walk walk(tile, row, protocols, counts);
    walk.run(packet);
    low[row] = static_cast<uint8_t>(walk.mask());
    high[row] = static_cast<uint8_t>(walk.mask() >> kBits);
    if (has_inner) {
      inner_low[row] = static_cast<uint8_t>(walk.inner_mask());
      inner_high[row] = static_cast<uint8_t>(walk.inner_mask() >> kBits);
    }
    bytes += packet.length;
  }
  counts.packets += count;
  counts.bytes += bytes;
  fill_bitmaps(low, high, tile);
  if (has_inner) fill_bitmaps(inner_low, inner_high, *tile.inner);
}

}  // namespace strom::format::packets
