// Finds the headers of packets. A tile of packets is parsed at once; then each column is one loop over the tile
// (packet_columns.hpp). No packet is trusted: bytes beyond the captured ones count as missing.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>

#include "format/packets/packet.hpp"

namespace strom::format::packets {

/// Packets that are parsed at once: their headers fit the nearest caches.
inline constexpr int kTilePackets = 256;

/// Headers of a packet. The first nine have pointers into it.
enum class Header : uint8_t { kEthernet, kIpv4, kIpv6, kTcp, kUdp, kIcmp, kPorts, kSctp, kArp, kLink, kIp, kPacket };
inline constexpr int kHeaders = 12, kPointers = 9;

/// Protocols that are parsed; the bytes of others are payload.
struct Protocols {
  bool ipv4 = true, ipv6 = true;
  bool tcp4 = true, udp4 = true, icmp4 = true, sctp4 = false;
  bool tcp6 = true, udp6 = true, icmp6 = true, sctp6 = false;
  bool arp = false, mpls = false;
  bool tunnels = false;  // parses the inner packets of GRE, IP in IP, VXLAN, Geneve
};

/// The tunnel that a packet is in.
enum class Tunnel : uint8_t { kNone, kGre, kIp, kVxlan, kGeneve };
/// "gre"; nullptr for kNone.
const char* tunnel_name(Tunnel tunnel);

/// Why fields of a packet are NULL although its headers announce them.
enum class Malformed : uint8_t {
  kLinkCut,         // the link layer's header is incomplete
  kUnknownLink,     // the link type is not parsed
  kIpCut,           // an IP header is incomplete
  kIpVersion,       // the IP header's version differs from the type before it
  kIpHeaderLength,  // less than 20 bytes
  kIpLength,        // the packet is shorter than its IP header says
  kIp6Extension,    // an IPv6 header that is incomplete, or a chain without end
  kTcpCut,
  kTcpHeaderLength,  // less than 20 bytes
  kUdpCut,
  kUdpLength,  // less than 8 bytes
  kIcmpCut,
  kSctpCut,
  kArpCut,     // also for other hardware than Ethernet
  kMplsCut,    // labels that do not end
  kTunnelCut,  // a tunnel's header is incomplete
};
inline constexpr int kMalformed = 16;
/// The name in metadata and reports: "tcp_header_cut".
const char* malformed_name(Malformed reason);

struct PacketCounts {
  int64_t packets = 0, bytes = 0;  // bytes on the wire
  std::array<int64_t, kMalformed> malformed{};
  std::map<uint16_t, int64_t> unknown_links;  // packets by link type, where that is not parsed

  void add(const PacketCounts& other);
  int64_t all_malformed() const;
};

/// Bytes of a packet, in the form of ColumnBuilder::append_texts().
struct Bytes {
  const char* ptr = nullptr;
  int64_t len = 0;
};

/// The headers of up to kTilePackets packets.
struct HeaderTile {
  int packets = 0;
  const Packet* packet = nullptr;
  /// By Header; 64 zeros where a packet does not have the header.
  const uint8_t* at[kPointers][kTilePackets];
  /// Which packets have the header, as Arrow's validity bitmaps; and their number.
  uint8_t valid[kHeaders][kTilePackets / 8];
  int count[kHeaders];
  uint16_t ether_type[kTilePackets];
  uint8_t protocol[kTilePackets];
  Bytes payload[kTilePackets];
  /// Options: the flag is 1 where there are none.
  Bytes ip_options[kTilePackets], ip6_options[kTilePackets], tcp_options[kTilePackets];
  uint8_t no_ip_options[kTilePackets], no_ip6_options[kTilePackets], no_tcp_options[kTilePackets];
  int ip_option_count = 0, ip6_option_count = 0, tcp_option_count = 0;
  /// VLAN tags of four bytes behind the addresses of Ethernet.
  uint8_t tag_count[kTilePackets];
  /// MPLS: labels of four bytes.
  Bytes labels[kTilePackets];
  /// With Protocols::tunnels: the packet's tunnel, the tunnel's number if it has one, and the headers of the inner
  /// packet, for which the caller has memory.
  Tunnel tunnel[kTilePackets];
  uint32_t tunnel_id[kTilePackets];
  uint8_t has_tunnel_id[kTilePackets];
  HeaderTile* inner = nullptr;
};

/// Parses `packets`, at most kTilePackets.
void locate_headers(std::span<const Packet> packets, const Protocols& protocols, HeaderTile& tile,
                    PacketCounts& counts);

}  // namespace strom::format::packets
