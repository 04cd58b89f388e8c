// Capture files: where packets are found, in whatever pieces the bytes come.
#include "format/packets/capture_file.hpp"

#include <gtest/gtest.h>

#include "packet_samples.hpp"

namespace strom::format::packets {
namespace {

using namespace strom::test;

struct Seen {
  std::vector<std::string> packets;
  std::vector<int64_t> times;
  std::vector<uint32_t> interfaces;
  Status status;
  int64_t dropped = 0;
};

/// Gives the scanner `step` bytes at a time, or as many as it wants.
Seen scan(const std::string& file, size_t step, RunLimits limits = {}) {
  CaptureScanner scanner("x");
  Seen seen;
  PacketRun run;
  size_t at = 0, size = step;
  while (at < file.size()) {
    const std::string piece = file.substr(at, size);
    const auto taken = scanner.scan({reinterpret_cast<const uint8_t*>(piece.data()), piece.size()}, limits, run);
    if (!taken.is_ok()) {
      seen.status = taken.status();
      break;
    }
    std::vector<Packet> packets(run.offsets.size());
    run.read(0, packets.size(), packets.data());
    for (const Packet& packet : packets) {
      seen.packets.emplace_back(reinterpret_cast<const char*>(packet.data), packet.captured);
      seen.times.push_back(packet.time);
      seen.interfaces.push_back(packet.interface);
    }
    EXPECT_LE(static_cast<int64_t>(packets.size()), limits.packets);
    at += static_cast<size_t>(taken.value().bytes);
    if (packets.empty() && taken.value().bytes == 0 && at + piece.size() >= file.size()) break;
    size = std::max<size_t>(step, static_cast<size_t>(taken.value().wanted));
  }
  seen.dropped = scanner.dropped();
  return seen;
}

TEST(CaptureFile, PcapInPiecesOfAnySize) {
  const auto packets = sample_packets();
  for (const bool is_big : {false, true}) {
    for (const bool is_nano : {false, true}) {
      const std::string file = pcap_file(packets, is_big, is_nano);
      for (const size_t step : {size_t{1}, size_t{7}, size_t{64}, file.size()}) {
        const Seen seen = scan(file, step);
        EXPECT_TRUE(seen.status.is_ok());
        EXPECT_EQ(seen.packets, packets);
        EXPECT_EQ(seen.times[3], 3500000000);
      }
    }
  }
}

TEST(CaptureFile, LimitsEndRuns) {
  const auto packets = sample_packets();
  RunLimits limits;
  limits.packets = 3;
  EXPECT_EQ(scan(pcap_file(packets), 1 << 20, limits).packets, packets);
  limits = {};
  limits.bytes = 200;
  limits.packet_cost = 100;
  EXPECT_EQ(scan(pcap_file(packets), 1 << 20, limits).packets, packets);
}

TEST(CaptureFile, PcapngSectionsHaveTheirOwnOrderAndInterfaces) {
  const auto packets = sample_packets();
  // if_tsresol: 2^-10, and an offset of -5 s.
  const std::string options =
      PacketBytes().little(9, 2).little(1, 2).little(0x8A, 4).little(14, 2).little(8, 2).little(~0ull - 4, 8).text;
  const std::string drops = PacketBytes().little(0, 4).little(0, 8).little(5, 2).little(8, 2).little(42, 8).text;
  std::string file = pcapng_section() + pcapng_interface() + pcapng_packet(packets[0], 2000000);
  file += pcapng_interface(false, options) + pcapng_packet(packets[1], 10240, false, 1) + pcapng_block(5, drops);
  file += pcapng_section(true) + pcapng_interface(true) + pcapng_packet(packets[2], 7, true);
  for (const size_t step : {size_t{1}, size_t{33}, file.size()}) {
    const Seen seen = scan(file, step);
    EXPECT_TRUE(seen.status.is_ok()) << seen.status.message();
    EXPECT_EQ(seen.packets, std::vector(packets.begin(), packets.begin() + 3));
    EXPECT_EQ(seen.times, (std::vector<int64_t>{2000000000, 5000000000, 7000}));
    EXPECT_EQ(seen.interfaces, (std::vector<uint32_t>{0, 1, 0}));
    EXPECT_EQ(seen.dropped, 42);
  }
}

TEST(CaptureFile, PacketsBeforeDamageComeFirst) {
  const auto packets = sample_packets();
  std::string file = pcap_file(packets);
  const size_t third = 24 + 2 * 16 + packets[0].size() + packets[1].size();
  file.replace(third + 8, 4, "\xFF\xFF\xFF\x7F");
  const Seen seen = scan(file, file.size());
  EXPECT_EQ(seen.packets.size(), 2);
  EXPECT_EQ(seen.status.code(), ErrorCode::kCorruptFile);
  EXPECT_NE(seen.status.detail().find("at byte " + std::to_string(third)), std::string::npos) << seen.status.detail();

  file = pcapng_section() + pcapng_interface() + pcapng_packet(packets[0], 1) + pcapng_packet(packets[1], 1, false, 9);
  const Seen other = scan(file, file.size());
  EXPECT_EQ(other.packets.size(), 1);
  EXPECT_EQ(other.status.code(), ErrorCode::kCorruptFile);
}

/// Packets of all sizes, some with what looks like records of the same time inside; as many bytes as are looked at from
/// several places at once, and more.
std::vector<std::string> many_packets(bool is_big) {
  std::vector<std::string> packets;
  uint64_t random = 7;
  for (size_t bytes = 0; bytes < 3 * static_cast<size_t>(RecordStrands::kBlockBytes); bytes += packets.back().size()) {
    random = random * 6364136223846793005 + 1442695040888963407;
    std::string packet((random >> 33) % 3000, static_cast<char>(random >> 56));
    if (packets.size() % 3 == 0 && packet.size() > 200)
      packet.replace(100, 48, pcap_file({std::string(8, 'x'), std::string(8, 'y')}, is_big).substr(24));
    packets.push_back(std::move(packet));
  }
  return packets;
}

TEST(CaptureFile, RecordsAreFoundFromSeveralPlacesAtOnce) {
  for (const bool is_big : {false, true}) {
    const auto packets = many_packets(is_big);
    const std::string file = pcap_file(packets, is_big);
    for (const int64_t most : {int64_t{INT64_MAX}, int64_t{700000}}) {
      RunLimits limits;
      limits.bytes = most;
      const Seen seen = scan(file, file.size(), limits);
      EXPECT_TRUE(seen.status.is_ok()) << seen.status.message();
      EXPECT_TRUE(seen.packets == packets);
    }
  }
}

TEST(CaptureFile, DamageAmongManyRecords) {
  const auto packets = many_packets(false);
  const std::string file = pcap_file(packets);
  size_t at = 24;
  for (size_t i = 0; i < packets.size(); at += 16 + packets[i].size(), ++i) {
    if (i % 97 != 0) continue;
    std::string damaged = file;
    damaged.replace(at + 8, 4, "\xFF\xFF\xFF\x7F");
    const Seen seen = scan(damaged, damaged.size());
    ASSERT_EQ(seen.packets.size(), i);
    EXPECT_EQ(seen.status.code(), ErrorCode::kCorruptFile);
    EXPECT_NE(seen.status.detail().find("at byte " + std::to_string(at)), std::string::npos) << seen.status.detail();
  }
}

TEST(CaptureFile, OtherFilesAreRefused) {
  EXPECT_EQ(scan("GIF89a and more", 100).status.code(), ErrorCode::kUnsupported);
}

TEST(CaptureFile, BytesThatChangeAfterTheScan) {
  const auto packets = sample_packets();
  std::string file = pcap_file(packets) + pcapng_section();
  CaptureScanner scanner("x");
  PacketRun run;
  ASSERT_TRUE(
      scanner.scan({reinterpret_cast<const uint8_t*>(file.data()), pcap_file(packets).size()}, {}, run).is_ok());
  for (size_t i = 24; i < file.size(); ++i) file[i] = '\xFF';
  std::vector<Packet> read(run.offsets.size());
  run.read(0, read.size(), read.data());
  for (const Packet& packet : read) EXPECT_LE(packet.data + packet.captured, run.end);
}

}  // namespace
}  // namespace strom::format::packets
