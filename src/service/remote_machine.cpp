#include "service/remote_machine.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/os_error.hpp"

namespace strom::service {

using engine::exec::DeviceRange;
using engine::exec::DeviceRegion;
using engine::exec::DeviceWork;

namespace {

constexpr int kPollMs = 10;
constexpr int kFirstMemoryMs = 5000, kFurtherMemoryMs = 200;
constexpr size_t kRangesPerTask = (kMaxMessageBytes - 256) / sizeof(RunRange);

Submit request(TaskKind kind, std::string arguments, uint64_t memory = 0) {
  return {static_cast<uint16_t>(kind), memory, std::move(arguments)};
}

Status unexpected_answer() {
  return Status(ErrorCode::kProtocolViolation, "invalid message of the GPU service: unexpected answer");
}

}  // namespace

class RemoteMachine::Region final : public DeviceRegion {
 public:
  Region(RemoteMachine* machine, const Allocated& allocated, char* mirror, size_t size)
      : DeviceRegion(reinterpret_cast<char*>(allocated.address), mirror, size),
        machine_(machine),
        number_(allocated.region) {}
  ~Region() override {
    machine_->release(number_);
    if (host_ != nullptr) munmap(host_, size_);
  }
  uint64_t number() const { return number_; }

 private:
  RemoteMachine* const machine_;
  const uint64_t number_;
};

Result<std::unique_ptr<RemoteMachine>> RemoteMachine::connect(const ClientOptions& options) {
  STROM_ASSIGN(std::unique_ptr<Client> client, Client::connect(options));
  return std::unique_ptr<RemoteMachine>(new RemoteMachine(std::move(client)));
}

Result<std::unique_ptr<DeviceRegion>> RemoteMachine::allocate(size_t bytes, bool mirrored,
                                                              const KeepGoing& keep_going) {
  Allocate wanted;
  wanted.mirrored = mirrored ? 1 : 0;
  int timeout_ms;
  {
    const std::lock_guard lock(mutex_);
    timeout_ms = regions_ == 0 ? kFirstMemoryMs : kFurtherMemoryMs;
  }
  Result<Reply> reply = ask(request(TaskKind::kAllocate, bytes_of(wanted), bytes), keep_going, timeout_ms);
  // More than the device has at all: nothing to wait for.
  if (!reply.is_ok() && reply.status().code() == ErrorCode::kOutOfMemory)
    return Status(ErrorCode::kOverBudget, reply.status().message());
  if (!reply.is_ok()) return reply.status();
  std::string_view values = std::get<Finished>(reply.value().message).values;
  Allocated allocated;
  STROM_TRY(take(&values, &allocated));
  char* mirror = nullptr;
  {
    const std::lock_guard lock(mutex_);
    ++regions_;
  }
  if (mirrored) {
    void* mapped = reply.value().bulk.is_open()
                       ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, reply.value().bulk.get(), 0)
                       : MAP_FAILED;
    if (mapped == MAP_FAILED) {
      const Status status = base::os_error(errno, "could not map memory of the GPU service");
      release(allocated.region);
      return status;
    }
    mirror = static_cast<char*>(mapped);
  }
  return std::unique_ptr<DeviceRegion>(new Region(this, allocated, mirror, bytes));
}

/// Nobody waits for the answer.
void RemoteMachine::release(uint64_t region) {
  Release gone;
  gone.region = region;
  const std::lock_guard lock(mutex_);
  --regions_;
  if (lost_.is_ok()) (void)client_->submit(request(TaskKind::kRelease, bytes_of(gone)));
}

Status RemoteMachine::run_some(const DeviceWork& work, size_t in_begin, size_t in_end, size_t out_begin, size_t out_end,
                               bool launch, const KeepGoing& keep_going) {
  Run run;
  if (launch) {
    run.states = reinterpret_cast<uint64_t>(work.states);
    run.results = reinterpret_cast<uint64_t>(work.results);
    run.count = static_cast<uint32_t>(work.count);
    run.stop = reinterpret_cast<uint64_t>(work.stop);
  }
  run.in = static_cast<uint32_t>(in_end - in_begin);
  run.out = static_cast<uint32_t>(out_end - out_begin);
  std::string arguments = bytes_of(run);
  const auto add = [&arguments](const DeviceRange& range) {
    arguments += bytes_of(RunRange{static_cast<const Region*>(range.region)->number(), range.offset, range.bytes});
  };
  std::for_each(work.in.begin() + static_cast<long>(in_begin), work.in.begin() + static_cast<long>(in_end), add);
  std::for_each(work.out.begin() + static_cast<long>(out_begin), work.out.begin() + static_cast<long>(out_end), add);
  return ask(request(TaskKind::kRun, std::move(arguments)), keep_going, -1).status();
}

/// In as many tasks as the ranges need.
Status RemoteMachine::run(const DeviceWork& work, const KeepGoing& keep_going) {
  size_t in = 0;
  for (; work.in.size() - in > kRangesPerTask / 2; in += kRangesPerTask / 2)
    STROM_TRY(run_some(work, in, in + kRangesPerTask / 2, 0, 0, false, keep_going));
  size_t out = std::min(work.out.size(), kRangesPerTask / 2);
  STROM_TRY(run_some(work, in, work.in.size(), 0, out, true, keep_going));
  for (; out < work.out.size();) {
    const size_t end = std::min(work.out.size(), out + kRangesPerTask);
    STROM_TRY(run_some(work, 0, 0, out, end, false, keep_going));
    out = end;
  }
  return {};
}

bool RemoteMachine::is_alive() {
  const std::lock_guard lock(mutex_);
  if (!lost_.is_ok() || is_reading_) return lost_.is_ok();
  // Answers that nobody waits for are read here, too.
  for (;;) {
    Result<std::optional<Reply>> reply = client_->poll();
    if (!reply.is_ok()) lost_ = reply.status();
    if (!reply.is_ok() || !reply.value()) return lost_.is_ok();
    take_reply(std::move(*reply.value()));
  }
}

/// Answers that come later are dropped.
void RemoteMachine::abandon(uint32_t tag, bool allocates) {
  const std::lock_guard lock(mutex_);
  awaited_.erase(tag);
  if (!lost_.is_ok()) return;
  if (allocates) unwanted_memory_.insert(tag);
  (void)client_->cancel(tag);
}

/// Under the lock: gives the answer to who waits for it. Memory that came too late for that goes back.
void RemoteMachine::take_reply(Reply reply) {
  const auto waiting = awaited_.find(reply.tag);
  if (waiting != awaited_.end()) {
    waiting->second = std::move(reply);
    return;
  }
  if (unwanted_memory_.erase(reply.tag) == 0) return;
  const auto* finished = std::get_if<Finished>(&reply.message);
  if (finished == nullptr) return;
  std::string_view values = finished->values;
  Allocated allocated;
  if (!take(&values, &allocated).is_ok()) return;
  Release gone;
  gone.region = allocated.region;
  (void)client_->submit(request(TaskKind::kRelease, bytes_of(gone)));
}

/// The answer, if it comes within kPollMs: read by this thread, or by another one that waits.
Result<std::optional<Reply>> RemoteMachine::wait_a_moment(uint32_t tag) {
  std::unique_lock lock(mutex_);
  std::optional<Reply>& mine = awaited_.at(tag);
  if (!mine && lost_.is_ok() && is_reading_)
    changed_.wait_for(lock, std::chrono::milliseconds(kPollMs),
                      [&] { return mine.has_value() || !lost_.is_ok() || !is_reading_; });
  if (!mine && lost_.is_ok() && !is_reading_) {
    is_reading_ = true;
    lock.unlock();
    Result<std::optional<Reply>> read = client_->wait(kPollMs);
    lock.lock();
    is_reading_ = false;
    if (!read.is_ok()) {
      lost_ = read.status();
    } else if (read.value()) {
      take_reply(std::move(*read.value()));
    }
    changed_.notify_all();
  }
  if (!mine) {
    if (!lost_.is_ok()) return lost_;
    return std::optional<Reply>();
  }
  std::optional<Reply> reply = std::move(mine);
  awaited_.erase(tag);
  return reply;
}

Result<Reply> RemoteMachine::ask(const Submit& submit, const KeepGoing& keep_going, int timeout_ms) {
  uint32_t tag;
  {
    const std::lock_guard lock(mutex_);
    if (!lost_.is_ok()) return lost_;
    STROM_ASSIGN(tag, client_->submit(submit));
    awaited_[tag];
  }
  Result<Reply> reply = await(tag, submit.task == static_cast<uint16_t>(TaskKind::kAllocate), keep_going, timeout_ms);
  if (reply.is_ok() && !std::holds_alternative<Finished>(reply.value().message)) return unexpected_answer();
  return reply;
}

Result<std::vector<DeviceRow>> RemoteMachine::devices(const KeepGoing& keep_going) {
  uint32_t tag;
  {
    const std::lock_guard lock(mutex_);
    if (!lost_.is_ok()) return lost_;
    STROM_ASSIGN(tag, client_->ask_devices());
    awaited_[tag];
  }
  STROM_ASSIGN(Reply reply, await(tag, false, keep_going, kFirstMemoryMs));
  auto* devices = std::get_if<Devices>(&reply.message);
  if (devices == nullptr) return unexpected_answer();
  return std::move(devices->rows);
}

Result<Reply> RemoteMachine::await(uint32_t tag, bool allocates, const KeepGoing& keep_going, int timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  struct Waiting {  // also for a `keep_going` that throws
    RemoteMachine* machine;
    uint32_t tag;
    bool allocates;
    bool is_answered = false;
    ~Waiting() {
      if (!is_answered) machine->abandon(tag, allocates);
    }
  } waiting{this, tag, allocates};
  for (;;) {
    STROM_ASSIGN(std::optional<Reply> reply, wait_a_moment(tag));
    if (reply) {
      waiting.is_answered = true;
      if (const auto* failed = std::get_if<Failed>(&reply->message)) return status_of(*failed);
      return std::move(*reply);
    }
    if (!keep_going()) return Status(ErrorCode::kCancelled, "stopped");
    if (timeout_ms >= 0 && std::chrono::steady_clock::now() > end)
      return Status(ErrorCode::kOverBudget, "no memory of the GPU became free in time");
  }
}

}  // namespace strom::service
