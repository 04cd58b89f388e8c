#include "service/scheduler.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace strom::service {
namespace {

// Counted when a task starts, so that sessions take turns before the first of their tasks is done.
constexpr double kStartCharge = 1000;

}  // namespace

void Scheduler::Session::charge(double microseconds) { clock += std::ldexp(microseconds, -row.priority); }

void Scheduler::add_session(uint32_t session, int32_t process, int32_t priority, std::string name) {
  const std::lock_guard lock(mutex_);
  Session& added = sessions_[session];
  added.row.session = session;
  added.row.process = process;
  added.row.priority = std::clamp(priority, kLowestPriority, kHighestPriority);
  added.row.name = std::move(name);
}

void Scheduler::remove_session(uint32_t session) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  found->second.removed = true;
  found->second.queue.clear();
  for (const auto& task : found->second.running) task->stop = true;
  forget_if_done(session);
  changed_.notify_all();
}

void Scheduler::forget_if_done(uint32_t session) {
  const auto found = sessions_.find(session);
  if (!found->second.removed || found->second.is_active()) return;
  gone_.push_back({session, found->second.kept});
  sessions_.erase(found);
  has_gone_.notify_all();
}

Status Scheduler::submit(std::shared_ptr<Task> task) {
  if (task->memory > device_memory_)
    return Status(ErrorCode::kOutOfMemory, "a query's budget is larger than the device's memory")
        .with_detail("It asks for " + std::to_string(task->memory) + " bytes, and there are " +
                     std::to_string(device_memory_) + ".");
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(task->session);
  if (found == sessions_.end() || found->second.removed || ends_)
    return Status(ErrorCode::kDeviceLost, "the GPU service ends");
  Session& session = found->second;
  if (session.queue.size() >= kMostQueued)
    return Status(ErrorCode::kOverBudget, "too many tasks of one session wait for the GPU")
        .with_detail("At most " + std::to_string(kMostQueued) + " may wait.");
  const auto has_tag = [&task](const auto& other) { return other->tag == task->tag; };
  if (std::any_of(session.queue.begin(), session.queue.end(), has_tag) ||
      std::any_of(session.running.begin(), session.running.end(), has_tag))
    return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: tag in use");
  if (!session.is_active()) {
    // Time in which a session asked for nothing is not saved up.
    const Session* slowest = nullptr;
    for (const auto& [number, other] : sessions_)
      if (other.is_active() && (slowest == nullptr || other.clock < slowest->clock)) slowest = &other;
    if (slowest != nullptr) session.clock = std::max(session.clock, slowest->clock);
  }
  session.queue.push_back(std::move(task));
  changed_.notify_one();
  return {};
}

bool Scheduler::cancel(uint32_t session, uint32_t tag) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return false;
  for (const auto& task : found->second.running)
    if (task->tag == tag) task->stop = true;
  const size_t dropped = std::erase_if(found->second.queue, [tag](const auto& task) { return task->tag == tag; });
  changed_.notify_all();  // what was behind it may start
  return dropped > 0;
}

// The first task, by the sessions' clocks, whose memory is free. Tasks that take no memory pass those that wait for
// some, also of their own session: memory is given back by them.
std::shared_ptr<Task> Scheduler::next_task() {
  std::vector<Session*> waiting;
  for (auto& [number, session] : sessions_)
    if (!session.queue.empty()) waiting.push_back(&session);
  std::stable_sort(waiting.begin(), waiting.end(),
                   [](const Session* a, const Session* b) { return a->clock < b->clock; });
  std::vector<Task*> passed;
  memory_is_awaited_ = false;
  bool memory_is_spoken_for = false;
  for (Session* session : waiting) {
    auto next = session->queue.begin();
    if ((*next)->memory > 0 && (memory_is_spoken_for || (*next)->memory > device_memory_ - memory_used_ - pinned_)) {
      memory_is_spoken_for = memory_is_spoken_for || (*next)->overtaken >= kMostOvertaken;
      passed.push_back(next->get());
      memory_is_awaited_ = true;
      next = std::find_if(next, session->queue.end(), [](const auto& task) { return task->memory == 0; });
      if (next == session->queue.end()) continue;
    }
    const std::shared_ptr<Task> task = *next;
    if (task->memory > 0)
      for (Task* other : passed) ++other->overtaken;
    session->queue.erase(next);
    session->running.push_back(task);
    session->charge(kStartCharge);
    memory_used_ += task->memory;
    return task;
  }
  return nullptr;
}

std::shared_ptr<Task> Scheduler::take() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (ends_) return nullptr;
    if (std::shared_ptr<Task> task = next_task()) return task;
    changed_.wait(lock);
  }
}

std::vector<Scheduler::Gone> Scheduler::take_gone() {
  const std::lock_guard lock(mutex_);
  return std::exchange(gone_, {});
}

std::vector<Scheduler::Gone> Scheduler::await_gone() {
  std::unique_lock lock(mutex_);
  has_gone_.wait(lock, [this] { return ends_ || !gone_.empty(); });
  return std::exchange(gone_, {});
}

void Scheduler::give_back(uint64_t memory) {
  const std::lock_guard lock(mutex_);
  memory_used_ -= memory;
  changed_.notify_all();
}

// ---- Lent memory ----

uint64_t Scheduler::lend(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  const uint64_t wanted = memory_used_ + lent_ + bytes;
  if (wanted > device_memory_) return wanted - device_memory_;
  lent_ += bytes;
  return 0;
}

void Scheduler::take_back(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  lent_ -= bytes;
}

bool Scheduler::pin(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (memory_used_ + pinned_ + bytes > device_memory_) return false;
  pinned_ += bytes;
  return true;
}

void Scheduler::unpin(uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  pinned_ -= bytes;
  if (memory_is_awaited_) changed_.notify_all();
}

uint64_t Scheduler::overlent() const {
  const std::lock_guard lock(mutex_);
  return memory_used_ + lent_ > device_memory_ ? memory_used_ + lent_ - device_memory_ : 0;
}

uint64_t Scheduler::lendable() const {
  const std::lock_guard lock(mutex_);
  return memory_used_ + lent_ < device_memory_ ? device_memory_ - memory_used_ - lent_ : 0;
}

void Scheduler::finish(const Task& task, uint64_t elapsed_us, uint64_t kept, uint64_t returned) {
  const std::lock_guard lock(mutex_);
  Session& session = sessions_.at(task.session);
  std::erase_if(session.running, [&task](const auto& other) { return other.get() == &task; });
  session.charge(static_cast<double>(elapsed_us));
  session.row.busy_us += elapsed_us;
  ++session.row.tasks_done;
  busy_us_ += elapsed_us;
  ++tasks_done_;
  session.kept += kept - returned;
  memory_used_ -= task.memory - kept + returned;
  forget_if_done(task.session);
  changed_.notify_all();
}

void Scheduler::shut_down() {
  const std::lock_guard lock(mutex_);
  ends_ = true;
  for (auto& [number, session] : sessions_) {
    session.queue.clear();
    for (const auto& task : session.running) task->stop = true;
  }
  changed_.notify_all();
  has_gone_.notify_all();
}

DeviceRow Scheduler::load() const {
  const std::lock_guard lock(mutex_);
  DeviceRow row;
  row.memory = device_memory_;
  row.memory_used = memory_used_;
  row.tasks_done = tasks_done_;
  row.busy_us = busy_us_;
  row.sessions = static_cast<uint32_t>(sessions_.size());
  for (const auto& [number, session] : sessions_) {
    row.queued += static_cast<uint32_t>(session.queue.size());
    row.running += static_cast<uint32_t>(session.running.size());
  }
  return row;
}

Ledger Scheduler::ledger(uint32_t after) const {
  const std::lock_guard lock(mutex_);
  Ledger ledger;
  ledger.device_memory = device_memory_;
  ledger.memory_used = memory_used_;
  for (auto found = sessions_.upper_bound(after); found != sessions_.end(); ++found) {
    if (ledger.rows.size() == kLedgerRowsPerMessage) break;
    const Session& session = found->second;
    LedgerRow row = session.row;
    row.queued = static_cast<uint32_t>(session.queue.size());
    row.running = static_cast<uint32_t>(session.running.size());
    row.memory = session.kept;
    for (const auto& task : session.running) row.memory += task->memory;
    for (const auto& task : session.queue) row.memory_wanted += task->memory;
    ledger.rows.push_back(std::move(row));
  }
  return ledger;
}

}  // namespace strom::service
