// Blocks of versions: what they say without a look at the versions, alone and while several threads change them.
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "test_rows.hpp"

namespace strom::store::rows {
namespace {

constexpr Xids kFree{kNobody, kNobody};

TEST(Blocks, MarkWhatNobodyHasEnded) {
  TestRows test(1000);
  Rows& rows = *test.rows;
  const Block& block = rows.block_of(70);
  uint64_t live = 0;
  EXPECT_EQ(&block, &rows.block_of(127));
  EXPECT_NE(&block, &rows.block_of(128));
  EXPECT_TRUE(Rows::read_live(block, 100, &live));
  EXPECT_EQ(live, 0);

  // As files are loaded: nobody is asked about these.
  EXPECT_TRUE(rows.compare_and_set(64, kFree, {kFrozen, kNobody}));
  EXPECT_TRUE(Rows::read_live(block, 3, &live));
  EXPECT_EQ(live, 1);

  rows.begin_change(70, 100);
  EXPECT_TRUE(rows.compare_and_set(70, kFree, {100, kNobody}));
  rows.begin_change(64, 100);
  EXPECT_TRUE(rows.compare_and_set(64, {kFrozen, kNobody}, {kFrozen, 100}));
  EXPECT_FALSE(Rows::read_live(block, 200, &live)) << "changes are open";
  rows.finish_change(70);
  EXPECT_FALSE(Rows::read_live(block, 200, &live)) << "one is still open";
  rows.finish_change(64);
  EXPECT_FALSE(Rows::read_live(block, 100, &live)) << "the transaction may run for this snapshot";
  EXPECT_TRUE(Rows::read_live(block, 101, &live));
  EXPECT_EQ(live, uint64_t{1} << 6);

  // What is freed, and what is frozen, changes nothing.
  EXPECT_TRUE(rows.compare_and_set(64, {kFrozen, 100}, kFree));
  EXPECT_TRUE(rows.compare_and_set(70, {100, kNobody}, {kFrozen, kNobody}));
  EXPECT_TRUE(Rows::read_live(block, 101, &live));
  EXPECT_EQ(live, uint64_t{1} << 6);
}

TEST(Blocks, KnowTheNewestTransactionOfAll) {
  TestRows test(1000);
  Rows& rows = *test.rows;
  uint64_t live = 0;
  rows.begin_change(5, 300);
  rows.begin_change(6, 200);
  rows.finish_change(6);
  rows.finish_change(5);
  EXPECT_FALSE(Rows::read_live(rows.block_of(5), 300, &live));
  EXPECT_TRUE(Rows::read_live(rows.block_of(5), 301, &live));
  // Transaction ids go around.
  rows.begin_change(200, 0xFFFFFFF0);
  rows.begin_change(200, 10);
  rows.finish_change(200);
  rows.finish_change(200);
  EXPECT_FALSE(Rows::read_live(rows.block_of(200), 0xFFFFFFF5, &live));
  EXPECT_FALSE(Rows::read_live(rows.block_of(200), 10, &live));
  EXPECT_TRUE(Rows::read_live(rows.block_of(200), 11, &live));
}

// Each transaction ends a row and makes another one in the same block, and some take that back. So whoever is told the
// live rows of a block finds as many as there were in the beginning.
TEST(Blocks, AreWholeWhileOthersChangeThem) {
  constexpr uint32_t kBlocks = 4, kLive = 20, kChanges = 60000, kWriters = 3;
  TestRows test(kBlocks * kBlockRows);
  Rows& rows = *test.rows;
  const auto slot_of = [](uint32_t block, uint32_t i) { return (block + 1) * kBlockRows + i; };
  for (uint32_t block = 0; block < kBlocks; ++block)
    for (uint32_t i = 0; i < kLive; ++i) rows.compare_and_set(slot_of(block, i), kFree, {kFrozen, kNobody});
  std::mutex locks[kBlocks], running_lock;
  std::vector<uint32_t> running;
  uint32_t next = 100;
  std::atomic<uint32_t> writers{kWriters};
  std::atomic<uint64_t> wrong{0}, told{0};

  const auto begin = [&] {
    const std::lock_guard guard(running_lock);
    running.push_back(next);
    return next++;
  };
  const auto oldest = [&] {
    const std::lock_guard guard(running_lock);
    return running.empty() ? next : *std::min_element(running.begin(), running.end());
  };
  const auto write = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (uint32_t change = 0; change < kChanges; ++change) {
      const uint32_t xid = begin(), block = random() % kBlocks;
      const std::lock_guard guard(locks[block]);
      Slot ended, made;
      do ended = slot_of(block, random() % kBlockRows);
      while (Rows::xids(rows.version(ended)).xmin == kNobody);
      do made = slot_of(block, random() % kBlockRows);
      while (Rows::xids(rows.version(made)).xmin != kNobody);
      const Xids before = Rows::xids(rows.version(ended));
      rows.begin_change(ended, xid);
      rows.compare_and_set(ended, before, {before.xmin, xid});
      rows.begin_change(made, xid);
      rows.compare_and_set(made, kFree, {xid, kNobody});
      {
        // It ends for others before it says so in the versions.
        const std::lock_guard end(running_lock);
        std::erase(running, xid);
      }
      if (random() % 4 == 0) {
        rows.compare_and_set(made, {xid, kNobody}, kFree);
        rows.finish_change(made);
        rows.compare_and_set(ended, {before.xmin, xid}, before);
        rows.finish_change(ended);
      } else {
        rows.finish_change(made);
        rows.finish_change(ended);
        rows.compare_and_set(ended, {before.xmin, xid}, kFree);
      }
    }
    --writers;
  };
  const auto read = [&] {
    do {
      const uint32_t xid = oldest();
      for (uint32_t block = 0; block < kBlocks; ++block) {
        uint64_t live = 0;
        if (!Rows::read_live(rows.block_of(slot_of(block, 0)), xid, &live)) continue;
        ++told;
        if (__builtin_popcountll(live) != static_cast<int>(kLive)) ++wrong;
      }
    } while (writers.load() != 0);
  };
  std::vector<std::thread> threads;
  threads.reserve(kWriters);
  for (unsigned i = 0; i < kWriters; ++i) threads.emplace_back(write, i);
  threads.emplace_back(read);
  threads.emplace_back(read);
  for (std::thread& thread : threads) thread.join();
  read();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_GE(told.load(), kBlocks) << "at least the last look is told";
}

}  // namespace
}  // namespace strom::store::rows
