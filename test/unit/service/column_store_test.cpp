// Which columns stay on the device: uses and bytes, pins, memory that tasks take back.
#include "service/column_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "service/scheduler.hpp"

namespace strom::service {
namespace {

using engine::device::OfferedColumn;
constexpr uint64_t kMemory = 1000, kUnit = 1 << 20;  // units of memory

class FakeRegion final : public engine::device::DeviceRegion {
 public:
  FakeRegion(size_t size, std::atomic<uint64_t>* held)
      : DeviceRegion(reinterpret_cast<char*>(0x1000), nullptr, size), held_(held) {
    *held_ += size;
  }
  ~FakeRegion() override { *held_ -= size(); }

 private:
  std::atomic<uint64_t>* const held_;
};

class ColumnStoreTest : public testing::Test {
 protected:
  // A use as a query makes it: looks, and fills what is wanted. True: it was there.
  bool use(uint32_t session, const std::string& name, uint64_t units, bool lets_go = true) {
    const ColumnRow row = find(session, name).at(0);
    uint64_t number = row.number;
    if (row.state == kColumnIsWanted) {
      number = store_.make_room(session, {offer(name, units)}).value().at(0).number;
      if (number != 0) {
        EXPECT_TRUE(store_.settle(session, {number, 1, "shape of " + name}).is_ok());
      }
    }
    EXPECT_EQ(row.shape, row.state == kColumnIsCached ? "shape of " + name : "");
    if (number != 0 && lets_go) {
      EXPECT_TRUE(store_.settle(session, {number, 0, ""}).is_ok());
    }
    return row.state == kColumnIsCached;
  }
  std::vector<ColumnRow> find(uint32_t session, const std::string& name, uint64_t generation = 0) {
    return store_.find(session, {{name}, {generation}});
  }
  static OfferedColumn offer(const std::string& name, uint64_t units) {
    return {name, "f/" + name.substr(0, 1), 1, units * kUnit};
  }
  bool has(const std::string& name) {
    const ColumnRow row = find(99, name).at(0);
    store_.end_session(99);
    return row.state == kColumnIsCached;
  }
  uint64_t held() const { return held_ / kUnit; }
  // Memory for a session, as the runner has it.
  std::shared_ptr<Task> allocate(uint32_t session, uint64_t units) {
    auto task = std::make_shared<Task>();
    task->session = session;
    task->tag = ++tag_;
    task->memory = units * kUnit;
    EXPECT_TRUE(scheduler_.submit(task).is_ok());
    const auto taken = scheduler_.take();
    store_.give_back();
    return taken;
  }

  std::atomic<uint64_t> held_ = 0;
  uint32_t tag_ = 0;
  Scheduler scheduler_{kMemory * kUnit};
  ColumnStore store_{&scheduler_, 800 * kUnit, 400 * kUnit, [this](size_t bytes, bool) -> Result<ColumnStore::Region> {
                       return ColumnStore::Region(std::make_shared<FakeRegion>(bytes, &held_));
                     }};
};

TEST_F(ColumnStoreTest, at_once_while_memory_is_free) {
  EXPECT_FALSE(use(1, "a", 300));
  EXPECT_TRUE(use(2, "a", 300));
  EXPECT_FALSE(use(1, "b", 300));
  EXPECT_EQ(held(), 600u);
  // Nothing leaves for what is used for the first time, and neither for what is used as often.
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(use(1, "c", 300));
    use(1, "a", 300), use(1, "b", 300);
  }
  EXPECT_TRUE(has("a") && has("b"));
}

TEST_F(ColumnStoreTest, what_is_used_more_stays) {
  for (int i = 0; i < 5; ++i) use(1, "a", 400);
  use(1, "b", 400);
  for (int i = 0; i < 6; ++i) use(1, "c", 300);
  EXPECT_TRUE(has("a") && has("c"));
  EXPECT_FALSE(has("b"));
  EXPECT_EQ(held(), 700u);
  EXPECT_FALSE(use(1, "d", 801));
  EXPECT_EQ(find(1, "d")[0].number, 0u);
}

TEST_F(ColumnStoreTest, a_table_larger_than_memory_keeps_its_part) {
  const auto scan = [this] {
    int there = 0;
    for (int i = 0; i < 100; ++i) there += use(1, "t" + std::to_string(i), 16) ? 1 : 0;
    return there;
  };
  scan();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(scan(), 50);
}

TEST_F(ColumnStoreTest, mirrored_ones_have_a_limit_of_their_own) {
  const auto use_table = [this](const std::string& name, uint64_t units) {
    const ColumnRow row = find(1, name).at(0);
    uint64_t number = row.number;
    if (row.state == kColumnIsWanted) {
      OfferedColumn table = offer(name, units);
      table.is_mirrored = true;
      number = store_.make_room(1, {table}).value().at(0).number;
      if (number != 0) {
        EXPECT_TRUE(store_.settle(1, {number, 1, "table"}).is_ok());
      }
    }
    store_.end_session(1);
    return row.state == kColumnIsCached;
  };
  EXPECT_FALSE(use_table("huge", 401));
  EXPECT_FALSE(use_table("huge", 401));
  EXPECT_EQ(held(), 0u);
  EXPECT_FALSE(use_table("a", 200));
  EXPECT_FALSE(use_table("b", 200));
  EXPECT_FALSE(use(2, "column", 200));
  EXPECT_TRUE(use_table("a", 200) && use_table("b", 200) && use(2, "column", 200));
  // Others of them leave for one that is used more, columns stay.
  for (int i = 0; i < 6; ++i) use_table("a", 200), use_table("c", 150);
  EXPECT_TRUE(has("a") && has("c") && has("column"));
  EXPECT_FALSE(has("b"));
  EXPECT_EQ(held(), 550u);
  EXPECT_EQ(store_.reset(), 550 * kUnit);
  EXPECT_FALSE(use_table("b", 400));
  EXPECT_TRUE(use_table("b", 400));
}

TEST_F(ColumnStoreTest, old_uses_fade) {
  for (int i = 0; i < 10'000; ++i) use(1, "old", 800);
  int needed = 0;
  while (!use(1, "new", 800) && needed < 100'000) ++needed;
  EXPECT_LT(needed, 30'000);
  EXPECT_FALSE(has("old"));
}

TEST_F(ColumnStoreTest, tasks_take_memory_back_at_once) {
  scheduler_.add_session(1, 1, 0, "");
  use(2, "a", 300), use(2, "b", 300), use(2, "a", 300);
  const auto task = allocate(1, 500);
  EXPECT_LE(held(), 500u);
  EXPECT_TRUE(has("a"));
  EXPECT_FALSE(has("b"));
  EXPECT_FALSE(use(2, "b", 300));  // used again, but nothing is worth less
  scheduler_.finish(*task, 1);
  EXPECT_FALSE(use(2, "b", 300));
  EXPECT_TRUE(use(2, "b", 300));
}

TEST_F(ColumnStoreTest, what_is_in_use_stays) {
  scheduler_.add_session(1, 1, 0, "");
  use(2, "a", 300, false);
  use(2, "b", 300);
  const auto first = allocate(1, 600);
  EXPECT_EQ(held(), 300u);
  // The next one has to wait, until the column is let go.
  auto second = std::make_shared<Task>();
  second->session = 1;
  second->tag = 1000;
  second->memory = 200 * kUnit;
  ASSERT_TRUE(scheduler_.submit(second).is_ok());
  std::atomic<bool> taken = false;
  std::thread waiting([&] {
    EXPECT_EQ(scheduler_.take(), second);
    taken = true;
    store_.give_back();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(taken);
  EXPECT_EQ(held(), 300u);
  store_.end_session(2);  // it has died
  waiting.join();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(scheduler_.overlent(), 0u);
}

TEST_F(ColumnStoreTest, a_filler_that_dies_leaves_nothing) {
  const uint64_t number = store_.make_room(1, {offer("a", 10)}).value()[0].number;
  ASSERT_NE(number, 0u);
  EXPECT_EQ(find(2, "a")[0].state, kColumnIsUnknown);  // somebody fills it
  EXPECT_EQ(store_.make_room(2, {offer("a", 10)}).value()[0].number, 0u);
  EXPECT_EQ(store_.use(2, number, false), nullptr);
  EXPECT_EQ(store_.settle(2, {number, 1, ""}).code(), ErrorCode::kProtocolViolation);
  store_.end_session(1);
  EXPECT_EQ(held(), 0u);
  EXPECT_FALSE(use(2, "a", 10));
  EXPECT_TRUE(use(1, "a", 10));
}

TEST_F(ColumnStoreTest, a_task_holds_what_it_reads) {
  use(1, "a", 10, false);
  const uint64_t number = find(2, "a")[0].number;
  auto held_by_task = store_.use(2, number, false);
  ASSERT_NE(held_by_task, nullptr);
  EXPECT_EQ(store_.use(3, number, false), nullptr);
  EXPECT_EQ(store_.use(2, number, true), nullptr);  // published: nobody writes to it
  store_.end_session(1);
  ASSERT_TRUE(store_.settle(2, {number, 0, ""}).is_ok());
  EXPECT_EQ(store_.reset(), 0u);
  EXPECT_FALSE(has("a"));
  EXPECT_EQ(held(), 10u);
  held_by_task.reset();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(store_.settle(2, {number, 0, ""}).code(), ErrorCode::kProtocolViolation);
}

TEST_F(ColumnStoreTest, one_session_brings_an_older_one_up_to_date) {
  use(1, "a", 10);  // of generation 0
  EXPECT_EQ(find(1, "a")[0].state, kColumnIsCached);
  const ColumnRow older = find(2, "a", 5)[0];
  EXPECT_EQ(older.state, kColumnIsOlder);
  EXPECT_EQ(older.generation, 0u);
  EXPECT_EQ(older.shape, "shape of a");
  EXPECT_NE(older.update, 0u);
  // Meanwhile it is good for those that want no more.
  EXPECT_EQ(find(3, "a")[0].state, kColumnIsCached);
  EXPECT_EQ(find(3, "a", 1)[0].state, kColumnIsUnknown);
  EXPECT_EQ(find(2, "a", 1)[0].state, kColumnIsUnknown);
  EXPECT_EQ(store_.update(3, older.number, older.update), nullptr);
  EXPECT_EQ(store_.update(2, older.number, older.update + 1), nullptr);
  EXPECT_EQ(store_.settle(3, {older.number, kColumnIsPublished, "", 9}).code(), ErrorCode::kProtocolViolation);
  auto task = store_.update(2, older.number, older.update);
  ASSERT_NE(task, nullptr);
  EXPECT_EQ(store_.settle(2, {older.number, kColumnIsPublished, "", 5}).code(), ErrorCode::kProtocolViolation);
  task.reset();
  ASSERT_TRUE(store_.settle(2, {older.number, kColumnIsPublished, "", 5}).is_ok());
  EXPECT_EQ(store_.update(2, older.number, older.update), nullptr);
  EXPECT_EQ(find(3, "a", 5)[0].state, kColumnIsCached);
  EXPECT_EQ(find(3, "a", 5)[0].shape, "shape of a");
  for (const uint32_t session : {1u, 2u, 3u}) store_.end_session(session);
  EXPECT_EQ(store_.reset(), 10 * kUnit);
}

TEST_F(ColumnStoreTest, only_older_ones_are_found_for_who_does_not_use_them) {
  const auto find_older = [this](const std::string& name, uint64_t generation) {
    return store_.find(2, {{name}, {generation}, true}).at(0);
  };
  const auto is_wanted = [this](const std::string& name) { return find(1, name)[0].state == kColumnIsWanted; };
  use(1, "a", 10);
  EXPECT_EQ(find_older("a", 0).state, kColumnIsUnknown);
  const ColumnRow older = find_older("a", 5);
  EXPECT_EQ(older.state, kColumnIsOlder);
  EXPECT_EQ(find_older("a", 5).state, kColumnIsUnknown);  // one session is enough
  store_.update(2, older.number, older.update).reset();
  ASSERT_TRUE(store_.settle(2, {older.number, kColumnIsPublished, "", 5}).is_ok());
  EXPECT_EQ(find_older("a", 5).state, kColumnIsUnknown);
  // What is asked for is not wanted for that, and what is there is not worth more.
  use(1, "b", 790);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(find_older("c", 1).state, kColumnIsUnknown);
    const ColumnRow row = find_older("b", 1);
    ASSERT_EQ(row.state, kColumnIsOlder);
    ASSERT_TRUE(store_.settle(2, {row.number, kUpdateIsGivenUp, "", 0}).is_ok());
    ASSERT_TRUE(store_.settle(2, {row.number, kColumnIsLetGo, "", 0}).is_ok());
  }
  EXPECT_FALSE(is_wanted("c"));
  for (int i = 0; i < 3; ++i) use(1, "d", 700);
  EXPECT_TRUE(has("d"));
  EXPECT_FALSE(has("b"));
}

TEST_F(ColumnStoreTest, an_update_that_is_given_up) {
  use(1, "a", 10);
  const ColumnRow first = find(1, "a", 5)[0];
  auto task = store_.update(1, first.number, first.update);
  // It may still be written to, by a task that nobody waits for.
  ASSERT_TRUE(store_.settle(1, {first.number, kUpdateIsGivenUp, "", 0}).is_ok());
  EXPECT_EQ(find(2, "a", 5)[0].state, kColumnIsUnknown);
  EXPECT_EQ(find(2, "a", 0)[0].state, kColumnIsCached);
  task.reset();
  const ColumnRow second = find(2, "a", 6)[0];
  EXPECT_EQ(second.state, kColumnIsOlder);
  EXPECT_EQ(second.generation, 0u);
  // A task of the first one that comes too late writes nothing, and the first one publishes nothing.
  EXPECT_EQ(store_.update(1, first.number, first.update), nullptr);
  EXPECT_EQ(store_.update(2, first.number, first.update), nullptr);
  ASSERT_TRUE(store_.settle(1, {first.number, kUpdateIsGivenUp, "", 0}).is_ok());
  EXPECT_NE(store_.update(2, second.number, second.update), nullptr);
  store_.end_session(2);  // it has died
  EXPECT_EQ(find(1, "a", 7)[0].state, kColumnIsOlder);
  store_.end_session(1);
  EXPECT_EQ(store_.reset(), 10 * kUnit);
  EXPECT_EQ(held(), 0u);
}

TEST_F(ColumnStoreTest, reset_and_contents) {
  use(1, "a1", 10), use(1, "a2", 20), use(1, "b1", 30, false), use(1, "a1", 10);
  Cache cache = store_.contents("");
  EXPECT_EQ(cache.bytes, 60 * kUnit);
  EXPECT_EQ(cache.pinned, 30 * kUnit);
  ASSERT_EQ(cache.rows.size(), 2u);
  EXPECT_EQ(cache.rows[0], (CacheRow{"f/a", 1, 2, 30 * kUnit, 3, 0}));
  EXPECT_EQ(cache.rows[1], (CacheRow{"f/b", 1, 1, 30 * kUnit, 1, 30 * kUnit}));
  EXPECT_EQ(store_.contents("f/a").rows.size(), 1u);
  EXPECT_EQ(store_.contents("f/b").rows.size(), 0u);
  EXPECT_EQ(store_.reset(), 30 * kUnit);
  EXPECT_EQ(held(), 30u);
  store_.end_session(1);
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(store_.contents("").rows.empty());
  EXPECT_EQ(store_.contents("").bytes, 0u);
}

// Sessions that come, use, fill, wait for memory and die, all at once: what is held is never more than there is.
TEST_F(ColumnStoreTest, a_crowd) {
  std::vector<std::thread> threads;
  std::atomic<bool> ends = false, is_over = false;
  for (uint32_t session = 1; session <= 8; ++session) {
    scheduler_.add_session(session, 1, 0, "");
    threads.emplace_back([&, session] {
      std::mt19937 random(session);
      while (!ends) {
        const std::string name = "c" + std::to_string(random() % 60);
        const uint64_t units = 10 + std::hash<std::string>()(name) % 50;
        switch (random() % 4) {
          case 0: store_.end_session(session); break;
          case 1: use(session, name, units, false); break;
          default: use(session, name, units);
        }
        if (random() % 500 == 0) store_.reset();
        is_over = is_over || held_ > kMemory * kUnit;
      }
      store_.end_session(session);
    });
  }
  std::thread tasks([&] {
    std::mt19937 random(77);
    for (int i = 0; i < 2000; ++i) {
      const auto task = allocate(1 + random() % 8, 1 + random() % 900);
      is_over = is_over || held_ + task->memory > kMemory * kUnit;
      scheduler_.finish(*task, 1);
    }
    ends = true;
  });
  tasks.join();
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(is_over);
  store_.reset();
  EXPECT_EQ(held(), 0u);
  EXPECT_EQ(scheduler_.lendable(), kMemory * kUnit);
}

}  // namespace
}  // namespace strom::service
