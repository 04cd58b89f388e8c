#include "service/read_queue.hpp"

#include <unistd.h>

#include <cerrno>
#include <deque>

#include "base/os_error.hpp"

#ifdef STROM_HAVE_IO_URING
#include <liburing.h>
#endif

namespace strom::service {
namespace {

class PreadQueue final : public ReadQueue {
 public:
  Status submit(uint32_t number, int descriptor, void* buffer, size_t bytes, uint64_t offset) override {
    ssize_t result;
    do result = pread(descriptor, buffer, bytes, static_cast<off_t>(offset));
    while (result < 0 && errno == EINTR);
    done_.push_back({number, result < 0 ? -errno : result});
    return {};
  }
  Result<std::optional<Done>> wait(int) override {
    if (done_.empty()) return std::optional<Done>();
    const Done done = done_.front();
    done_.pop_front();
    return std::optional<Done>(done);
  }
  bool overlaps() const override { return false; }

 private:
  std::deque<Done> done_;
};

#ifdef STROM_HAVE_IO_URING
class RingQueue final : public ReadQueue {
 public:
  RingQueue() = default;
  ~RingQueue() override {
    if (is_open_) io_uring_queue_exit(&ring_);
  }
  /// 0 or -errno.
  int open(unsigned depth) {
    const int outcome = io_uring_queue_init(depth, &ring_, 0);
    is_open_ = outcome == 0;
    return outcome;
  }

  Status submit(uint32_t number, int descriptor, void* buffer, size_t bytes, uint64_t offset) override {
    io_uring_sqe* entry = io_uring_get_sqe(&ring_);
    if (entry == nullptr) return Status(ErrorCode::kInternal, "more reads than the queue is for");
    io_uring_prep_read(entry, descriptor, buffer, static_cast<unsigned>(bytes), offset);
    io_uring_sqe_set_data64(entry, number);
    int outcome;
    do outcome = io_uring_submit(&ring_);
    while (outcome == -EINTR || outcome == -EAGAIN || outcome == -EBUSY);
    if (outcome < 0) return base::os_error(-outcome, "could not begin to read a file");
    return {};
  }
  Result<std::optional<Done>> wait(int timeout_ms) override {
    __kernel_timespec timeout = {timeout_ms / 1000, int64_t{timeout_ms % 1000} * 1000000};
    io_uring_cqe* entry = nullptr;
    const int outcome = io_uring_wait_cqe_timeout(&ring_, &entry, &timeout);
    if (outcome == -ETIME || outcome == -EINTR || outcome == -EAGAIN) return std::optional<Done>();
    if (outcome < 0) return base::os_error(-outcome, "could not wait for reads of files");
    const Done done{static_cast<uint32_t>(io_uring_cqe_get_data64(entry)), entry->res};
    io_uring_cqe_seen(&ring_, entry);
    return std::optional<Done>(done);
  }
  bool overlaps() const override { return true; }

 private:
  io_uring ring_{};
  bool is_open_ = false;
};
#endif

}  // namespace

std::unique_ptr<ReadQueue> ReadQueue::create(unsigned depth, bool with_io_uring) {
#ifdef STROM_HAVE_IO_URING
  if (with_io_uring) {
    auto ring = std::make_unique<RingQueue>();
    if (ring->open(2 * depth) == 0) return ring;
  }
#else
  (void)depth, (void)with_io_uring;
#endif
  return std::make_unique<PreadQueue>();
}

Status ReadQueue::check_io_uring() {
#ifdef STROM_HAVE_IO_URING
  RingQueue ring;
  const int outcome = ring.open(1);
  return outcome == 0 ? Status::ok() : base::os_error(-outcome, "io_uring cannot be used");
#else
  return Status(ErrorCode::kUnsupported, "io_uring cannot be used: this service was built without liburing");
#endif
}

}  // namespace strom::service
