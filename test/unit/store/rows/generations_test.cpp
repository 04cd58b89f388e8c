// Generations of a chunk: whoever has a copy of an earlier one learns which blocks it lacks, while rows are written.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "test_rows.hpp"

namespace strom::store::rows {
namespace {

void write(const Rows& rows, Slot slot, int32_t value) {
  const Cell cell{&value, sizeof value, false};
  EXPECT_TRUE(rows.write(slot, {&cell, 1}).is_ok());
}

std::vector<uint32_t> written_since(const Rows& rows, uint64_t generation) {
  std::vector<uint32_t> found;
  const std::vector<uint64_t> blocks = rows.written_blocks(0);
  for (uint32_t i = 0; i < blocks.size(); ++i)
    if (blocks[i] >= generation) found.push_back(i);
  return found;
}

TEST(Generations, BeginWhereRowsWereWritten) {
  TestRows test(1000);
  const Rows& rows = *test.rows;
  const uint64_t first = rows.generation(0);
  EXPECT_GT(first, 0u) << "copies without a generation are older";
  EXPECT_EQ(rows.generation(0), first) << "nothing was written";
  EXPECT_TRUE(written_since(rows, first).empty());

  write(rows, 5, 1);
  write(rows, 70, 1);
  const uint64_t second = rows.generation(0);
  EXPECT_GT(second, first);
  EXPECT_EQ(written_since(rows, first), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(written_since(rows, second).empty());

  write(rows, 71, 2);
  const uint64_t third = rows.generation(0);
  EXPECT_EQ(rows.generation(0), third);
  EXPECT_EQ(written_since(rows, second), (std::vector<uint32_t>{1}));
  EXPECT_EQ(written_since(rows, first), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(written_since(rows, third).empty());
}

// Other slots may be written to at this moment, as for a device.
__attribute__((no_sanitize("thread"))) int32_t read_anyway(const int32_t* at) {
  return *const_cast<const volatile int32_t*>(at);
}

constexpr uint32_t kBlocks = 16, kRows = kBlocks * kBlockRows;

/// Who sees what: a stand-in for PostgreSQL's snapshots. Any thread.
class Snapshots {
 public:
  Snapshots() {
    for (Slot slot = kBlockRows; slot < kRows; ++slot) ended_[slot] = 0;
  }
  /// A slot from `from` on whose row no snapshot sees; kNoSlot: there is none.
  Slot take_slot(Slot from) {
    const std::lock_guard guard(lock_);
    const uint64_t oldest = open_.empty() ? clock_ : *open_.begin();
    auto found = ended_.lower_bound(from);
    while (found != ended_.end() && found->second >= oldest) ++found;
    if (found == ended_.end()) return kNoSlot;
    const Slot slot = found->first;
    ended_.erase(found);
    return slot;
  }
  /// A row was written; when there are many, the one behind `from` ends.
  void commit(Slot slot, int32_t value, Slot from) {
    const std::lock_guard guard(lock_);
    ++clock_;
    seen_[slot] = value;
    if (seen_.size() < kRows / 2) return;
    auto gone = seen_.lower_bound(from);
    if (gone == seen_.end()) gone = seen_.begin();
    ended_[gone->first] = clock_;
    seen_.erase(gone);
  }
  std::map<Slot, int32_t> open(uint64_t* number) {
    const std::lock_guard guard(lock_);
    open_.insert(*number = ++clock_);
    return seen_;
  }
  void close(uint64_t number) {
    const std::lock_guard guard(lock_);
    open_.erase(open_.find(number));
  }

 private:
  std::mutex lock_;
  std::map<Slot, int32_t> seen_;
  std::map<Slot, uint64_t> ended_;  // slots without a row, and since when
  std::multiset<uint64_t> open_;
  uint64_t clock_ = 1;
};

/// A copy of the column that sessions share, as on a device.
struct Copy {
  std::vector<std::atomic<int32_t>> values = std::vector<std::atomic<int32_t>>(kRows);
  std::atomic<uint64_t> generation{0}, updates{0}, blocks{0};
  std::mutex updating;

  /// Brings it up to date, if nobody else does. Some sessions give up in the middle.
  void update(const Rows& rows, uint64_t wanted, const std::vector<uint64_t>& written, std::mt19937* random) {
    if (generation >= wanted) return;
    const std::unique_lock guard(updating, std::try_to_lock);
    if (!guard.owns_lock() || generation >= wanted) return;
    const bool gives_up = (*random)() % 8 == 0;
    const auto* from = reinterpret_cast<const int32_t*>(rows.values(0, 0));
    for (uint32_t block = 0; block < kBlocks; ++block) {
      if (written[block] < generation || (gives_up && (*random)() % 2 == 0)) continue;
      for (uint32_t i = block * kBlockRows; i < (block + 1) * kBlockRows; ++i)
        values[i].store(read_anyway(from + i), std::memory_order_relaxed);
      ++blocks;
    }
    ++updates;
    if (!gives_up) generation = wanted;
  }
};

// Sessions share one copy, which each brings up to date in its place before it reads. Writers use slots again that no
// snapshot sees. Every session must find in the copy what its snapshot sees, although others write to the copy.
TEST(Generations, KeepACopyRightWhileRowsAreWritten) {
  constexpr uint32_t kWriters = 3, kReaders = 3;
  constexpr uint64_t kUpdates = 1000;
  TestRows test(kRows);
  const Rows& rows = *test.rows;
  Snapshots snapshots;
  Copy copy;
  std::atomic<uint64_t> wrong{0}, looks{0};
  std::atomic<bool> ends{false};

  const auto write_rows = [&](unsigned seed) {
    std::mt19937 random(seed);
    const auto any = [&random] { return kBlockRows + static_cast<Slot>(random() % (kRows - kBlockRows)); };
    int32_t next = static_cast<int32_t>(seed) * 100'000'000;
    while (!ends) {
      const Slot slot = snapshots.take_slot(any());
      if (slot == kNoSlot) continue;
      write(rows, slot, ++next);
      snapshots.commit(slot, next, any());
      if (next % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(20));  // readers need the lock, too
    }
  };
  const auto read_rows = [&](unsigned seed) {
    std::mt19937 random(seed);
    while (!ends) {
      uint64_t number = 0;
      const std::map<Slot, int32_t> wanted = snapshots.open(&number);
      const uint64_t generation = rows.generation(0);
      copy.update(rows, generation, rows.written_blocks(0), &random);
      if (copy.generation >= generation) {
        ++looks;
        for (const auto& [slot, value] : wanted)
          wrong += copy.values[slot].load(std::memory_order_relaxed) != value ? 1 : 0;
      }
      snapshots.close(number);
    }
  };

  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kWriters; ++i) threads.emplace_back(write_rows, i + 1);
  for (unsigned i = 0; i < kReaders; ++i) threads.emplace_back(read_rows, i + 100);
  const auto latest = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while ((copy.updates < kUpdates || looks < kUpdates / 2) && std::chrono::steady_clock::now() < latest)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ends = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(looks, kUpdates / 20);
  EXPECT_GT(copy.updates, kUpdates / 10) << "in a minute";
  EXPECT_LT(copy.blocks, copy.updates * kBlocks) << "not all blocks each time";
}

}  // namespace
}  // namespace strom::store::rows
