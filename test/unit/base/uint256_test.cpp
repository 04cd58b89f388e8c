#include "base/uint256.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace strom::base {
namespace {

std::string text_of(const void* bytes, size_t size) {
  bool negative = false;
  char digits[96];
  const char* end = UInt256::magnitude(bytes, size, &negative).put_digits(digits);
  return (negative ? "-" : "") + std::string(static_cast<const char*>(digits), end);
}

template <class T>
std::string text_of(T value) {
  return text_of(&value, sizeof value);
}

TEST(UInt256, PrintsNumbersOfEveryWidth) {
  EXPECT_EQ(text_of(int32_t{0}), "0");
  EXPECT_EQ(text_of(int32_t{-1}), "-1");
  EXPECT_EQ(text_of(INT32_MIN), "-2147483648");
  EXPECT_EQ(text_of(int64_t{1'000'000'000}), "1000000000");
  EXPECT_EQ(text_of(INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(text_of(static_cast<__int128>(1) << 126), "85070591730234615865843651857942052864");
  EXPECT_EQ(text_of(static_cast<__int128>(1) << 127), "-170141183460469231731687303715884105728");
}

TEST(UInt256, PrintsTheExtremesOf256Bits) {
  unsigned char bytes[32] = {};
  EXPECT_EQ(text_of(bytes, 32), "0");
  bytes[31] = 0x80;
  EXPECT_EQ(text_of(bytes, 32), "-57896044618658097711785492504343953926634992332820282019728792003956564819968");
  std::memset(bytes, 0xFF, 32);
  EXPECT_EQ(text_of(bytes, 32), "-1");
  bytes[31] = 0x7F;
  EXPECT_EQ(text_of(bytes, 32), "57896044618658097711785492504343953926634992332820282019728792003956564819967");
}

TEST(UInt256, ReadsBackWhatItPrints) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    UInt256 value;
    for (uint64_t& word : value.words) word = random() % 3 == 0 ? 0 : random();
    value.words[3] >>= 1;
    char digits[96];
    const char* end = value.put_digits(digits);
    UInt256 again;
    for (const char* c = digits; c < end; ++c) ASSERT_TRUE(again.multiply_add(10, static_cast<uint64_t>(*c - '0')));
    EXPECT_EQ(std::memcmp(again.words, value.words, sizeof value.words), 0);
  }
}

}  // namespace
}  // namespace strom::base
