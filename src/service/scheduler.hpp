// Which task of which session runs next, and the device memory that tasks have: the service's queue and ledger. Knows
// nothing of sockets and devices. The server submits, its worker threads take. All functions may be called by any
// thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "service/memory_lender.hpp"
#include "service/protocol.hpp"
#include "service/sockets.hpp"

namespace strom::service {

struct Task {
  uint32_t session = 0, tag = 0;
  uint16_t kind = 0;
  uint64_t memory = 0;  // bytes of device memory, held from take() to finish(), unless the session keeps it
  std::string arguments;
  std::vector<Descriptor> descriptors;
  std::atomic<bool> stop = false;  // the thread that runs the task looks at it often

  int overtaken = 0;  // the scheduler's own
};

/// Sessions share the device by the time that their tasks take, weighted by 2^priority (weighted fair queueing); tasks
/// of one session start in their order. A task starts when its memory is free. While it waits for that, tasks behind it
/// may overtake it, but only so often. Free memory is lent. Tasks do not wait for lent memory that is not pinned.
class Scheduler final : public MemoryLender {
 public:
  static constexpr size_t kMostQueued = 1024;  // tasks of one session
  static constexpr int kMostOvertaken = 16;

  explicit Scheduler(uint64_t device_memory) : device_memory_(device_memory) {}

  void add_session(uint32_t session, int32_t process, int32_t priority, std::string name);
  /// Drops queued tasks and tells running ones to stop. These have their memory until finish().
  void remove_session(uint32_t session);

  /// kOutOfMemory when it asks for more than there is, kOverBudget when too many tasks are queued, kProtocolViolation
  /// when the tag is in use.
  Status submit(std::shared_ptr<Task> task);
  /// Tells a running task to stop. True when the task was still queued, and is dropped.
  bool cancel(uint32_t session, uint32_t tag);

  /// Waits for a task that may start; nullptr after shut_down().
  std::shared_ptr<Task> take();
  /// The task has run for so long and gives its memory back. `kept` bytes of it belong to the session from now on;
  /// `returned` bytes of the session come back with it.
  void finish(const Task& task, uint64_t elapsed_us, uint64_t kept = 0, uint64_t returned = 0);

  /// A session that was removed and has no running tasks.
  struct Gone {
    uint32_t session;
    uint64_t memory;  // that it has kept
  };
  /// Returns each session once. Its memory is in use until give_back().
  std::vector<Gone> take_gone();
  /// Waits for some; none after shut_down().
  std::vector<Gone> await_gone();
  void give_back(uint64_t memory);
  /// Tells running tasks to stop. No task starts any more.
  void shut_down();

  /// What there is to do, in all fields of a DeviceRow but those of the device itself.
  DeviceRow load() const;
  uint64_t lend(uint64_t bytes) override;
  void take_back(uint64_t bytes) override;
  bool pin(uint64_t bytes) override;
  void unpin(uint64_t bytes) override;
  uint64_t overlent() const override;
  uint64_t lendable() const override;

  /// Sessions with a number above `after`, by number.
  Ledger ledger(uint32_t after) const;

 private:
  struct Session {
    LedgerRow row;
    std::deque<std::shared_ptr<Task>> queue;
    std::vector<std::shared_ptr<Task>> running;
    uint64_t kept = 0;  // bytes beyond those of running tasks
    double clock = 0;   // weighted time used, in microseconds
    bool removed = false;

    bool is_active() const { return !queue.empty() || !running.empty(); }
    void charge(double microseconds);
  };

  std::shared_ptr<Task> next_task();
  void forget_if_done(uint32_t session);

  const uint64_t device_memory_;
  mutable std::mutex mutex_;
  std::condition_variable changed_, has_gone_;
  std::map<uint32_t, Session> sessions_;
  std::vector<Gone> gone_;
  uint64_t memory_used_ = 0;        // and
  uint64_t lent_ = 0, pinned_ = 0;  // of lent_; memory_used_ + pinned_ are at most device_memory_
  bool memory_is_awaited_ = false;  // a task has not been taken for want of it
  uint64_t tasks_done_ = 0, busy_us_ = 0;
  bool ends_ = false;
};

}  // namespace strom::service
