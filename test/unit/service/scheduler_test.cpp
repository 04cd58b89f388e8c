// Order of tasks, and the memory that they hold.
#include "service/scheduler.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

namespace strom::service {
namespace {

constexpr uint64_t kMemory = 1000;

std::shared_ptr<Task> task(uint32_t session, uint32_t tag, uint64_t memory = 0) {
  auto made = std::make_shared<Task>();
  made->session = session;
  made->tag = tag;
  made->memory = memory;
  return made;
}

class SchedulerTest : public testing::Test {
 protected:
  void add(uint32_t session, int32_t priority = 0) {
    scheduler_.add_session(session, static_cast<int32_t>(session) * 10, priority, "s" + std::to_string(session));
  }
  void submit(uint32_t session, uint32_t tag, uint64_t memory = 0) {
    const Status status = scheduler_.submit(task(session, tag, memory));
    ASSERT_TRUE(status.is_ok()) << status.message();
  }
  // Sessions of the next tasks, each of which runs for so long before the next is taken.
  std::string order(int count, uint64_t microseconds) {
    std::string sessions;
    for (int i = 0; i < count; ++i) {
      const auto taken = scheduler_.take();
      sessions += std::to_string(taken->session);
      scheduler_.finish(*taken, microseconds);
    }
    return sessions;
  }

  Scheduler scheduler_{kMemory};
};

TEST_F(SchedulerTest, sessions_take_turns) {
  add(1), add(2), add(3);
  for (uint32_t tag = 1; tag <= 4; ++tag) submit(1, tag);
  for (uint32_t tag = 1; tag <= 2; ++tag) submit(2, tag), submit(3, tag);
  EXPECT_EQ(order(8, 5000), "12312311");
}

TEST_F(SchedulerTest, load) {
  EXPECT_EQ(scheduler_.load().sessions, 0u);
  add(1), add(2);
  submit(1, 1, 300), submit(1, 2, 300), submit(2, 1, 600);
  const auto first = scheduler_.take();
  DeviceRow row = scheduler_.load();
  EXPECT_EQ(row, (DeviceRow{0, 0, 2, 2, 1, kMemory, 300, 0, 0, "", ""}));
  scheduler_.finish(*first, 70, 100);
  scheduler_.remove_session(2);
  row = scheduler_.load();
  EXPECT_EQ(row, (DeviceRow{0, 0, 1, 1, 0, kMemory, 100, 1, 70, "", ""}));
}

TEST_F(SchedulerTest, priority_is_a_share) {
  add(1), add(2, 1);
  for (uint32_t tag = 1; tag <= 30; ++tag) submit(1, tag), submit(2, tag);
  const std::string first = order(30, 5000);
  EXPECT_EQ(std::count(first.begin(), first.end(), '2'), 20);  // twice as many, and no session starves
}

TEST_F(SchedulerTest, idle_time_is_not_saved_up) {
  add(1), add(2);
  for (uint32_t tag = 1; tag <= 20; ++tag) submit(1, tag);
  order(10, 50000);
  for (uint32_t tag = 1; tag <= 5; ++tag) submit(2, tag);
  const std::string next = order(6, 50000);
  EXPECT_EQ(std::count(next.begin(), next.end(), '1'), 3);
}

TEST_F(SchedulerTest, memory_is_waited_for) {
  add(1), add(2);
  submit(1, 1, 700);
  submit(2, 1, 400);
  const auto first = scheduler_.take();
  EXPECT_EQ(scheduler_.ledger(0).memory_used, 700u);
  auto second = std::async(std::launch::async, [this] { return scheduler_.take(); });
  EXPECT_EQ(second.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  EXPECT_EQ(scheduler_.ledger(1).rows[0].memory_wanted, 400u);
  scheduler_.finish(*first, 1);
  const auto taken = second.get();
  EXPECT_EQ(taken->session, 2u);
  EXPECT_EQ(scheduler_.ledger(0).memory_used, 400u);
  scheduler_.finish(*taken, 1);
  EXPECT_EQ(scheduler_.ledger(0).memory_used, 0u);
}

TEST_F(SchedulerTest, a_large_task_is_overtaken_only_so_often) {
  add(1), add(2), add(3);
  submit(1, 1, 600);
  const auto holds = scheduler_.take();
  submit(2, 1, 1000);
  for (uint32_t tag = 1; tag <= Scheduler::kMostOvertaken + 5; ++tag) submit(3, tag, 10);
  for (int i = 0; i < Scheduler::kMostOvertaken; ++i) {
    const auto small = scheduler_.take();
    EXPECT_EQ(small->session, 3u);
    scheduler_.finish(*small, 5000000);
  }
  auto next = std::async(std::launch::async, [this] { return scheduler_.take(); });
  EXPECT_EQ(next.wait_for(std::chrono::milliseconds(50)), std::future_status::timeout);
  scheduler_.finish(*holds, 1);
  const auto large = next.get();
  EXPECT_EQ(large->session, 2u);
  scheduler_.finish(*large, 1);
}

TEST_F(SchedulerTest, memory_that_a_session_keeps) {
  add(1), add(2);
  submit(1, 1, 700);
  auto task = scheduler_.take();
  scheduler_.finish(*task, 1, 700);
  EXPECT_EQ(scheduler_.ledger(0).memory_used, 700u);
  EXPECT_EQ(scheduler_.ledger(0).rows[0].memory, 700u);
  submit(2, 1, 400);  // waits
  submit(1, 2, 500);  // waits, too, but what its session asks for without memory does not
  submit(1, 3, 0);
  task = scheduler_.take();
  EXPECT_EQ(task->tag, 3u);
  scheduler_.finish(*task, 1, 0, 700);
  EXPECT_EQ(scheduler_.ledger(0).memory_used, 0u);
  task = scheduler_.take();
  scheduler_.finish(*task, 1, task->memory);
  const uint64_t kept = task->memory;
  const uint32_t session = task->session;
  EXPECT_TRUE(scheduler_.take_gone().empty());
  scheduler_.remove_session(session);
  const auto gone = scheduler_.await_gone();
  ASSERT_EQ(gone.size(), 1u);
  EXPECT_EQ(gone[0].session, session);
  EXPECT_EQ(gone[0].memory, kept);
  EXPECT_EQ(scheduler_.ledger(0).memory_used, kept);  // until the runner has released it
  scheduler_.give_back(kept);
  EXPECT_EQ(scheduler_.ledger(0).memory_used, 0u);
}

TEST_F(SchedulerTest, more_than_the_device_has_is_refused) {
  add(1);
  const Status status = scheduler_.submit(task(1, 1, kMemory + 1));
  EXPECT_EQ(status.code(), ErrorCode::kOutOfMemory);
  EXPECT_NE(status.detail().find("1001"), std::string::npos);
  EXPECT_TRUE(scheduler_.submit(task(1, 1, kMemory)).is_ok());
}

TEST_F(SchedulerTest, limits_and_tags) {
  add(1);
  EXPECT_EQ(scheduler_.submit(task(2, 1)).code(), ErrorCode::kDeviceLost);
  for (uint32_t tag = 1; tag <= Scheduler::kMostQueued; ++tag) submit(1, tag);
  EXPECT_EQ(scheduler_.submit(task(1, 9999)).code(), ErrorCode::kOverBudget);
  const auto running = scheduler_.take();
  EXPECT_EQ(scheduler_.submit(task(1, running->tag)).code(), ErrorCode::kProtocolViolation);
  EXPECT_EQ(scheduler_.submit(task(1, 2)).code(), ErrorCode::kProtocolViolation);
}

TEST_F(SchedulerTest, cancel) {
  add(1);
  submit(1, 1), submit(1, 2);
  const auto running = scheduler_.take();
  EXPECT_TRUE(scheduler_.cancel(1, 2));
  EXPECT_FALSE(scheduler_.cancel(1, 2));
  EXPECT_FALSE(running->stop);
  EXPECT_FALSE(scheduler_.cancel(1, 1));
  EXPECT_TRUE(running->stop);
  EXPECT_FALSE(scheduler_.cancel(7, 1));
}

TEST_F(SchedulerTest, a_dead_sessions_memory_stays_until_its_task_ends) {
  add(1);
  submit(1, 1, 300), submit(1, 2, 300);
  const auto running = scheduler_.take();
  scheduler_.remove_session(1);
  EXPECT_TRUE(running->stop);
  Ledger ledger = scheduler_.ledger(0);
  ASSERT_EQ(ledger.rows.size(), 1u);
  EXPECT_EQ(ledger.memory_used, 300u);
  EXPECT_EQ(ledger.rows[0].queued, 0u);
  EXPECT_EQ(scheduler_.submit(task(1, 3)).code(), ErrorCode::kDeviceLost);
  scheduler_.finish(*running, 1);
  ledger = scheduler_.ledger(0);
  EXPECT_TRUE(ledger.rows.empty());
  EXPECT_EQ(ledger.memory_used, 0u);
}

TEST_F(SchedulerTest, shutting_down_wakes_everybody) {
  auto taken = std::async(std::launch::async, [this] { return scheduler_.take(); });
  scheduler_.shut_down();
  EXPECT_EQ(taken.get(), nullptr);
  add(1);
  EXPECT_EQ(scheduler_.submit(task(1, 1)).code(), ErrorCode::kDeviceLost);
}

TEST_F(SchedulerTest, many_threads) {
  constexpr uint32_t kSessions = 20, kTasks = 60;
  for (uint32_t session = 1; session <= kSessions; ++session) add(session, static_cast<int32_t>(session % 5) - 2);
  std::atomic<uint64_t> memory = 0, done = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      while (const auto taken = scheduler_.take()) {
        EXPECT_LE(memory += taken->memory, kMemory);
        memory -= taken->memory;
        scheduler_.finish(*taken, taken->tag);
        ++done;
      }
    });
  for (uint32_t tag = 1; tag <= kTasks; ++tag)
    for (uint32_t session = 1; session <= kSessions; ++session) submit(session, tag, (session * tag) % (kMemory + 1));
  while (done < kSessions * kTasks) std::this_thread::yield();
  scheduler_.shut_down();
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scheduler_.ledger(0).memory_used, 0u);
}

}  // namespace
}  // namespace strom::service
