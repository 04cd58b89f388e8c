// See spool.hpp.
#include "cli/spool.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/os_error.hpp"

namespace strom::tool {

Result<std::unique_ptr<Spool>> Spool::create() {
  auto spool = std::unique_ptr<Spool>(new Spool());
  const char* folder = getenv("TMPDIR");
  spool->fd_ =
      open(folder == nullptr || *folder == '\0' ? "/tmp" : folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
  if (spool->fd_ < 0) spool->fd_ = memfd_create("input", MFD_CLOEXEC);
  if (spool->fd_ < 0) return base::os_error(errno, "could not create a temporary file");
  return spool;
}

Spool::~Spool() {
  if (mapped_ != nullptr) munmap(mapped_, size_);
  if (fd_ >= 0) close(fd_);
}

Status Spool::append(const void* bytes, size_t size) {
  const auto* at = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = write(fd_, at, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      return base::os_error(errno, "could not write to a temporary file")
          .with_hint("TMPDIR names another folder for it.");
    at += written;
    size -= static_cast<size_t>(written);
    size_ += static_cast<size_t>(written);
  }
  return Status::ok();
}

Result<std::span<const uint8_t>> Spool::bytes() {
  if (mapped_ == nullptr && size_ > 0) {
    void* address = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd_, 0);
    if (address == MAP_FAILED) return base::os_error(errno, "could not map a temporary file");
    mapped_ = address;
  }
  return std::span(static_cast<const uint8_t*>(mapped_), size_);
}

Status take_input() {
  static bool was_read = false;
  if (was_read) return Status(ErrorCode::kInvalidParameter, "standard input can be read once only");
  if (isatty(STDIN_FILENO))
    return Status(ErrorCode::kInvalidParameter, "standard input is a terminal")
        .with_hint("Redirect it, or name a file.");
  was_read = true;
  return Status::ok();
}

Result<std::unique_ptr<Spool>> spool_input() {
  STROM_TRY(take_input());
  STROM_ASSIGN(auto spool, Spool::create());
  std::vector<char> buffer(1 << 20);
  for (;;) {
    const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::os_error(errno, "could not read standard input");
    if (got == 0) return spool;
    STROM_TRY(spool->append(buffer.data(), static_cast<size_t>(got)));
  }
}

}  // namespace strom::tool
