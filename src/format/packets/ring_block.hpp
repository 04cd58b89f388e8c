// Blocks of packets in the memory that Linux shares with a capture (AF_PACKET, TPACKET_V3:
// https://docs.kernel.org/networking/packet_mmap.html). Used by live captures, and by replays of them from memory.
#pragma once

#include <cstdint>
#include <vector>

#include "format/packets/packet.hpp"

namespace strom::format::packets {

/// Properties that all packets of a block share.
struct BlockSource {
  uint16_t link = link::kEthernet;  // link::kCooked: the kernel tells the type of each packet
  bool skips_incoming = false;
  bool skips_outgoing_loopback = false;  // a loopback interface has the same packets as incoming ones
};

struct BlockResult {
  int64_t packets = 0;      // in the block, skipped ones included
  bool has_losses = false;  // packets were dropped before some of these
};

/// True when the kernel has handed the block over.
bool is_block_ready(const uint8_t* block);
/// True while the kernel has put no packet into its block.
bool is_block_empty(const uint8_t* block);
/// Appends the packets of a block of `size` bytes to `out`; they point into it. A packet that would lie outside of the
/// block ends the list.
BlockResult read_block(const uint8_t* block, int64_t size, const BlockSource& source, std::vector<Packet>& out);
/// Gives the block back to the kernel.
void release_block(uint8_t* block);

}  // namespace strom::format::packets
