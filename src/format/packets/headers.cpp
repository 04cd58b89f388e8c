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

constexpr uint8_t kIcmpProtocol = 1, kTcpProtocol = 6, kUdpProtocol = 17, kIcmp6Protocol = 58;
constexpr uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kAuthentication = 51, kDestination = 60,
                  kMobility = 135, kHip = 139, kShim = 140;

alignas(64) constexpr uint8_t kZeros[64] = {};

constexpr uint8_t bit(Header header) { return static_cast<uint8_t>(1u << static_cast<int>(header)); }

/// One packet on its way through its headers. `at` moves on; what is behind it is payload in the end.
class Walk {
 public:
  Walk(HeaderTile& tile, int row, const Protocols& protocols, PacketCounts& counts)
      : tile_(tile), row_(row), protocols_(protocols), counts_(counts) {}

  void run(const Packet& packet) {
    at_ = packet.data;
    end_ = packet.data + packet.captured;
    if (packet.link == link::kCooked)
      cooked(packet.ether_type);
    else
      link(packet.link);
    tile_.payload[row_] = {reinterpret_cast<const char*>(at_), end_ - at_};
  }
  uint8_t mask() const { return mask_; }
  bool has_link() const { return has_link_; }
  bool has_ip() const { return has_ip_; }

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
    has_link_ = true;
  }

  void link(uint16_t type);
  void cooked(uint16_t type) {
    set_type(type);
    network(type);
  }
  void ethernet();
  void loopback(uint32_t family);
  void ppp();
  void raw();
  void network(uint16_t type);
  void ipv4();
  void ipv6();
  bool ipv6_extensions(uint8_t& next, bool& is_fragment);
  void transport(uint8_t protocol, bool tcp, bool udp, bool icmp, uint8_t icmp_protocol);
  void tcp();
  void udp();

  HeaderTile& tile_;
  const int row_;
  const Protocols& protocols_;
  PacketCounts& counts_;
  const uint8_t *at_ = nullptr, *end_ = nullptr;
  uint8_t mask_ = 0;
  bool has_link_ = false, has_ip_ = false;
};

void Walk::link(uint16_t type) {
  constexpr int64_t kCooked = 16, kCooked2 = 20, kLoopback = 4, kHdlc = 2;
  switch (type) {
    case link::kEthernet: ethernet(); return;
    case link::kRaw:
    case link::kRawOld:
    case link::kRawOpenBsd: raw(); return;
    case link::kIpv4:
      set_type(kIpv4Type);
      network(kIpv4Type);
      return;
    case link::kIpv6:
      set_type(kIpv6Type);
      network(kIpv6Type);
      return;
    case link::kLinuxSll:
    case link::kLinuxSll2: {
      const bool is_second = type == link::kLinuxSll2;
      if (!need(is_second ? kCooked2 : kCooked, Malformed::kLinkCut)) return;
      const uint16_t protocol = big16(at_ + (is_second ? 0 : 14));
      at_ += is_second ? kCooked2 : kCooked;
      set_type(protocol);
      network(protocol);
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
    default: note(Malformed::kUnknownLink);
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
  }
  set_type(type);
  if (type >= kLeastEtherType) network(type);
}

void Walk::loopback(uint32_t family) {
  constexpr uint32_t kInet = 2, kInet6[] = {10, 23, 24, 28, 30};
  const bool is_six = std::find(std::begin(kInet6), std::end(kInet6), family) != std::end(kInet6);
  if (family != kInet && !is_six) return;
  set_type(is_six ? kIpv6Type : kIpv4Type);
  network(is_six ? kIpv6Type : kIpv4Type);
}

void Walk::ppp() {
  constexpr uint16_t kAddress = 0xFF03, kPppIpv4 = 0x0021, kPppIpv6 = 0x0057;
  if (left() >= 2 && big16(at_) == kAddress) at_ += 2;
  if (!need(2, Malformed::kLinkCut)) return;
  const uint16_t protocol = big16(at_);
  at_ += 2;
  if (protocol != kPppIpv4 && protocol != kPppIpv6) return;
  set_type(protocol == kPppIpv6 ? kIpv6Type : kIpv4Type);
  network(protocol == kPppIpv6 ? kIpv6Type : kIpv4Type);
}

void Walk::raw() {
  if (!need(1, Malformed::kLinkCut)) return;
  const uint16_t type = at_[0] >> 4 == 6 ? kIpv6Type : kIpv4Type;
  set_type(type);
  network(type);
}

void Walk::network(uint16_t type) {
  if (type == kIpv4Type && protocols_.ipv4) ipv4();
  if (type == kIpv6Type && protocols_.ipv6) ipv6();
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
  has_ip_ = true;
  const uint8_t protocol = header[9];
  tile_.protocol[row_] = protocol;
  // A length of 0 is that of a segment which the network card will cut.
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
  transport(protocol, protocols_.tcp4, protocols_.udp4, protocols_.icmp4, kIcmpProtocol);
}

/// False when the chain is not whole. The options are what was passed.
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
  has_ip_ = true;
  at_ += kHeader;
  const int64_t length = big16(header + 4);  // 0: a jumbogram, or a segment to be cut
  if (length != 0 && length < left()) end_ = at_ + length;
  uint8_t next = header[6];
  bool is_fragment = false;
  const bool is_whole = ipv6_extensions(next, is_fragment);
  tile_.protocol[row_] = next;
  if (!is_whole) return note(Malformed::kIp6Extension);
  if (!is_fragment) transport(next, protocols_.tcp6, protocols_.udp6, protocols_.icmp6, kIcmp6Protocol);
}

void Walk::transport(uint8_t protocol, bool has_tcp, bool has_udp, bool has_icmp, uint8_t icmp_protocol) {
  constexpr int64_t kIcmp = 4;  // what all messages have
  if (protocol == kTcpProtocol && has_tcp) {
    tcp();
  } else if (protocol == kUdpProtocol && has_udp) {
    udp();
  } else if (protocol == icmp_protocol && has_icmp) {
    if (!need(kIcmp, Malformed::kIcmpCut)) return;
    set(Header::kIcmp);
    at_ += kIcmp;
  }
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
  const int64_t length = big16(at_ + 4);  // 0: a jumbogram, or a datagram to be cut
  if (length != 0 && length < kHeader) note(Malformed::kUdpLength);
  if (length >= kHeader && length < left()) end_ = at_ + length;
  at_ += kHeader;
}

/// Bit `shift` of each of eight bytes, as a byte.
uint8_t gathered(uint64_t bytes, int shift) {
  return static_cast<uint8_t>(((bytes >> shift & 0x0101010101010101) * 0x0102040810204080) >> 56);
}

/// The bitmap of bit `shift` of `masks`, and how many are set.
int fill_bitmap(const uint8_t* masks, int packets, int shift, uint8_t* bitmap) {
  int count = 0;
  for (int row = 0; row < packets; row += 8) {
    uint8_t bits = gathered(load<uint64_t>(masks + row), shift);
    if (packets - row < 8) bits &= static_cast<uint8_t>((1u << (packets - row)) - 1);
    bitmap[row / 8] = bits;
    count += __builtin_popcount(bits);
  }
  return count;
}

constexpr const char* kMalformedNames[] = {"link_header_cut",     "unknown_link_type",   "ip_header_cut",
                                           "ip_version_mismatch", "ip_header_too_short", "ip_length_wrong",
                                           "ip6_extension_cut",   "tcp_header_cut",      "tcp_header_too_short",
                                           "udp_header_cut",      "udp_length_wrong",    "icmp_header_cut"};
static_assert(std::size(kMalformedNames) == kMalformed);

}  // namespace

const char* malformed_name(Malformed reason) { return kMalformedNames[static_cast<size_t>(reason)]; }

void PacketCounts::add(const PacketCounts& other) {
  packets += other.packets;
  bytes += other.bytes;
  for (size_t i = 0; i < malformed.size(); ++i) malformed[i] += other.malformed[i];
}

int64_t PacketCounts::all_malformed() const { return std::accumulate(malformed.begin(), malformed.end(), int64_t{0}); }

void locate_headers(std::span<const Packet> packets, const Protocols& protocols, HeaderTile& tile,
                    PacketCounts& counts) {
  const int count = static_cast<int>(packets.size());
  tile.packets = count;
  tile.packet = packets.data();
  tile.ip_option_count = tile.ip6_option_count = tile.tcp_option_count = 0;
  for (auto& pointers : tile.at) std::fill_n(pointers, count, kZeros);
  std::memset(tile.no_ip_options, 1, sizeof(tile.no_ip_options));
  std::memset(tile.no_ip6_options, 1, sizeof(tile.no_ip6_options));
  std::memset(tile.no_tcp_options, 1, sizeof(tile.no_tcp_options));
  std::memset(tile.ether_type, 0, sizeof(tile.ether_type));
  std::memset(tile.protocol, 0, sizeof(tile.protocol));
  alignas(8) uint8_t masks[kTilePackets] = {}, others[kTilePackets] = {};
  constexpr uint8_t kLinkBit = 1, kIpBit = 2;
  int64_t bytes = 0;
  for (int row = 0; row < count; ++row) {
    const Packet& packet = packets[static_cast<size_t>(row)];
    Walk walk(tile, row, protocols, counts);
    walk.run(packet);
    masks[row] = walk.mask();
    others[row] = static_cast<uint8_t>((walk.has_link() ? kLinkBit : 0) | (walk.has_ip() ? kIpBit : 0));
    bytes += packet.length;
  }
  counts.packets += count;
  counts.bytes += bytes;
  for (int header = 0; header < kPointers; ++header)
    tile.count[header] = fill_bitmap(masks, count, header, tile.valid[header]);
  const auto fill_other = [&](Header header, int shift) {
    const auto index = static_cast<size_t>(header);
    tile.count[index] = fill_bitmap(others, count, shift, tile.valid[index]);
  };
  fill_other(Header::kLink, 0);
  fill_other(Header::kIp, 1);
  tile.count[static_cast<size_t>(Header::kPacket)] = count;
}

}  // namespace strom::format::packets
