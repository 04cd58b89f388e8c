// See verify.hpp.
#include "cli/verify.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/os_error.hpp"

namespace strom::tool {

namespace {

uint64_t mixed(uint64_t state, uint64_t word) {
  state = (state ^ word) * 0xD6E8FEB86659FD93;
  return state ^ state >> 32;
}

class VerifyingSink final : public format::ByteSink {
 public:
  VerifyingSink(std::unique_ptr<format::ByteSink> sink, std::string path)
      : sink_(std::move(sink)), file_(std::move(path)), begin_(sink_->position()) {}

  Status append(std::vector<struct iovec> pieces) override {
    for (const auto& piece : pieces) sum_.add(piece.iov_base, static_cast<int64_t>(piece.iov_len));
    return sink_->append(std::move(pieces));
  }
  int64_t position() const override { return sink_->position(); }
  const std::string& path() const override { return sink_->path(); }
  Status commit() override {
    STROM_TRY(sink_->commit());
    return check();
  }

 private:
  Status check() const {
    const int fd = open(file_.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return base::os_error(errno, "could not read back file \"" + file_ + "\"");
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    Checksum sum;
    const Status status = read_all(fd, sum);
    close(fd);
    STROM_TRY(status);
    if (sum.value() == sum_.value()) return Status::ok();
    return Status(ErrorCode::kIoError, "file \"" + file_ + "\" does not hold what was written to it");
  }

  Status read_all(int fd, Checksum& sum) const {
    std::vector<char> buffer(1 << 20);
    for (int64_t at = begin_; at < position();) {
      const auto wanted = static_cast<size_t>(std::min<int64_t>(position() - at, static_cast<int64_t>(buffer.size())));
      const ssize_t got = pread(fd, buffer.data(), wanted, at);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return base::os_error(errno, "could not read back file \"" + file_ + "\"");
      if (got == 0) break;
      sum.add(buffer.data(), got);
      at += got;
    }
    return Status::ok();
  }

  std::unique_ptr<format::ByteSink> sink_;
  std::string file_;
  int64_t begin_;
  Checksum sum_;
};

}  // namespace

void Checksum::add(const void* bytes, int64_t size) {
  const auto* at = static_cast<const uint8_t*>(bytes);
  const uint8_t* const end = at + size;
  const auto push = [&](uint8_t byte) {
    partial_ |= static_cast<uint64_t>(byte) << (8 * partial_size_);
    if (++partial_size_ < 8) return;
    state_ = mixed(state_, partial_);
    partial_ = 0;
    partial_size_ = 0;
  };
  while (at < end && partial_size_ > 0) push(*at++);
  for (; end - at >= 8; at += 8) {
    uint64_t word;
    std::memcpy(&word, at, sizeof(word));
    state_ = mixed(state_, word);
  }
  while (at < end) push(*at++);
}

uint64_t Checksum::value() const { return mixed(mixed(state_, partial_), static_cast<uint64_t>(partial_size_)); }

std::unique_ptr<format::ByteSink> verifying_sink(std::unique_ptr<format::ByteSink> sink, std::string path) {
  return std::make_unique<VerifyingSink>(std::move(sink), std::move(path));
}

}  // namespace strom::tool
