// Blocks of a live capture, as the kernel makes them, and damaged ones.
#include "format/packets/ring_block.hpp"

#include <gtest/gtest.h>

#include <random>

#include "packet_samples.hpp"
#include "ring_samples.hpp"

namespace strom::format::packets {
namespace {

using namespace strom::test;

std::vector<std::string> read(const std::vector<uint8_t>& block, const BlockSource& source, BlockResult& result) {
  std::vector<Packet> packets;
  result = read_block(block.data(), static_cast<int64_t>(block.size()), source, packets);
  std::vector<std::string> out;
  for (const Packet& packet : packets) {
    EXPECT_GE(packet.data, block.data());
    EXPECT_LE(packet.data + packet.captured, block.data() + block.size());
    out.emplace_back(reinterpret_cast<const char*>(packet.data), packet.captured);
  }
  return out;
}

TEST(RingBlock, PacketsInOrder) {
  const auto packets = sample_packets();
  std::vector<uint8_t> block(kRingBlock);
  EXPECT_FALSE(is_block_ready(block.data()));
  EXPECT_EQ(fill_ring_block(block.data(), packets, 0, 7), packets.size());
  EXPECT_TRUE(is_block_ready(block.data()));
  BlockResult result;
  EXPECT_EQ(read(block, {}, result), packets);
  EXPECT_EQ(result.packets, static_cast<int64_t>(packets.size()));
  EXPECT_FALSE(result.has_losses);
  std::vector<Packet> list;
  read_block(block.data(), kRingBlock, {}, list);
  EXPECT_EQ(list[2].time, 7000000002);
  EXPECT_EQ(list[2].interface, 3);
  EXPECT_EQ(list[2].ether_type, 0x0800);
  release_block(block.data());
  EXPECT_FALSE(is_block_ready(block.data()));
}

TEST(RingBlock, LossesAndTags) {
  std::vector<uint8_t> block(kRingBlock);
  fill_ring_block(block.data(), sample_packets(), 0, 7, TP_STATUS_LOSING | TP_STATUS_VLAN_VALID);
  BlockResult result;
  std::vector<Packet> list;
  result = read_block(block.data(), kRingBlock, {}, list);
  EXPECT_TRUE(result.has_losses);
  EXPECT_EQ(list[0].tag_type, 0x8100);
  BlockSource outgoing;
  outgoing.skips_incoming = true;
  EXPECT_TRUE(read(block, outgoing, result).empty());
  EXPECT_EQ(result.packets, static_cast<int64_t>(sample_packets().size()));
}

TEST(RingBlock, OutgoingPacketsOfLoopback) {
  std::vector<uint8_t> block(kRingBlock);
  const auto packets = sample_packets();
  BlockSource once, outgoing;
  once.skips_outgoing_loopback = true;
  outgoing.skips_incoming = true;
  BlockResult result;
  for (const uint16_t hardware : {ARPHRD_LOOPBACK, ARPHRD_ETHER}) {
    fill_ring_block(block.data(), packets, 0, 7, 0, {PACKET_OUTGOING, hardware});
    const bool is_loopback = hardware == ARPHRD_LOOPBACK;
    EXPECT_EQ(read(block, once, result), is_loopback ? std::vector<std::string>() : packets);
    EXPECT_EQ(result.packets, static_cast<int64_t>(packets.size()));
    EXPECT_EQ(read(block, outgoing, result), packets);
    fill_ring_block(block.data(), packets, 0, 7, 0, {PACKET_HOST, hardware});
    EXPECT_EQ(read(block, once, result), packets);
  }
}

TEST(RingBlock, DamagedBlocksStayInside) {
  std::mt19937 random(1);
  const auto packets = sample_packets();
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> block(kRingBlock);
    fill_ring_block(block.data(), packets, 0, 7);
    block.resize(1200);
    block.shrink_to_fit();
    for (int i = 0; i < 4; ++i) block[random() % block.size()] = static_cast<uint8_t>(random());
    BlockResult result;
    read(block, {}, result);
  }
}

}  // namespace
}  // namespace strom::format::packets
