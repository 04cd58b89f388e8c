// See writer.hpp.
#include "fluent2arrow/writer.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

#include "base/os_error.hpp"

namespace strom::fluent2arrow {

Status Writer::start() {
  done_ = base::Descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (done_.get() < 0) return base::os_error(errno, "could not make an event");
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    return base::os_error(error.code().value(), "could not start a thread");
  }
  return Status::ok();
}

Writer::~Writer() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    is_end_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Writer::write(EventBuffer& events) {
  is_busy_ = true;
  {
    std::lock_guard lock(mutex_);
    events_ = &events;
  }
  changed_.notify_all();
}

std::optional<Status> Writer::result(bool waits) {
  std::unique_lock lock(mutex_);
  if (waits && is_busy_) changed_.wait(lock, [&] { return result_.has_value(); });
  if (!result_.has_value()) return std::nullopt;
  is_busy_ = false;
  eventfd_t count = 0;
  (void)eventfd_read(done_.get(), &count);
  return std::exchange(result_, std::nullopt);
}

void Writer::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_end_ || events_ != nullptr; });
    if (events_ == nullptr) return;
    EventBuffer& events = *std::exchange(events_, nullptr);
    lock.unlock();
    Status status;
    try {
      status = files_.write(events, time(nullptr));
    } catch (const std::bad_alloc&) {
      status = {ErrorCode::kOutOfMemory, "out of memory while writing events"};
    }
    lock.lock();
    result_ = std::move(status);
    (void)eventfd_write(done_.get(), 1);
    changed_.notify_all();
  }
}

}  // namespace strom::fluent2arrow
