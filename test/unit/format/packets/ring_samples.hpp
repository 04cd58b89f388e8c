// Blocks as the kernel puts them into the memory of a capture.
#pragma once

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace strom::test {

inline constexpr int64_t kRingBlock = 1 << 20;

/// What the kernel tells of where a packet was seen.
struct RingPlace {
  uint8_t packet_type = PACKET_HOST;
  uint16_t hardware = ARPHRD_ETHER;
};

/// Fills a block with packets, as many as it has room for, from `first` on; the number of those. Packet i has the time
/// `seconds` and i ns.
inline size_t fill_ring_block(uint8_t* block, const std::vector<std::string>& packets, size_t first, uint32_t seconds,
                              uint32_t status = 0, RingPlace place = {}) {
  constexpr uint32_t kAddress = TPACKET_ALIGN(sizeof(tpacket3_hdr));
  constexpr uint32_t kMac = TPACKET_ALIGN(kAddress + sizeof(sockaddr_ll) + 16);
  auto* description = reinterpret_cast<tpacket_block_desc*>(block);
  std::memset(description, 0, sizeof(*description));
  uint32_t at = sizeof(tpacket_block_desc), last = 0;
  size_t count = 0;
  for (; first + count < packets.size(); ++count) {
    const std::string& packet = packets[first + count];
    const auto size = static_cast<uint32_t>(packet.size());
    if (at + kMac + size > kRingBlock) break;
    tpacket3_hdr header{};
    header.tp_sec = seconds;
    header.tp_nsec = static_cast<uint32_t>(count);
    header.tp_snaplen = header.tp_len = size;
    header.tp_status = status;
    header.tp_mac = static_cast<uint16_t>(kMac);
    header.tp_next_offset = TPACKET_ALIGN(kMac + size);
    sockaddr_ll address{};
    address.sll_ifindex = 3;
    address.sll_pkttype = place.packet_type;
    address.sll_hatype = place.hardware;
    address.sll_protocol = htons(0x0800);
    std::memcpy(block + at, &header, sizeof(header));
    std::memcpy(block + at + kAddress, &address, sizeof(address));
    std::copy(packet.begin(), packet.end(), block + at + kMac);
    last = at;
    at += header.tp_next_offset;
  }
  if (count > 0) std::memset(block + last, 0, sizeof(uint32_t));
  description->hdr.bh1.num_pkts = static_cast<uint32_t>(count);
  description->hdr.bh1.offset_to_first_pkt = sizeof(tpacket_block_desc);
  description->hdr.bh1.block_status = TP_STATUS_USER;
  return count;
}

}  // namespace strom::test
