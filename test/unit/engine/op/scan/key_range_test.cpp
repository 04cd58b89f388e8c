// Join keys against bounds of a column.
#include "engine/op/scan/key_range.hpp"

#include <gtest/gtest.h>

#include <utility>

namespace strom::test {
namespace {

using columnar::Bounds;
using columnar::Field;
using columnar::Layout;
using engine::op::KeyRange;

TEST(KeyRange, Overlaps) {
  const KeyRange range{10, 20, {}};
  EXPECT_TRUE(range.overlaps(0, 10));
  EXPECT_TRUE(range.overlaps(20, 30));
  EXPECT_TRUE(range.overlaps(12, 13));
  EXPECT_TRUE(range.overlaps(0, 100));
  EXPECT_FALSE(range.overlaps(0, 9));
  EXPECT_FALSE(range.overlaps(21, 30));
  EXPECT_FALSE(KeyRange{}.overlaps(INT64_MIN, INT64_MAX));
}

TEST(KeyRange, FewValuesLeaveGaps) {
  const KeyRange range{10, 20, {10, 15, 20}};
  EXPECT_TRUE(range.overlaps(14, 16));
  EXPECT_FALSE(range.overlaps(11, 14));
  EXPECT_FALSE(range.overlaps(16, 19));
  EXPECT_TRUE(range.overlaps(16, 20));
}

TEST(KeyRange, RegistersOfBounds) {
  const auto registers = [](Layout layout, __int128 low, __int128 high) -> std::pair<int64_t, int64_t> {
    Field field;
    field.layout = layout;
    field.unit = columnar::TimeUnit::kMilli;
    Bounds bounds;
    bounds.low = low;
    bounds.high = high;
    int64_t from = 0, to = -1;  // not known
    if (!engine::op::register_bounds(field, bounds, &from, &to)) return {0, -1};
    return {from, to};
  };
  const std::pair<int64_t, int64_t> unknown{0, -1};
  EXPECT_EQ(registers(Layout::kInt32, -5, 7), (std::pair<int64_t, int64_t>{-5, 7}));
  EXPECT_EQ(registers(Layout::kDate32, 10957, 10958), (std::pair<int64_t, int64_t>{0, 1}));
  EXPECT_EQ(registers(Layout::kDate64, 946684800000, 946771200000), (std::pair<int64_t, int64_t>{0, 1}));
  EXPECT_EQ(registers(Layout::kTimestamp, 946684800000, 946684800001), (std::pair<int64_t, int64_t>{0, 1000}));
  EXPECT_EQ(registers(Layout::kTimestamp, 0, INT64_MAX), unknown);
  EXPECT_EQ(registers(Layout::kDate32, 0, INT32_MAX), unknown);
  EXPECT_EQ(registers(Layout::kFloat64, 0, 1), unknown);
  EXPECT_EQ(registers(Layout::kUInt64, 0, UINT64_MAX), (std::pair<int64_t, int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(registers(Layout::kUInt64, INT64_MAX, __int128{INT64_MAX} + 1), (std::pair<int64_t, int64_t>{-1, 0}));
  EXPECT_EQ(registers(Layout::kUInt64, -1, 1), unknown);
}

}  // namespace
}  // namespace strom::test
