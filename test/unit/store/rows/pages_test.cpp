// Pages of versions that go and come, alone and while several threads change and read what is in them.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "test_rows.hpp"

namespace strom::store::rows {
namespace {

constexpr Xids kFree{kNobody, kNobody}, kSettled{kFrozen, kNobody};
constexpr uint32_t kLocked = 1;  // in aux

/// Rows whose versions are overwritten where they have no memory.
struct Paged : TestRows {
  explicit Paged(uint64_t max_rows) : TestRows(max_rows) {
    rows->set_grow(
        [](void* self, uint64_t, uint64_t bytes) {
          auto* test = static_cast<Paged*>(self);
          if (test->is_full) return false;
          test->came += bytes;
          return true;
        },
        [](void* self, uint64_t offset, uint64_t bytes) {
          auto* test = static_cast<Paged*>(self);
          std::memset(test->memory.get() + offset, 0xDB, bytes);
          test->went += bytes;
        },
        this);
  }
  /// As release and drop, where nobody reads.
  bool drop(Slot first) const {
    if (!rows->begin_release(first) || !rows->release_page(first, kLocked)) return false;
    rows->drop_pages(first, 1);
    return true;
  }
  Xids found(Slot slot) const { return Rows::xids(rows->look(slot)); }

  bool is_full = false;
  uint64_t came = 0, went = 0;
};

TEST(Pages, GoWhereAllVersionsAreSettledOrFree) {
  Paged test(1000);
  Rows& rows = *test.rows;
  ASSERT_TRUE(rows.take_slot().is_ok());
  test.came = 0;
  for (Slot slot = kPageRows; slot < 2 * kPageRows; slot += 3) {
    rows.begin_change(slot, 100);
    rows.compare_and_set(slot, kFree, {100, kNobody});
    if (slot == kPageRows + 3) {
      EXPECT_FALSE(test.drop(kPageRows)) << "changes are open";
      EXPECT_EQ(rows.page_state(kPageRows), PageState::kPresent);
    }
    rows.finish_change(slot);
  }
  EXPECT_FALSE(test.drop(kPageRows)) << "versions are not frozen";
  for (Slot slot = kPageRows; slot < 2 * kPageRows; slot += 3)
    rows.compare_and_set(slot, {100, kNobody}, {kFrozen, kNobody});
  rows.version(kPageRows + 3).aux = kLocked;
  EXPECT_FALSE(test.drop(kPageRows)) << "a row is locked";
  rows.version(kPageRows + 3).aux = ~kLocked;
  rows.set_xmax(kPageRows, 101);
  EXPECT_FALSE(test.drop(kPageRows)) << "one has ended";
  rows.set_xmax(kPageRows, kNobody);

  ASSERT_TRUE(rows.begin_release(kPageRows));
  rows.begin_change(kPageRows + 9, 101);
  EXPECT_FALSE(rows.release_page(kPageRows, kLocked)) << "a change is announced";
  EXPECT_TRUE(rows.keep_page(kPageRows + 9));
  rows.finish_change(kPageRows + 9);
  ASSERT_TRUE(rows.begin_release(kPageRows));
  rows.begin_change(kPageRows + 9, kNobody);
  EXPECT_TRUE(rows.keep_page(kPageRows + 9));
  EXPECT_EQ(rows.page_state(kPageRows), PageState::kPresent);
  rows.finish_change(kPageRows + 9);
  EXPECT_FALSE(rows.release_page(kPageRows, kLocked)) << "somebody was there since";
  EXPECT_EQ(Rows::stamp_of(rows.block_of(kPageRows)).newest, 101);

  ASSERT_TRUE(test.drop(kPageRows));
  EXPECT_EQ(test.went, 4096);
  EXPECT_FALSE(test.drop(kPageRows)) << "it is gone";
  for (Slot slot = kPageRows; slot < 2 * kPageRows; ++slot)
    ASSERT_EQ(test.found(slot), (slot - kPageRows) % 3 == 0 ? kSettled : kFree) << slot;

  const Slot changed = kPageRows + 6;
  rows.begin_change(changed, 102);
  EXPECT_FALSE(rows.keep_page(changed));
  test.is_full = true;
  EXPECT_EQ(rows.bring_page(changed).code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(rows.page_state(changed), PageState::kGone);
  EXPECT_EQ(test.found(changed), kSettled);
  test.is_full = false;
  EXPECT_TRUE(rows.bring_page(changed).is_ok());
  EXPECT_TRUE(rows.keep_page(changed));
  EXPECT_EQ(test.came, 4096);
  for (Slot slot = kPageRows; slot < 2 * kPageRows; ++slot) {
    ASSERT_EQ(test.found(slot), (slot - kPageRows) % 3 == 0 ? kSettled : kFree) << slot;
    ASSERT_EQ(rows.version(slot).aux, 0);
  }
  rows.set_xmax(changed, 102);
  EXPECT_EQ(test.found(changed), (Xids{kFrozen, 102}));
}

TEST(Pages, ComeBackAsTheyWereBeforeTheirMemoryGoes) {
  Paged test(1000);
  Rows& rows = *test.rows;
  ASSERT_TRUE(rows.take_slot().is_ok());
  rows.version(7).aux = 8;
  ASSERT_TRUE(rows.begin_release(0));
  ASSERT_TRUE(rows.release_page(0, kLocked));
  EXPECT_EQ(rows.page_state(0), PageState::kReleased);
  EXPECT_FALSE(rows.begin_release(0));
  EXPECT_EQ(rows.look(7).aux, 0) << "nobody looks at it";
  test.is_full = true;
  rows.begin_change(7, 100);
  EXPECT_FALSE(rows.keep_page(7));
  EXPECT_TRUE(rows.bring_page(7).is_ok());
  rows.drop_pages(0, 1);
  EXPECT_EQ(rows.page_state(0), PageState::kPresent);
  EXPECT_EQ(rows.look(7).aux, 8);
  EXPECT_EQ(test.went, 0);
}

TEST(Pages, ComeTogetherWhereManyChange) {
  Paged test(200'000);
  Rows& rows = *test.rows;
  constexpr Slot kGroup = 2 * kGroupRows, kLast = kGroup + kGroupRows - 1;
  constexpr uint32_t kEnough = kGroupRows / kPageRows / kPartInUse;
  ASSERT_TRUE(rows.claim_slot(kLast).is_ok());
  for (Slot slot = kGroup; slot < kLast; slot += 7) rows.load_version(slot);
  test.came = 0;
  const auto bring = [&](Slot slot) {
    rows.begin_change(slot, 100);
    EXPECT_TRUE(rows.bring_page(slot).is_ok());
  };
  for (uint32_t page = 0; page + 1 < kEnough; ++page) bring(kGroup + 3 * page * kPageRows);
  EXPECT_EQ(test.came, (kEnough - 1) * 4096);
  EXPECT_EQ(rows.page_state(kLast), PageState::kGone);
  // One that still has its memory, as it is while readers are waited for.
  const Slot released = kGroup + 6 * kPageRows;
  rows.finish_change(released);
  rows.version(released).aux = ~kLocked;
  ASSERT_TRUE(rows.begin_release(released));
  ASSERT_TRUE(rows.release_page(released, kLocked));
  bring(kLast - kPageRows);
  EXPECT_EQ(rows.page_state(kLast), PageState::kGone) << "one too few are in use";
  bring(kLast);
  for (Slot slot = kGroup; slot <= kLast; ++slot) {
    ASSERT_EQ(rows.page_state(slot), PageState::kPresent) << slot;
    ASSERT_EQ(Rows::xids(rows.version(slot)), (slot - kGroup) % 7 == 0 && slot != kLast ? kSettled : kFree) << slot;
    ASSERT_EQ(rows.version(slot).aux, slot == released ? ~kLocked : 0);
  }
  EXPECT_EQ(rows.page_state(kGroup - 1), PageState::kGone) << "of another group";
}

TEST(Pages, AreNotMadeByLoading) {
  Paged test(100000);
  Rows& rows = *test.rows;
  for (const Slot slot : {3, 70000, 5}) {
    ASSERT_TRUE(rows.claim_slot(slot).is_ok());
    rows.load_version(slot);
  }
  rows.unload_version(5);
  rows.free_unclaimed();
  EXPECT_EQ(rows.page_state(3), PageState::kGone);
  EXPECT_EQ(rows.page_state(70000), PageState::kGone);
  EXPECT_EQ(test.found(3), kSettled);
  EXPECT_EQ(test.found(70000), kSettled);
  EXPECT_EQ(test.found(5), kFree);
  EXPECT_EQ(rows.info(0).settled, 1);
  EXPECT_EQ(rows.info(1).settled, 1);
  EXPECT_EQ(rows.state().free_slots, 70000 - 2) << "slot 0 is none";
  EXPECT_EQ(rows.take_slot().value(), 1);
  EXPECT_LE(test.came, 2 * test.layout.chunk_bytes);
}

constexpr uint32_t kMadeBit = 2, kEndedBit = 4, kMostXids = 400000;

/// Transactions that end a row and make another one in the same block, snapshots that see as many rows as ever, and
/// somebody who takes pages away.
class Crowd {
 public:
  static constexpr uint32_t kPages = 3, kBlocks = kPages * kPageRows / kBlockRows, kLive = 20;

  /// `slots` are in use, of which others than the pages of the crowd stay as they are.
  explicit Crowd(uint32_t slots) : test_(100000), rows_(*test_.rows), outcomes_(kMostXids) {
    while (rows_.used_slots() < slots) EXPECT_TRUE(rows_.take_slot().is_ok());
    for (uint32_t block = 0; block < kBlocks; ++block)
      for (uint32_t i = 0; i < kLive; ++i) rows_.compare_and_set(slot_of(block, i), kFree, kSettled);
  }

  void write(unsigned seed, uint32_t changes) {
    std::mt19937 random(seed);
    for (uint32_t done = 0; done < changes;) done += change(random) ? 1 : 0;
    --writers_;
  }

  void read(unsigned seed) {
    std::mt19937 random(seed);
    do {
      const uint32_t snapshot = take_snapshot(), block = random() % kBlocks;
      if (random() % 2 == 0) {
        const std::shared_lock lock(version_lock_);
        look_at(block, snapshot, random);
      } else {
        const std::lock_guard lock(bucket_locks_[block]);
        look_at(block, snapshot, random);
      }
      release_snapshot(snapshot);
    } while (writers_ != 0);
  }

  void freeze() {
    do {
      for (uint32_t page = 1; page <= kPages; ++page) freeze_page(page * kPageRows);
      std::this_thread::yield();
    } while (writers_ != 0);
  }

  static Slot slot_of(uint32_t block, uint32_t i) { return kPageRows + block * kBlockRows + i; }

  Paged test_;
  Rows& rows_;
  std::atomic<uint32_t> writers_{0};
  std::atomic<uint32_t> changes_{0};
  std::atomic<uint64_t> wrong_{0}, told_{0}, dropped_{0}, brought_{0};

 private:
  uint32_t begin() {
    const std::lock_guard guard(running_lock_);
    running_.push_back(next_);
    return next_++;
  }
  /// For others, before it says so in the versions.
  void end(uint32_t xid, bool commits) {
    const std::lock_guard guard(running_lock_);
    outcomes_[xid] = commits;
    std::erase(running_, xid);
  }
  uint32_t oldest_running() const {
    return running_.empty() ? next_ : *std::min_element(running_.begin(), running_.end());
  }
  uint32_t take_snapshot() {
    const std::lock_guard guard(running_lock_);
    snapshots_.push_back(oldest_running());
    return snapshots_.back();
  }
  void release_snapshot(uint32_t snapshot) {
    const std::lock_guard guard(running_lock_);
    snapshots_.erase(std::find(snapshots_.begin(), snapshots_.end(), snapshot));
  }
  uint32_t horizon() {
    const std::lock_guard guard(running_lock_);
    uint32_t oldest = oldest_running();
    for (const uint32_t snapshot : snapshots_) oldest = std::min(oldest, snapshot);
    return oldest;
  }

  /// Lets the others come between.
  static void pause(std::mt19937& random) {
    if (random() % 64 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 64));
  }

  void hold(Slot slot, uint32_t xid) {
    rows_.begin_change(slot, xid);
    if (rows_.keep_page(slot)) return;
    const std::lock_guard lock(page_lock_);
    EXPECT_TRUE(rows_.bring_page(slot).is_ok());
    ++brought_;
  }

  bool change(std::mt19937& random) {
    // One page after the other has some rest, mostly.
    constexpr uint32_t kTogether = 400, kInPage = kPageRows / kBlockRows;
    const uint32_t page = changes_++ / kTogether % kPages;
    const uint32_t block = random() % 512 == 0 ? random() % kBlocks : page * kInPage + random() % kInPage;
    // Before it begins: a snapshot takes all transactions before the oldest one that runs for ended, and no others.
    const std::lock_guard lock(bucket_locks_[block]);
    const uint32_t xid = begin();
    Slot ended, made = slot_of(block, 0);
    while (made != slot_of(block, kBlockRows) && test_.found(made) != kFree) ++made;
    if (made == slot_of(block, kBlockRows)) {
      // Some snapshot still sees what is there.
      end(xid, false);
      free_old(block, horizon());
      std::this_thread::yield();
      return false;
    }
    do ended = slot_of(block, random() % kBlockRows);
    while (!rows_.has_row(ended));
    hold(ended, xid);
    pause(random);
    rows_.set_xmax(ended, xid);
    pause(random);
    hold(made, xid);
    __atomic_store_n(&rows_.version(made).aux, 0, __ATOMIC_RELEASE);
    EXPECT_TRUE(rows_.compare_and_set(made, kFree, {xid, kNobody}));
    const bool commits = random() % 4 != 0;
    end(xid, commits);
    pause(random);
    if (commits) {
      __atomic_fetch_or(&rows_.version(made).aux, kMadeBit, __ATOMIC_ACQ_REL);
      rows_.finish_change(made);
      __atomic_fetch_or(&rows_.version(ended).aux, kEndedBit, __ATOMIC_ACQ_REL);
      rows_.finish_change(ended);
    } else {
      rows_.set_free(made);
      rows_.finish_change(made);
      rows_.set_xmax(ended, kNobody);
      rows_.finish_change(ended);
    }
    free_old(block, horizon());
    return true;
  }

  void free_old(uint32_t block, uint32_t horizon) {
    for (uint32_t i = 0; i < kBlockRows; ++i) {
      const Version& version = rows_.look(slot_of(block, i));
      const Xids xids = Rows::xids(version);
      if (xids.xmax == kNobody || (__atomic_load_n(&version.aux, __ATOMIC_ACQUIRE) & kEndedBit) == 0) continue;
      if (xids.xmax < horizon) rows_.set_free(slot_of(block, i));
    }
  }

  /// As Rows::look(), with time for others.
  const Version& look_slowly(Slot slot, std::mt19937& random) {
    static constexpr Version kAway[] = {{kNobody, kNobody, 0}, {kFrozen, kNobody, 0}};
    for (;;) {
      if (!is_away(rows_.page_state(slot))) return rows_.version(slot);
      pause(random);
      const bool has_row = rows_.has_row(slot);
      pause(random);
      if (is_away(rows_.page_state(slot))) return kAway[has_row ? 1 : 0];
    }
  }

  bool is_seen(Slot slot, uint32_t snapshot, std::mt19937& random) {
    const Version& version = random() % 2 == 0 ? rows_.look(slot) : look_slowly(slot, random);
    pause(random);
    const Xids xids = Rows::xids(version);
    const auto is_done = [&](uint32_t xid) { return xid < snapshot && outcomes_[xid]; };
    if (xids.xmin == kNobody || (xids.xmin != kFrozen && !is_done(xids.xmin))) return false;
    return xids.xmax == kNobody || !is_done(xids.xmax);
  }

  void look_at(uint32_t block, uint32_t snapshot, std::mt19937& random) {
    uint32_t seen = 0;
    for (uint32_t i = 0; i < kBlockRows; ++i) seen += is_seen(slot_of(block, i), snapshot, random) ? 1 : 0;
    ++told_;
    if (seen != kLive) ++wrong_;
  }

  void wait_for_readers() {
    {
      const std::lock_guard lock(version_lock_);
    }
    for (std::mutex& lock : bucket_locks_) const std::lock_guard guard(lock);
  }

  void freeze_page(Slot first) {
    const uint32_t old = horizon();
    {
      const std::shared_lock lock(version_lock_);
      for (Slot slot = first; slot < first + kPageRows; ++slot) {
        const Version& version = rows_.look(slot);
        const Xids xids = Rows::xids(version);
        if (xids.xmin == kNobody || xids.xmin == kFrozen || xids.xmin >= old) continue;
        if ((__atomic_load_n(&version.aux, __ATOMIC_ACQUIRE) & kMadeBit) == 0 || Rows::xids(version) != xids) continue;
        rows_.compare_and_set(slot, xids, {kFrozen, xids.xmax});
      }
    }
    for (Slot slot = first; slot < first + kPageRows; slot += kBlockRows) {
      const uint32_t block = (slot - kPageRows) / kBlockRows;
      const std::lock_guard lock(bucket_locks_[block]);
      free_old(block, old);
    }
    if (!rows_.begin_release(first)) return;
    wait_for_readers();
    if (!rows_.release_page(first, kLocked)) return;
    wait_for_readers();
    const std::lock_guard lock(page_lock_);
    rows_.drop_pages(first, 1);
    if (rows_.page_state(first) == PageState::kGone) ++dropped_;
  }

  std::mutex bucket_locks_[kBlocks], running_lock_, page_lock_;
  std::shared_mutex version_lock_;
  std::vector<uint32_t> running_, snapshots_;
  std::vector<std::atomic<bool>> outcomes_;
  uint32_t next_ = 100;
};

// Whoever may change xmax is not hindered by others who freeze the version.
TEST(Pages, AreFrozenWhileVersionsEnd) {
  constexpr uint32_t kEnds = 200000;
  Paged test(1000);
  Rows& rows = *test.rows;
  ASSERT_TRUE(rows.take_slot().is_ok());
  std::atomic<bool> is_done{false};
  rows.compare_and_set(5, kFree, {100, kNobody});
  std::thread freezer([&] {
    while (!is_done) {
      const Xids before = Rows::xids(rows.version(5));
      rows.compare_and_set(5, before, {before.xmin == 100 ? kFrozen : 100, before.xmax});
    }
  });
  uint32_t lost = 0;
  for (uint32_t xid = 101; xid < 101 + kEnds; ++xid) {
    rows.set_xmax(5, xid);
    lost += Rows::xids(rows.version(5)).xmax == xid ? 0 : 1;
  }
  is_done = true;
  freezer.join();
  EXPECT_EQ(lost, 0);
}

void go_and_come(uint32_t slots) {
  constexpr uint32_t kWriters = 3, kReaders = 3, kChanges = 60000;
  Crowd crowd(slots);
  crowd.writers_ = kWriters;
  std::vector<std::thread> threads;
  threads.reserve(kWriters + kReaders + 1);
  for (uint32_t i = 0; i < kWriters; ++i) threads.emplace_back([&, i] { crowd.write(i, kChanges); });
  for (uint32_t i = 0; i < kReaders; ++i) threads.emplace_back([&, i] { crowd.read(100 + i); });
  threads.emplace_back([&] { crowd.freeze(); });
  for (std::thread& thread : threads) thread.join();
  crowd.read(7);
  crowd.freeze();
  EXPECT_EQ(crowd.wrong_, 0);
  EXPECT_GT(crowd.told_, 0);
  EXPECT_GT(crowd.brought_, 10);
  EXPECT_GT(crowd.dropped_, 10);
  // At the last look nothing is in the way.
  for (uint32_t page = 1; page <= Crowd::kPages; ++page)
    EXPECT_EQ(crowd.rows_.page_state(page * kPageRows), PageState::kGone);
  for (uint32_t block = 0; block < Crowd::kBlocks; ++block)
    EXPECT_EQ(__builtin_popcountll(crowd.rows_.block_of(Crowd::slot_of(block, 0)).live), int{Crowd::kLive});
}

TEST(Pages, GoAndComeWhileOthersChangeThem) { go_and_come((Crowd::kPages + 1) * kPageRows); }
TEST(Pages, GoAndComeTogetherWhileOthersChangeThem) { go_and_come(kGroupRows); }

}  // namespace
}  // namespace strom::store::rows
