// Memory that is pooled for the next session.
#include "service/region_pool.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace strom::service::test {
namespace {

constexpr size_t kSize = 1 << 20;

class RegionPoolTest : public testing::Test {
 protected:
  std::unique_ptr<device::Device> device_ =
      device::Device::open(device::Module::open(STROM_HOST_MODULE_PATH).value(), 0).value();
  uint64_t free_memory() const {
    return device::Device::open(device::Module::open(STROM_HOST_MODULE_PATH).value(), 0).value()->facts().free_memory;
  }
};

TEST_F(RegionPoolTest, same_size_comes_back) {
  const uint64_t before = free_memory();
  {
    RegionPool pool(device_.get(), 3 * kSize, 3 * kSize);
    auto region = pool.take(kSize, true).value();
    char* const device = region->device();
    std::memset(region->host(), 7, kSize);
    EXPECT_GE(region->copy_file().value().get(), 0);
    EXPECT_GE(region->copy_file().value().get(), 0);  // it stays, to be sent again
    region.reset();
    EXPECT_EQ(before - free_memory(), kSize);
    auto without = pool.take(kSize, false).value(), larger = pool.take(kSize + 4096, true).value();
    EXPECT_NE(without->device(), device);
    EXPECT_FALSE(without->copy_file().value().is_open());
    EXPECT_NE(larger->device(), device);
    region = pool.take(kSize, true).value();
    EXPECT_EQ(region->device(), device);
    const auto copy = region;
    region.reset();
    EXPECT_NE(pool.take(kSize, true).value()->device(), device);  // it is still held
  }
  EXPECT_EQ(free_memory(), before);
}

TEST_F(RegionPoolTest, keeps_no_more_than_its_limit) {
  const uint64_t before = free_memory();
  RegionPool pool(device_.get(), 3 * kSize, 3 * kSize);
  std::vector<std::shared_ptr<SharedRegion>> regions;
  regions.reserve(5);
  for (int i = 0; i < 5; ++i) regions.push_back(pool.take(kSize, false).value());
  char* const last = regions.back()->device();
  regions.clear();
  EXPECT_EQ(before - free_memory(), 3 * kSize);
  (void)pool.take(4 * kSize, false);  // more than it may keep
  EXPECT_EQ(before - free_memory(), 3 * kSize);
  EXPECT_EQ(pool.take(kSize, false).value()->device(), last);  // the first in were the first out
  EXPECT_TRUE(pool.drain());
  EXPECT_FALSE(pool.drain());
  EXPECT_EQ(free_memory(), before);
}

TEST_F(RegionPoolTest, mirrors_have_a_limit_of_their_own) {
  const uint64_t before = free_memory();
  RegionPool pool(device_.get(), 4 * kSize, 2 * kSize);
  std::vector<std::shared_ptr<SharedRegion>> plain, mirrored;
  for (int i = 0; i < 2; ++i) plain.push_back(pool.take(kSize, false).value());
  for (int i = 0; i < 3; ++i) mirrored.push_back(pool.take(kSize, true).value());
  (void)pool.take(3 * kSize, true);  // more mirrors than it may keep
  EXPECT_EQ(before - free_memory(), 5 * kSize);
  char* const first = mirrored.front()->device();
  plain.clear();
  for (auto& region : mirrored) region.reset();
  EXPECT_EQ(before - free_memory(), 4 * kSize);  // all without mirrors, though they came first
  const auto one = pool.take(kSize, true).value(), other = pool.take(kSize, true).value();
  EXPECT_NE(one->device(), first);
  EXPECT_NE(other->device(), first);
  EXPECT_EQ(before - free_memory(), 4 * kSize);
}

TEST_F(RegionPoolTest, regions_may_outlive_it) {
  const uint64_t before = free_memory();
  auto pool = std::make_unique<RegionPool>(device_.get(), 3 * kSize, 3 * kSize);
  auto held = pool->take(kSize, true).value();
  pool->take(kSize, true).value().reset();
  pool.reset();
  EXPECT_EQ(before - free_memory(), kSize);
  std::memset(held->host(), 1, kSize);
  held.reset();
  EXPECT_EQ(free_memory(), before);
}

TEST_F(RegionPoolTest, crowd) {
  RegionPool pool(device_.get(), 8 * kSize, 8 * kSize);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 200; ++k) {
        const auto region = pool.take(4096u << (k % 4), true).value();
        std::memset(region->host(), i, region->size());
        if (k % 50 == 0) pool.drain();
        for (size_t at = 0; at < region->size(); at += 512) ASSERT_EQ(region->host()[at], i);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RegionPoolTest, device_without_memory) {
  RegionPool pool(device_.get(), kSize, kSize);
  EXPECT_EQ(pool.take(size_t{1} << 60, false).status().code(), ErrorCode::kOverBudget);
}

}  // namespace
}  // namespace strom::service::test
