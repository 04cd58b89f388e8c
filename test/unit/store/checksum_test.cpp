#include "store/checksum.hpp"

#include <gtest/gtest.h>

#include <random>
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
