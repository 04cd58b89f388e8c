// See byte_sink.hpp.
#include "format/byte_sink.hpp"

#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/os_error.hpp"

namespace strom::format {

namespace {

class DescriptorSink final : public ByteSink {
 public:
  DescriptorSink(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}

  Status append(std::vector<struct iovec> pieces) override {
    const int error_number = write_pieces(fd_, pieces, position_);
    if (error_number == 0) return Status::ok();
    if (error_number == EPIPE) return Status(ErrorCode::kCancelled, "the reader of " + name_ + " went away");
    return base::os_error(error_number, "could not write to " + name_);
  }
  int64_t position() const override { return position_; }
  const std::string& path() const override { return name_; }
  Status commit() override { return Status::ok(); }

 private:
  int fd_;
  std::string name_;
  int64_t position_ = 0;
};

}  // namespace

std::unique_ptr<ByteSink> descriptor_sink(int fd, std::string name) {
  return std::make_unique<DescriptorSink>(fd, std::move(name));
}

size_t skip_written(std::vector<struct iovec>& pieces, size_t next, size_t bytes) {
  while (bytes > 0) {
    struct iovec& piece = pieces[next];
    const size_t taken = std::min(bytes, piece.iov_len);
    piece.iov_base = static_cast<char*>(piece.iov_base) + taken;
    piece.iov_len -= taken;
    bytes -= taken;
    if (piece.iov_len == 0) ++next;
  }
  return next;
}

int write_pieces(std::vector<struct iovec>& pieces, const WriteSome& write) {
  size_t next = 0;
  while (next < pieces.size()) {
    if (pieces[next].iov_len == 0) {
      ++next;
      continue;
    }
    const size_t count = std::min<size_t>(pieces.size() - next, IOV_MAX);
    const ssize_t written = write(pieces.data() + next, static_cast<int>(count));
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    // The kernel takes at most 2 GiB at once, and less when a disk or a pipe fills up.
    next = skip_written(pieces, next, static_cast<size_t>(written));
  }
  return 0;
}

int write_pieces(int fd, std::vector<struct iovec>& pieces, int64_t& position) {
  return write_pieces(pieces, [&](const struct iovec* some, int count) {
    const ssize_t written = writev(fd, some, count);
    if (written > 0) position += written;
    return written;
  });
}

}  // namespace strom::format
