// See sessions.hpp.
#include "dump/sessions.hpp"

#include <new>
#include <string>
#include <thread>
#include <vector>

namespace strom::tool {

namespace {

Status guarded(const std::function<Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory")
        .with_hint("Make the record batches smaller with -s, or use fewer workers.");
  }
}

}  // namespace

void Failure::set(Status status) {
  {
    std::lock_guard lock(mutex_);
    if (set_) return;
    status_ = std::move(status);
    set_ = true;
  }
  stop_();
}

Status Failure::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

Status run_sessions(size_t count, std::function<void()> stop,
                    const std::function<Status(size_t, const Failure&)>& work) {
  Failure failure(std::move(stop));
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      Status status = guarded([&] { return work(i, failure); });
      if (status.is_ok()) return;
      if (count > 1 && status.code() != ErrorCode::kCancelled) {
        status = Status(status.code(), "worker " + std::to_string(i) + ": " + status.message())
                     .with_detail(status.detail())
                     .with_hint(status.hint());
      }
      failure.set(std::move(status));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return failure.status();
}

}  // namespace strom::tool
