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

TEST(StoredNumeric, RefusesWhatIsNone) {
  int128 value;
  EXPECT_FALSE(read(stored(false, 0, 0, {10000}), 0, &value));
  EXPECT_FALSE(read(stored(false, -1, 1, {10000}), 1, &value));
  EXPECT_FALSE(read(std::string("\x00\xC0", 2), 0, &value));
  EXPECT_FALSE(read("", 0, &value));
}

}  // namespace
}  // namespace strom::base
