#include "base/stored_numeric.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace strom::base {
namespace {

/// `digits` behind a long header.
std::string stored(bool negative, int weight, int scale, const std::vector<uint16_t>& digits) {
  std::vector<uint16_t> words = {static_cast<uint16_t>((negative ? 0x4000 : 0) | scale), static_cast<uint16_t>(weight)};
  words.insert(words.end(), digits.begin(), digits.end());
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint16_t)};
}

bool read(const std::string& bytes, int scale, int128* value) {
  return numeric_to_int128(bytes.data(), static_cast<int64_t>(bytes.size()), scale, value);
}

int128 nines(int count) { return power_of_ten(count) - 1; }

TEST(StoredNumeric, HoldsThirtyEightDigitsWhereverThePointIs) {
  int128 value = 0;
  // 10^35 - 0.01: the last digit has two places more than the value times 100.
  const std::string large = stored(true, 8, 2, {999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9900});
  ASSERT_TRUE(read(large, 2, &value));
  EXPECT_EQ(value, -nines(37));
  ASSERT_TRUE(read(large, 3, &value));
  EXPECT_EQ(value, -nines(37) * 10);
  EXPECT_FALSE(read(large, 4, &value));
  EXPECT_FALSE(read(large, 1, &value));
  // 10^38 - 1, and one more.
  ASSERT_TRUE(read(stored(false, 9, 0, {99, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999}), 0, &value));
  EXPECT_EQ(value, nines(38));
  EXPECT_FALSE(read(stored(false, 9, 0, {100}), 0, &value));
  // 0.1 to 0.12345678 in ever fewer places.
  ASSERT_TRUE(read(stored(false, -1, 1, {1000}), 1, &value));
  EXPECT_EQ(value, 1);
  ASSERT_TRUE(read(stored(false, -1, 8, {1234, 5678}), 8, &value));
  EXPECT_EQ(value, 12345678);
  for (int scale = 0; scale < 8; ++scale) EXPECT_FALSE(read(stored(false, -1, 8, {1234, 5678}), scale, &value));
}

TEST(StoredNumeric, ReadsZeroWhateverTheScale) {
  int128 value = 1;
  for (int scale : {0, 1, 2, 38}) {
    ASSERT_TRUE(read(stored(false, 0, 2, {}), scale, &value));
    EXPECT_EQ(value, 0);
  }
}

/// The shorter header, behind two bytes that may be read.
std::string stored_short(bool negative, int weight, int scale, const std::vector<uint16_t>& digits) {
  std::vector<uint16_t> words = {
      0, static_cast<uint16_t>(0x8000 | (negative ? 0x2000 : 0) | scale << 7 | (weight & 0x7F))};
  words.insert(words.end(), digits.begin(), digits.end());
  return {reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint16_t)};
}

int128 decimal(int128 unscaled, int scale) {
  int128 value = 0;
  EXPECT_TRUE(make_decimal(unscaled, scale, &value));
  return value;
}

TEST(StoredNumeric, KeysHaveNoZerosBehindThePoint) {
  const auto shortest = [](const std::string& bytes) {
    int128 value = -1;
    return numeric_to_shortest_decimal(bytes.data(), static_cast<int64_t>(bytes.size()), &value) ? value : int128{-1};
  };
  EXPECT_EQ(shortest(stored(false, 0, 0, {1})), decimal(1, 0));
  EXPECT_EQ(shortest(stored(false, 0, 3, {1})), decimal(1, 0));
  EXPECT_EQ(shortest(stored(true, 1, 9, {12, 3400, 5600})), decimal(-12340056, 2));
  EXPECT_EQ(shortest(stored(false, 2, 0, {5})), decimal(500000000, 0));
  EXPECT_EQ(shortest(stored(false, -1, 4, {1000})), decimal(1, 1));
  EXPECT_EQ(shortest(stored(false, -2, 8, {7})), decimal(7, 8));
  EXPECT_EQ(shortest(stored(false, 0, 20, {})), decimal(0, 0));
  // 36 digits have a place, with zeros behind the point as well; 1e40 and 1e-70 have none.
  const std::vector<uint16_t> nine_digits(9, 9999);
  EXPECT_EQ(shortest(stored(false, 8, 40, nine_digits)), decimal(nines(36), 0));
  EXPECT_EQ(shortest(stored(false, 10, 0, {1})), -1);
  EXPECT_EQ(shortest(stored(false, -18, 70, {100})), -1);
  EXPECT_EQ(shortest(std::string("\x00\xC0", 2)), -1);
}

TEST(StoredNumeric, OrdinaryOnesAreReadWithTheirScale) {
  for (int scale = 0; scale <= 8; ++scale)
    for (const bool negative : {false, true})
      for (const uint16_t fraction : {0, 1, 10, 1200, 5000, 9999}) {
        const int unit = scale >= 4 ? 1 : static_cast<int>(power_of_ten(4 - scale));
        if (fraction % unit != 0) continue;  // not of this scale
        std::vector<uint16_t> digits = {12, 345};
        if (fraction != 0) digits.push_back(fraction);
        const std::string bytes = stored_short(negative, 1, scale, digits);
        int128 fast = 0, slow = 0;
        const auto size = static_cast<int64_t>(bytes.size()) - 2;
        EXPECT_EQ(StoredNumericReader::read_own(bytes.data() + 2, size, &fast), scale <= kOrdinaryScale);
        ASSERT_TRUE(numeric_to_decimal(bytes.data() + 2, size, &slow));
        if (scale <= kOrdinaryScale) {
          EXPECT_TRUE(fast == slow) << scale << " " << fraction;
        }
      }
}

TEST(StoredNumeric, RefusesWhatIsNone) {
  int128 value;
  EXPECT_FALSE(read(stored(false, 0, 0, {10000}), 0, &value));
  EXPECT_FALSE(read(stored(false, -1, 1, {10000}), 1, &value));
  EXPECT_FALSE(read(std::string("\x00\xC0", 2), 0, &value));
  EXPECT_FALSE(read("", 0, &value));
}

}  // namespace
}  // namespace strom::base
