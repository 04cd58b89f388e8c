#include "store/checksum.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace strom::store {
namespace {

TEST(Crc64, HasTheCheckValueOfItsDefinition) {
  EXPECT_EQ(crc64("123456789", 9), 0x995DC9BBDF1939FAu);
  EXPECT_EQ(crc64_by_tables("123456789", 9), 0x995DC9BBDF1939FAu);
  EXPECT_EQ(crc64("", 0), 0u);
}

TEST(Crc64, BothWaysGiveTheSameForEveryLengthAndAlignment) {
  std::mt19937_64 random(1);
  std::vector<uint8_t> bytes(3000);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
  for (size_t size = 0; size < 1200; ++size)
    for (size_t begin = 0; begin < 17; begin += 4)
      ASSERT_EQ(crc64(bytes.data() + begin, size), crc64_by_tables(bytes.data() + begin, size)) << size;
}

TEST(Xxh3, HasTheValuesOfItsLibrary) {
  EXPECT_EQ(xxh3("", 0), 0x2D06800538D394C2u);
  std::vector<uint8_t> bytes(3000);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i);
  // From libxxhash 0.8.1. Short, medium and long inputs take different ways.
  const std::pair<size_t, uint64_t> wanted[] = {
      {1, 0xC44BDFF4074EECDB},   {8, 0x3A1C2D7C85AF88F8},    {16, 0x8355E3A6F61770DB},
      {64, 0x6187EB9089B0ED55},  {128, 0x85C6174C7FF4C46B},  {200, 0xF42A8864FEAF0703},
      {240, 0x375A384D957FE865}, {1000, 0xD33DD80B46F60E50}, {3000, 0xECDAADFF79528333},
  };
  for (const auto& [size, value] : wanted) EXPECT_EQ(xxh3(bytes.data(), size), value) << size;
}

TEST(Crc64, PartsGiveTheSameAsTheWhole) {
  std::mt19937_64 random(2);
  std::vector<uint8_t> bytes(1000);
  for (auto& byte : bytes) byte = static_cast<uint8_t>(random());
  for (int round = 0; round < 200; ++round) {
    Crc64 sum;
    for (size_t at = 0; at < bytes.size();) {
      const size_t part = std::min<size_t>(random() % 300, bytes.size() - at);
      sum.add(bytes.data() + at, part);
      at += part;
    }
    ASSERT_EQ(sum.value(), crc64(bytes.data(), bytes.size()));
  }
}

}  // namespace
}  // namespace strom::store
