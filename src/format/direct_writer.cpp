// See direct_writer.hpp.
#include "format/direct_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace strom::format {

namespace {

/// Writes begin at multiples of this, in the file and in memory: enough for every usual disk.
constexpr size_t kAlignment = 4096;
/// A disk of 2 GB/s takes 2 ms to write it.
constexpr size_t kBufferBytes = 4 << 20;
/// Smaller pieces are gathered: each write is one more wait for the disk.
constexpr size_t kLargePiece = 1 << 20;

}  // namespace

std::unique_ptr<DirectWriter> DirectWriter::create(int fd, int64_t position) {
  void* memory = nullptr;
  if (posix_memalign(&memory, kAlignment, kBufferBytes) != 0) return nullptr;
  std::unique_ptr<DirectWriter> writer(new DirectWriter(fd, Buffer(static_cast<char*>(memory)), position));
  if (!writer->set_direct(true)) return nullptr;
  return writer;
}

DirectWriter::DirectWriter(int fd, Buffer buffer, int64_t position)
    : fd_(fd),
      buffer_(std::move(buffer)),
      begin_(position - position % static_cast<int64_t>(kAlignment)),
      from_(static_cast<size_t>(position - begin_)),
      used_(from_) {}

bool DirectWriter::set_direct(bool is_direct) {
  const int flags = fcntl(fd_, F_GETFL);
  return flags >= 0 && fcntl(fd_, F_SETFL, is_direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

int DirectWriter::append(const std::vector<struct iovec>& pieces) {
  for (const struct iovec& piece : pieces) {
    const char* bytes = static_cast<const char*>(piece.iov_base);
    size_t left = piece.iov_len;
    const bool is_aligned = used_ % kAlignment == 0 && reinterpret_cast<uintptr_t>(bytes) % kAlignment == 0;
    if (left >= kLargePiece && is_aligned) {
      const size_t whole = left / kAlignment * kAlignment;
      if (const int error_number = write_from(bytes, whole); error_number != 0) return error_number;
      bytes += whole;
      left -= whole;
    }
    while (left > 0) {
      const size_t count = std::min(left, kBufferBytes - used_);
      std::memcpy(buffer_.get() + used_, bytes, count);
      used_ += count;
      bytes += count;
      left -= count;
      if (used_ < kBufferBytes) continue;
      if (const int error_number = flush(false); error_number != 0) return error_number;
    }
  }
  return 0;
}

/// Whole pages, from where they are. The buffer ends with a page.
int DirectWriter::write_from(const char* bytes, size_t size) {
  if (const int error_number = flush(false); error_number != 0) return error_number;
  if (const int error_number = write_all(bytes, size, begin_); error_number != 0) return error_number;
  begin_ += static_cast<int64_t>(size);
  return 0;
}

int DirectWriter::finish() {
  int error_number = flush(true);
  if (is_direct_ && !set_direct(false) && error_number == 0) error_number = errno;
  if (error_number == 0 && lseek(fd_, begin_ + static_cast<int64_t>(used_), SEEK_SET) < 0) error_number = errno;
  return error_number;
}

/// Called when the buffer is full, or ends with a page, or at the end. Only at the end, and at the file's begin, it has
/// parts of pages.
int DirectWriter::flush(bool is_end) {
  size_t from = from_;
  if (const size_t head = std::min(used_, (from + kAlignment - 1) / kAlignment * kAlignment); head > from) {
    if (const int error_number = write_through_cache(from, head); error_number != 0) return error_number;
    from = head;
  }
  const size_t whole = std::max(from, used_ / kAlignment * kAlignment);
  if (const int error_number = write_out(from, whole); error_number != 0) return error_number;
  if (const int error_number = write_through_cache(whole, used_); error_number != 0) return error_number;
  from_ = used_;
  if (is_end) return 0;
  begin_ += static_cast<int64_t>(used_);
  from_ = used_ = 0;
  return 0;
}

int DirectWriter::write_through_cache(size_t from, size_t to) {
  if (from == to) return 0;
  if (is_direct_ && !set_direct(false)) return errno;
  const bool was_direct = std::exchange(is_direct_, false);
  const int error_number = write_out(from, to);
  is_direct_ = was_direct;
  if (error_number == 0 && is_direct_ && !set_direct(true)) return errno;
  return error_number;
}

int DirectWriter::write_out(size_t from, size_t to) {
  return write_all(buffer_.get() + from, to - from, begin_ + static_cast<int64_t>(from));
}

int DirectWriter::write_all(const char* bytes, size_t size, int64_t position) {
  while (size > 0) {
    const ssize_t written = pwrite(fd_, bytes, size, position);
    if (written >= 0) {
      bytes += written;
      size -= static_cast<size_t>(written);
      position += written;
    } else if (errno == EINVAL && is_direct_) {
      // The disk needs another alignment, or has written a part that is not a multiple of it.
      if (!set_direct(false)) return errno;
      is_direct_ = false;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace strom::format
