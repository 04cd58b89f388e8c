// Morsels of several devices: each is handed its own, in every query the same, and others' when it has none left.
#include "engine/exec/morsel_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <thread>

namespace strom::engine::exec {
namespace {

/// Chunks of so many rows, each at a place of its own.
class Chunks : public op::ChunkSource, private op::ChunkFeeder {
 public:
  Chunks(int64_t count, int64_t rows, bool is_fed = false) : count_(count), rows_(rows), is_fed_(is_fed) {}
  int64_t chunk_count() const override { return count_; }
  int64_t total_rows() const override { return count_ * rows_; }
  Result<columnar::BatchView> chunk(int64_t) const override {
    columnar::BatchView view;
    view.rows = rows_;
    return view;
  }
  uint64_t cache_key(int64_t index) const override { return static_cast<uint64_t>(index + first_); }
  uint32_t storage_index(int64_t index) const override { return static_cast<uint32_t>(index % 2); }
  op::ChunkFeeder* feeder() const override { return is_fed_ ? const_cast<Chunks*>(this) : nullptr; }
  /// As if chunks before were left out.
  void begin_at(int64_t first) { first_ = first; }

 private:
  bool feed() override { return false; }
  int64_t limit(int) override { return 1; }
  void rewind() override {}
  void release(int64_t, bool) override {}

  const int64_t count_, rows_;
  const bool is_fed_;
  int64_t first_ = 0;
};

using Piece = std::pair<int64_t, int64_t>;  // place of the chunk, first row

struct Taken {
  std::vector<Piece> own, away;
};

/// All morsels by devices that take turns.
std::map<size_t, Taken> take_all(Chunks& source, const MorselAffinity& affinity, const std::vector<size_t>& devices,
                                 int64_t morsel_rows = 100) {
  MorselQueue queue(source, morsel_rows, {}, affinity);
  if (source.feeder() != nullptr)
    for (int64_t i = 0; i < source.chunk_count(); ++i) queue.add_fed();
  queue.end_feeding();
  std::map<size_t, Taken> taken;
  for (size_t turn = 0;; ++turn) {
    const size_t device = devices[turn % devices.size()];
    op::Morsel morsel;
    const Result<bool> more = queue.next(&morsel, false, device);
    EXPECT_TRUE(more.is_ok());
    if (!more.is_ok() || !more.value()) break;
    const Piece piece{static_cast<int64_t>(source.cache_key(morsel.chunk)), morsel.begin};
    (morsel.is_away ? taken[device].away : taken[device].own).push_back(piece);
  }
  EXPECT_EQ(queue.rows(), source.total_rows());
  return taken;
}

std::set<Piece> all_of(const std::map<size_t, Taken>& taken) {
  std::set<Piece> all;
  for (const auto& [device, pieces] : taken) {
    all.insert(pieces.own.begin(), pieces.own.end());
    all.insert(pieces.away.begin(), pieces.away.end());
  }
  return all;
}

class Queue : public testing::TestWithParam<bool> {};  // whether chunks are fed

TEST_P(Queue, HandsOutEachMorselOnceAndOwnOnesFirst) {
  Chunks source(90, 100, GetParam());
  const MorselAffinity affinity({0, 1, 2}, {});
  const auto taken = take_all(source, affinity, {0, 1, 2});
  EXPECT_EQ(all_of(taken).size(), 90u);
  size_t away = 0;
  for (const auto& [device, pieces] : taken) {
    EXPECT_GT(pieces.own.size(), 18u);
    away += pieces.away.size();
    for (const auto& [place, begin] : pieces.own) EXPECT_EQ(affinity.of(source, place, 0), device);
    for (const auto& [place, begin] : pieces.away) EXPECT_NE(affinity.of(source, place, 0), device);
  }
  EXPECT_LT(away, 20u);
}

TEST_P(Queue, OneDeviceTakesWhatOthersDoNot) {
  Chunks source(30, 100, GetParam());
  const auto taken = take_all(source, MorselAffinity({0, 1, 2}, {}), {2});
  EXPECT_EQ(all_of(taken).size(), 30u);
  EXPECT_GT(taken.at(2).own.size(), 3u);
  EXPECT_GT(taken.at(2).away.size(), 10u);
}

TEST_P(Queue, HomesAreThoseOfOtherQueries) {
  Chunks all(60, 100, GetParam()), some(20, 100, GetParam());
  some.begin_at(30);  // the query leaves chunks out
  const MorselAffinity three({4, 7, 9}, {}), other_order({9, 4, 7}, {}), two({4, 9}, {});
  for (int64_t chunk = 0; chunk < 20; ++chunk) {
    const size_t home = three.of(all, chunk + 30, 0);
    EXPECT_EQ(three.of(some, chunk, 0), home);
    EXPECT_EQ(other_order.of(some, chunk, 0), (home + 1) % 3);
    if (home != 1) {
      EXPECT_EQ(two.of(some, chunk, 0), home / 2);  // only those of the device that is not used move
    }
  }
}

TEST_P(Queue, PartsGoToTheDevicesNearThem) {
  Chunks source(40, 100, GetParam());
  const auto taken = take_all(source, MorselAffinity({0, 1, 2}, {{1}, {0, 2}}), {0, 1, 2});
  for (const auto& [place, begin] : taken.at(1).own) EXPECT_EQ(place % 2, 0);
  for (const size_t device : {0, 2})
    for (const auto& [place, begin] : taken.at(device).own) EXPECT_EQ(place % 2, 1);
  EXPECT_EQ(all_of(taken).size(), 40u);
}

INSTANTIATE_TEST_SUITE_P(Sources, Queue, testing::Bool());

TEST(OneQueue, PiecesOfALargeChunkAreSpread) {
  Chunks source(1, 100'000);
  const auto taken = take_all(source, MorselAffinity({0, 1}, {}), {0, 1}, 1000);
  EXPECT_EQ(all_of(taken).size(), 100u);
  for (const auto& [device, pieces] : taken) EXPECT_GT(pieces.own.size(), 30u);
}

TEST(OneQueue, WithoutDevicesInOrder) {
  Chunks source(5, 250);
  const auto taken = take_all(source, MorselAffinity({}, {}), {0});
  std::vector<Piece> wanted;
  for (int64_t chunk = 0; chunk < 5; ++chunk)
    for (const int64_t begin : {0, 100, 200}) wanted.emplace_back(chunk, begin);
  EXPECT_EQ(taken.at(0).own, wanted);
}

TEST(OneQueue, ThreadsOfAllDevicesAtATime) {
  for (const bool is_fed : {false, true}) {
    Chunks source(2000, 300, is_fed);
    MorselQueue queue(source, 100, {}, MorselAffinity({0, 1, 2}, {}));
    std::atomic<int64_t> rows{0};
    std::vector<std::thread> threads;
    threads.reserve(6);
    for (size_t i = 0; i < 6; ++i)
      threads.emplace_back([&, i] {
        op::Morsel morsel;
        while (queue.next(&morsel, true, i % 3).value()) rows += morsel.rows;
      });
    for (int64_t i = 0; is_fed && i < source.chunk_count(); ++i) queue.add_fed();
    if (is_fed) queue.end_feeding();
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(rows, source.total_rows());
  }
}

/// Morsels that each lane has run, in order.
using Lanes = std::map<size_t, std::vector<Piece>>;

Lanes run_lanes(Chunks& source, size_t lanes, size_t thread_count) {
  MorselQueue queue(source, 100, {}, MorselAffinity({}, {}), lanes);
  std::mutex mutex;
  Lanes taken;
  std::vector<std::thread> threads;
  threads.reserve(thread_count);
  for (size_t i = 0; i < thread_count; ++i)
    threads.emplace_back([&] {
      op::Morsel morsel;
      while (queue.next(&morsel, true, 0).value()) {
        {
          std::lock_guard lock(mutex);
          taken[morsel.lane].emplace_back(morsel.chunk, morsel.begin);
        }
        std::this_thread::yield();
        bool has_fallback = false;
        queue.end(morsel, &has_fallback);
      }
    });
  if (source.feeder() != nullptr) {
    for (int64_t i = 0; i < source.chunk_count(); ++i) queue.add_fed();
    queue.end_feeding();
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(queue.rows(), source.total_rows());
  return taken;
}

TEST_P(Queue, LanesGetTheSameMorselsAtAnyTime) {
  Chunks source(200, 350, GetParam());
  const Lanes alone = run_lanes(source, 3, 1);
  ASSERT_EQ(alone.size(), 3u);
  for (const auto& [lane, pieces] : alone) EXPECT_TRUE(std::is_sorted(pieces.begin(), pieces.end()));
  for (const size_t threads : {2, 3, 8}) EXPECT_EQ(run_lanes(source, 3, threads), alone);
}

TEST_P(Queue, OneLaneHasAllRowsInOrder) {
  Chunks source(50, 100, GetParam());
  const Lanes lanes = run_lanes(source, 1, 4);
  ASSERT_EQ(lanes.size(), 1u);
  ASSERT_EQ(lanes.at(0).size(), 50u);
  EXPECT_TRUE(std::is_sorted(lanes.at(0).begin(), lanes.at(0).end()));
}

TEST(OneQueue, WhoWaitsForALaneIsWoken) {
  Chunks source(4, 100);
  MorselQueue queue(source, 100, {}, MorselAffinity({}, {}), 1);
  op::Morsel morsel;
  ASSERT_TRUE(queue.next(&morsel, true, 0).value());
  op::Morsel other;
  EXPECT_FALSE(queue.next(&other, false, 0).value());  // the only lane is taken
  std::thread waiting([&] { EXPECT_FALSE(queue.next(&other, true, 0).value()); });
  queue.stop();
  waiting.join();
}

/// One chunk with columns that are loaded when two threads are at it, or a while has passed.
class SlowColumns : public op::ChunkSource {
 public:
  static constexpr int64_t kColumns = 6, kRows = 1000;
  int64_t chunk_count() const override { return 1; }
  int64_t total_rows() const override { return kRows; }
  int64_t loadable_columns(int64_t) const override { return kColumns; }
  void load_column(int64_t, int64_t column) const override {
    std::unique_lock lock(mutex_);
    loaded_.insert(column);
    ++inside_;
    met_ = met_ || inside_ == 2;
    changed_.notify_all();
    changed_.wait_for(lock, std::chrono::seconds(20), [&] { return met_; });
    --inside_;
  }
  Result<columnar::BatchView> chunk(int64_t) const override {
    std::lock_guard lock(mutex_);
    all_were_loaded_ = loaded_.size() == kColumns && inside_ == 0;
    columnar::BatchView view;
    view.rows = kRows;
    return view;
  }
  bool met() const { return met_; }
  bool all_were_loaded() const { return all_were_loaded_; }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::multiset<int64_t> loaded_;
  mutable int inside_ = 0;
  mutable bool met_ = false, all_were_loaded_ = false;
};

class Columns : public testing::TestWithParam<size_t> {};  // lanes

TEST_P(Columns, OfOneChunkAreLoadedByAllThreads) {
  SlowColumns source;
  MorselQueue queue(source, 100, {}, MorselAffinity({}, {}), GetParam());
  std::atomic<int64_t> rows = 0;
  // The thread that answers to interrupts does not wait, but looks again.
  const auto run = [&](bool waits) {
    while (rows < SlowColumns::kRows) {
      op::Morsel morsel;
      const Result<bool> more = queue.next(&morsel, waits, 0);
      if (!more.is_ok()) return;
      if (!more.value() && waits) return;
      if (!more.value()) continue;
      rows += morsel.rows;
      bool has_fallback = false;
      queue.end(morsel, &has_fallback);
    }
  };
  std::thread other(run, true);
  run(false);
  other.join();
  EXPECT_TRUE(source.met());
  EXPECT_TRUE(source.all_were_loaded());
  EXPECT_EQ(rows, SlowColumns::kRows);
}

INSTANTIATE_TEST_SUITE_P(Lanes, Columns, testing::Values(0, 2));

}  // namespace
}  // namespace strom::engine::exec
