// Blocks of packets as Linux puts them into the memory that it shares with a capture (AF_PACKET, TPACKET_V3:
// https://docs.kernel.org/networking/packet_mmap.html). Used by live captures, and by what replays them from memory.
#pragma once

#include <cstdint>
#include <vector>

#include "format/packets/packet.hpp"

namespace strom::format::packets {

/// What a block's packets have in common.
struct BlockSource {
  uint16_t link = link::kEthernet;  // link::kCooked: the kernel says the type of each
  bool skips_incoming = false;
};

struct BlockResult {
  int64_t packets = 0;      // in the block, skipped ones included
  bool has_losses = false;  // packets were dropped before some of these
};

/// The block was given to us by the kernel.
bool is_block_ready(const uint8_t* block);
/// Appends the packets of a block of `size` bytes to `out`; they point into it. Packets that would lie outside of it
/// end the list.
BlockResult read_block(const uint8_t* block, int64_t size, const BlockSource& source, std::vector<Packet>& out);
/// Gives the block back to the kernel.
void release_block(uint8_t* block);

}  // namespace strom::format::packets
