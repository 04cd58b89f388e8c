// See file_end.hpp.
#include "format/arrow/metadata/file_end.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "format/arrow/metadata/ipc.hpp"

namespace strom::format::arrow {

namespace {

int64_t round_up(int64_t value) { return (value + kEndUnit - 1) / kEndUnit * kEndUnit; }

int write_all(int fd, const char* bytes, size_t size, int64_t offset) {
  while (size > 0) {
    const ssize_t written = pwrite(fd, bytes, size, offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes += written;
    offset += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

/// False: the file system does not support this way.
bool write_block(int fd, const char* block, int64_t offset, int* error_number) {
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags | O_DIRECT) != 0) return false;
  ssize_t written;
  do {
    written = pwrite(fd, block, kEndUnit, offset);
  } while (written < 0 && errno == EINTR);
  *error_number = written < 0 ? errno : 0;
  if (fcntl(fd, F_SETFL, flags) != 0) *error_number = errno;
  return written == kEndUnit || (*error_number != 0 && *error_number != EINVAL && *error_number != EOPNOTSUPP);
}

bool ends_here(const uint8_t* data, int64_t size) {
  return size >= kHeaderBytes + kTrailerBytes && std::memcmp(data + size - kMagicBytes, kMagic, kMagicBytes) == 0;
}

}  // namespace

int64_t longer_size(int64_t size, int64_t more) { return std::max(round_up(size + more), round_up(size) + kEndUnit); }

int write_new_end(int fd, const void* bytes, size_t size, int64_t end) {
  alignas(kEndUnit) char block[kEndUnit] = {};
  std::memcpy(block + kEndUnit - size, bytes, size);
  int error_number = 0;
  if (write_block(fd, block, end - kEndUnit, &error_number)) return error_number;
  return write_all(fd, static_cast<const char*>(bytes), size, end - static_cast<int64_t>(size));
}

int64_t size_in_force(const uint8_t* data, int64_t size) {
  // Nobody makes a file longer by more than that at once.
  constexpr int64_t kMost = int64_t{std::numeric_limits<int32_t>::max()} + 2 * kEndUnit;
  if (size < kHeaderBytes + kTrailerBytes || ends_here(data, size) || std::memcmp(data, kMagic, kMagicBytes) != 0)
    return size;
  const int64_t least = std::max<int64_t>(size - kMost, 0);
  int64_t end = size;
  while (end > least && data[end - 1] == 0) --end;
  return ends_here(data, end) ? end : size;
}

}  // namespace strom::format::arrow
