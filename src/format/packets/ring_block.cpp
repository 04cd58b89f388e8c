// See ring_block.hpp.
#include "format/packets/ring_block.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>

#include <algorithm>
#include <cstring>

#include "format/packets/byte_order.hpp"

namespace strom::format::packets {

namespace {

constexpr int64_t kNano = 1000000000;
constexpr int64_t kDescription = sizeof(tpacket_block_desc), kHeader = sizeof(tpacket3_hdr);
constexpr int64_t kAddress = TPACKET_ALIGN(kHeader);
/// Each packet tells where the next one is, and following that would wait for memory each time: so all is fetched
/// ahead.
constexpr int64_t kAhead = 4096, kLine = 64;
constexpr int64_t kLeast = kAddress + static_cast<int64_t>(sizeof(sockaddr_ll));

__u32* status_of(uint8_t* block) { return &reinterpret_cast<tpacket_block_desc*>(block)->hdr.bh1.block_status; }

void take_tag(const tpacket3_hdr& header, Packet& packet) {
  if ((header.tp_status & TP_STATUS_VLAN_VALID) == 0) return;
  packet.tag = static_cast<uint16_t>(header.hv1.tp_vlan_tci);
  const bool has_type = (header.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
  packet.tag_type = has_type ? header.hv1.tp_vlan_tpid : static_cast<uint16_t>(ETH_P_8021Q);
}

bool is_wanted(const sockaddr_ll& address, const BlockSource& source) {
  if (address.sll_pkttype != PACKET_OUTGOING) return !source.skips_incoming;
  return !source.skips_outgoing_loopback || address.sll_hatype != ARPHRD_LOOPBACK;
}

}  // namespace

bool is_block_ready(const uint8_t* block) {
  const __u32 status = __atomic_load_n(status_of(const_cast<uint8_t*>(block)), __ATOMIC_ACQUIRE);
  return (status & TP_STATUS_USER) != 0;
}

bool is_block_empty(const uint8_t* block) {
  return __atomic_load_n(&reinterpret_cast<const tpacket_block_desc*>(block)->hdr.bh1.num_pkts, __ATOMIC_ACQUIRE) == 0;
}

void release_block(uint8_t* block) { __atomic_store_n(status_of(block), TP_STATUS_KERNEL, __ATOMIC_RELEASE); }

BlockResult read_block(const uint8_t* block, int64_t size, const BlockSource& source, std::vector<Packet>& out) {
  BlockResult result;
  const auto description = load<tpacket_block_desc>(block);
  const __u32 count = description.hdr.bh1.num_pkts;
  int64_t at = description.hdr.bh1.offset_to_first_pkt;
  for (int64_t i = 0, fetched = at; i < count; ++i) {
    for (const int64_t end = std::min(at + kAhead, size); fetched < end; fetched += kLine)
      __builtin_prefetch(block + fetched);
    if (at < kDescription || at > size - kLeast) return result;
    const auto header = load<tpacket3_hdr>(block + at);
    const auto address = load<sockaddr_ll>(block + at + kAddress);
    const int64_t data = at + header.tp_mac;
    if (data + int64_t{header.tp_snaplen} > size) return result;
    ++result.packets;
    result.has_losses = result.has_losses || (header.tp_status & TP_STATUS_LOSING) != 0;
    if (is_wanted(address, source)) {
      Packet& packet = out.emplace_back();
      packet.data = block + data;
      packet.time = int64_t{header.tp_sec} * kNano + header.tp_nsec;
      packet.captured = header.tp_snaplen;
      packet.length = header.tp_len;
      packet.interface = static_cast<uint32_t>(address.sll_ifindex);
      packet.link = source.link;
      packet.ether_type = ntohs(address.sll_protocol);
      take_tag(header, packet);
    }
    if (header.tp_next_offset == 0) break;
    at += header.tp_next_offset;
  }
  return result;
}

}  // namespace strom::format::packets
