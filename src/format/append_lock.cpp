// See append_lock.hpp.
#include "format/append_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/os_error.hpp"

namespace strom::format {

Result<std::unique_ptr<AppendLock>> AppendLock::take(const std::string& path) { return take(path, true); }
Result<std::unique_ptr<AppendLock>> AppendLock::try_take(const std::string& path) { return take(path, false); }

Result<std::unique_ptr<AppendLock>> AppendLock::take(const std::string& path, bool wait) {
  for (;;) {
    // O_NONBLOCK: opening a FIFO must not wait for its other end.
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return base::os_error(errno, "could not open file \"" + path + "\" for writing");
    auto lock = std::unique_ptr<AppendLock>(new AppendLock(fd));
    while (flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) != 0) {
      if (errno == EWOULDBLOCK) return std::unique_ptr<AppendLock>();
      if (errno != EINTR) return base::os_error(errno, "could not lock file \"" + path + "\"");
    }
    // The former holder of the lock may have put another file in its place.
    struct stat locked, named;
    if (fstat(fd, &locked) != 0) return base::os_error(errno, "could not look at file \"" + path + "\"");
    if (!S_ISREG(locked.st_mode))
      return Status(ErrorCode::kIoError, "could not open file \"" + path + "\": it is not a regular file");
    if (stat(path.c_str(), &named) == 0 && locked.st_dev == named.st_dev && locked.st_ino == named.st_ino) return lock;
  }
}

AppendLock::~AppendLock() { close(fd_); }

}  // namespace strom::format
