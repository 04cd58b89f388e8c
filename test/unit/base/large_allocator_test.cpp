// Vectors in large pages: values survive growth, small ones take small memory.
#include "base/large_allocator.hpp"

#include <gtest/gtest.h>

#include <cstdint>

using strom::base::LargeVector;

namespace {

TEST(LargeAllocator, KeepsValuesWhenItGrows) {
  LargeVector<uint64_t> values;
  constexpr uint64_t kCount = uint64_t{3} << 20;  // of small memory first, then of large pages
  for (uint64_t i = 0; i < kCount; ++i) values.push_back(i * 7);
  for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(values[i], i * 7);
  LargeVector<uint64_t> moved = std::move(values);
  EXPECT_EQ(moved.size(), kCount);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(moved.data()) % (2 << 20), 0u);
  const LargeVector<uint64_t> zeros(kCount, 0);
  EXPECT_EQ(zeros.back(), 0u);
}

TEST(LargeAllocator, GivesSmallVectorsWhatTheyAskFor) {
  LargeVector<uint32_t> values = {1, 2, 3};
  values.resize(5);
  EXPECT_EQ(values[2], 3u);
  EXPECT_LT(values.capacity(), 100u);
}

}  // namespace
