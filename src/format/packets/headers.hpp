// Where the headers of packets are. A tile of packets is taken apart at once: then each column is one loop over the
// tile (packet_columns.hpp). Nothing here trusts a packet: what would lie behind its captured bytes is not there.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "format/packets/packet.hpp"

namespace strom::format::packets {

/// Packets that are taken apart at once: their headers fit in the nearest caches.
inline constexpr int kTilePackets = 256;

/// What a packet may have. The first nine are pointers into it.
enum class Header : uint8_t { kEthernet, kIpv4, kIpv6, kTcp, kUdp, kIcmp, kPorts, kSctp, kArp, kLink, kIp, kPacket };
inline constexpr int kHeaders = 12, kPointers = 9;

/// What is taken apart; the others' bytes are payload.
struct Protocols {
  bool ipv4 = true, ipv6 = true;
  bool tcp4 = true, udp4 = true, icmp4 = true, sctp4 = false;
  bool tcp6 = true, udp6 = true, icmp6 = true, sctp6 = false;
  bool arp = false, mpls = false;
  bool tunnels = false;  // GRE, IP in IP, VXLAN, Geneve: what is inside
};

/// What a packet is wrapped in.
enum class Tunnel : uint8_t { kNone, kGre, kIp, kVxlan, kGeneve };
/// "gre"; nullptr for kNone.
const char* tunnel_name(Tunnel tunnel);

/// Why fields of a packet are NULL although its headers say that it has them.
enum class Malformed : uint8_t {
  kLinkCut,         // the link layer's header is not whole
  kUnknownLink,     // of a link type that is not taken apart
  kIpCut,           // an IP header is not whole
  kIpVersion,       // another version in the IP header than before it
  kIpHeaderLength,  // of less than 20 bytes
  kIpLength,        // the packet is shorter than its IP header, by its own length
  kIp6Extension,    // a header of IPv6 that is not whole, or does not end
  kTcpCut,
  kTcpHeaderLength,  // of less than 20 bytes
  kUdpCut,
  kUdpLength,  // of less than 8 bytes
  kIcmpCut,
  kSctpCut,
  kArpCut,     // also of other hardware than Ethernet
  kMplsCut,    // labels that do not end
  kTunnelCut,  // a tunnel's header that is not whole
};
inline constexpr int kMalformed = 16;
/// As metadata and reports have it: "tcp_header_cut".
const char* malformed_name(Malformed reason);

struct PacketCounts {
  int64_t packets = 0, bytes = 0;  // bytes on the wire
  std::array<int64_t, kMalformed> malformed{};

  void add(const PacketCounts& other);
  int64_t all_malformed() const;
};

/// Bytes of a packet; what ColumnBuilder::append_texts() takes.
struct Bytes {
  const char* ptr = nullptr;
  int64_t len = 0;
};

/// Headers of up to kTilePackets packets.
struct HeaderTile {
  int packets = 0;
  const Packet* packet = nullptr;
  /// By Header; where a packet has not the header, 64 zeros.
  const uint8_t* at[kPointers][kTilePackets];
  /// Which packets have it, as Arrow's validity bitmaps; and how many.
  uint8_t valid[kHeaders][kTilePackets / 8];
  int count[kHeaders];
  uint16_t ether_type[kTilePackets];
  uint8_t protocol[kTilePackets];
  Bytes payload[kTilePackets];
  /// Options: 1 in the flags where there are none.
  Bytes ip_options[kTilePackets], ip6_options[kTilePackets], tcp_options[kTilePackets];
  uint8_t no_ip_options[kTilePackets], no_ip6_options[kTilePackets], no_tcp_options[kTilePackets];
  int ip_option_count = 0, ip6_option_count = 0, tcp_option_count = 0;
  /// VLAN tags of four bytes behind the addresses of Ethernet.
  uint8_t tag_count[kTilePackets];
  /// MPLS: labels of four bytes.
  Bytes labels[kTilePackets];
  /// With Protocols::tunnels: what the packet is wrapped in, the number of the tunnel if it has one, and the headers of
  /// what is inside, which the caller has memory for.
  Tunnel tunnel[kTilePackets];
  uint32_t tunnel_id[kTilePackets];
  uint8_t has_tunnel_id[kTilePackets];
  HeaderTile* inner = nullptr;
};

/// Takes `packets`, at most kTilePackets, apart.
void locate_headers(std::span<const Packet> packets, const Protocols& protocols, HeaderTile& tile,
                    PacketCounts& counts);

}  // namespace strom::format::packets
