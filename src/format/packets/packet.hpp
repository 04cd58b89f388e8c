// A captured packet before it is parsed. Made by capture_file.hpp and by live captures, parsed by headers.hpp.
#pragma once

#include <cstdint>

namespace strom::format::packets {

/// The type of a packet's first header: numbers of https://www.tcpdump.org/linktypes.html.
namespace link {
inline constexpr uint16_t kNull = 0, kEthernet = 1, kPpp = 9, kRawOld = 12, kRawOpenBsd = 14, kPppHdlc = 50, kRaw = 101,
                          kLoop = 108, kLinuxSll = 113, kIpv4 = 228, kIpv6 = 229, kLinuxSll2 = 276;
/// Without a link layer; Packet::ether_type has the type. Only this program uses the number.
inline constexpr uint16_t kCooked = 0xFFFF;
}  // namespace link

/// The name of a link type; nullptr when its packets are not parsed.
constexpr const char* link_name(uint16_t type) {
  switch (type) {
    case link::kNull: return "BSD loopback";
    case link::kEthernet: return "Ethernet";
    case link::kPpp: return "PPP";
    case link::kPppHdlc: return "PPP in HDLC framing";
    case link::kRawOld:
    case link::kRawOpenBsd:
    case link::kRaw: return "raw IP";
    case link::kLoop: return "OpenBSD loopback";
    case link::kLinuxSll: return "Linux cooked capture";
    case link::kLinuxSll2: return "Linux cooked capture v2";
    case link::kIpv4: return "raw IPv4";
    case link::kIpv6: return "raw IPv6";
    default: return nullptr;
  }
}

struct Packet {
  const uint8_t* data = nullptr;
  int64_t time = 0;                // nanoseconds since 1970-01-01 UTC
  uint32_t captured = 0;           // bytes at `data`
  uint32_t length = 0;             // bytes on the wire
  uint32_t interface = 0;          // of the capture file's section, or of the machine
  uint16_t link = 0;               // link type
  uint16_t ether_type = 0;         // with link::kCooked
  uint16_t tag = 0, tag_type = 0;  // TCI and EtherType of a VLAN tag that was removed from the packet; 0: none
};

/// Nanoseconds as microseconds, rounded down even before 1970.
constexpr int64_t microseconds(int64_t time) {
  constexpr int64_t kMicro = 1000;
  return time / kMicro - (time % kMicro < 0 ? 1 : 0);
}

}  // namespace strom::format::packets
