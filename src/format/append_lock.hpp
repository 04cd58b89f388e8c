// The lock for appending to a file, for one process at a time: pg2arrow --append, INSERT.
#pragma once

#include <memory>
#include <string>

#include "base/status.hpp"

namespace strom::format {

/// flock() on the file, held until destruction or the end of the process.
class AppendLock {
 public:
  /// Locks the file that has the name `path` at that moment; waits for other holders. Errors: those of opening for
  /// writing.
  static Result<std::unique_ptr<AppendLock>> take(const std::string& path);
  /// The same without waiting: nullptr when another process holds the lock.
  static Result<std::unique_ptr<AppendLock>> try_take(const std::string& path);
  ~AppendLock();
  AppendLock(const AppendLock&) = delete;
  AppendLock& operator=(const AppendLock&) = delete;

  /// Open for reading and writing.
  int fd() const { return fd_; }

 private:
  explicit AppendLock(int fd) : fd_(fd) {}
  static Result<std::unique_ptr<AppendLock>> take(const std::string& path, bool wait);
  int fd_;
};

}  // namespace strom::format
