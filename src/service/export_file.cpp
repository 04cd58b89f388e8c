#include "service/export_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <thread>

#include "base/blocked_signals.hpp"
#include "base/os_error.hpp"

namespace strom::service {
namespace {

// Ranges of a sparse file cost nothing. A file may have 2^63 bytes, and a table 1600 columns of three buffers.
constexpr int64_t kWideRange = int64_t{1} << 40;
constexpr int64_t kMoveBytes = int64_t{4} << 20;
constexpr int64_t kSharedWrite = int64_t{2} << 20;  // bytes from which a second thread is worth its start

int64_t rounded_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

Status failed(int error, const char* what) {
  // A memory file is out of memory where another one would be out of room.
  return base::os_error(error == ENOSPC ? ENOMEM : error, what);
}

}  // namespace

Result<ExportFile> ExportFile::create(size_t buffers, const std::vector<int64_t>& room) {
  ExportFile made;
  const int number = memfd_create("pg_strom export", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (number < 0) {
    if (errno == ENOSYS) return Status(ErrorCode::kUnsupported, "the kernel has no memory files");
    return failed(errno, "could not create a memory file");
  }
  made.file_ = Descriptor(number);
  made.buffers_.resize(buffers);
  const bool is_known =
      room.size() == buffers && std::all_of(room.begin(), room.end(), [](int64_t bytes) { return bytes > 0; });
  int64_t at = 0;
  for (size_t i = 0; i < buffers; ++i) {
    made.buffers_[i] = {at, 0, is_known ? room[i] : kWideRange};
    at += made.buffers_[i].room;
  }
  return made;
}

int64_t ExportFile::total() const {
  int64_t bytes = 0;
  for (const Buffer& buffer : buffers_) bytes += buffer.size;
  return bytes;
}

Status ExportFile::append(size_t buffer, const void* bytes, int64_t size) {
  if (size > buffers_[buffer].room - buffers_[buffer].size) STROM_TRY(spread());
  if (size > kWideRange - buffers_[buffer].size)
    return Status(ErrorCode::kOverBudget, "a column of an export has more than a terabyte");
  Buffer& to = buffers_[buffer];
  STROM_TRY(write_in_halves(static_cast<const char*>(bytes), size, to.offset + to.size));
  to.size += size;
  return Status::ok();
}

/// Most of the time goes to the pages that the kernel makes, which two threads do in little more than half of it.
Status ExportFile::write_in_halves(const char* bytes, int64_t size, int64_t place) {
  const int64_t half = size / 2;
  if (size < kSharedWrite) return write(bytes, size, place);
  Status first = Status::ok();
  std::thread helper;
  try {
    const base::BlockedSignals blocked;
    helper = std::thread([&] { first = write(bytes, half, place); });
  } catch (const std::system_error&) {
    return write(bytes, size, place);
  }
  Status second = write(bytes + half, size - half, place + half);
  helper.join();
  STROM_TRY(std::move(first));
  return second;
}

Status ExportFile::write(const char* bytes, int64_t size, int64_t place) {
  for (int64_t done = 0; done < size;) {
    const ssize_t written = pwrite(file_.get(), bytes + done, static_cast<size_t>(size - done), place + done);
    if (written < 0 && errno != EINTR) return failed(errno, "could not write to a memory file");
    if (written > 0) done += written;
  }
  return Status::ok();
}

/// Copies forwards, and gives the memory of what was copied back.
Status ExportFile::move(int64_t from, int64_t to, int64_t size) {
  if (from == to || size == 0) return Status::ok();
  // A range that overlaps with its new place is read before it is written, when it is copied towards its beginning.
  // Ranges that are spread do not overlap.
  std::vector<char> bytes(static_cast<size_t>(std::min(size, kMoveBytes)));
  for (int64_t done = 0; done < size;) {
    const auto wanted = static_cast<size_t>(std::min(size - done, kMoveBytes));
    const ssize_t taken = pread(file_.get(), bytes.data(), wanted, from + done);
    if (taken <= 0) {
      if (taken < 0 && errno == EINTR) continue;
      return failed(errno, "could not read from a memory file");
    }
    STROM_TRY(write(bytes.data(), taken, to + done));
    // What lies behind the new place's end is not needed there any more.
    const int64_t hole = std::max(from + done, to < from ? to + done + taken : from + done);
    if (hole < from + done + taken)
      (void)fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, hole, from + done + taken - hole);
    done += taken;
  }
  return Status::ok();
}

/// Gives each buffer a wide range, when one has got more than was expected.
Status ExportFile::spread() {
  for (size_t i = buffers_.size(); i-- > 0;) {
    Buffer& buffer = buffers_[i];
    const int64_t place = static_cast<int64_t>(i) * kWideRange;
    STROM_TRY(move(buffer.offset, place, buffer.size));
    buffer.offset = place;
    buffer.room = kWideRange;
  }
  return Status::ok();
}

Status ExportFile::settle(int64_t alignment) {
  int64_t at = 0;
  for (Buffer& buffer : buffers_) {
    at = rounded_up(at, alignment);
    STROM_TRY(move(buffer.offset, at, buffer.size));
    buffer.offset = at;
    at += buffer.size;
  }
  length_ = at;
  return Status::ok();
}

Status ExportFile::seal(std::string_view end) {
  // What buffers had behind the last one's end goes.
  if (ftruncate(file_.get(), length_) != 0) return failed(errno, "could not set the size of a memory file");
  STROM_TRY(write(end.data(), static_cast<int64_t>(end.size()), length_));
  length_ += static_cast<int64_t>(end.size());
  if (fcntl(file_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return failed(errno, "could not seal a memory file");
  return Status::ok();
}

}  // namespace strom::service
