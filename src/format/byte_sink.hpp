// Where the writers in src/format put their bytes: in a staged file, or a pipe.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace strom::format {

/// Takes bytes in order; commit() makes all of them visible at one moment. Not thread-safe.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Appends the pieces in order, without copying them. Errors: kIoError (disk full included), kCancelled when the
  /// reader of a pipe is gone.
  virtual Status append(std::vector<struct iovec> pieces) = 0;
  /// Reserves room for `bytes` that will be appended, so that a full disk is found in time. kDiskFull: there is no
  /// room, and what was appended can still be committed. Sinks that cannot know return ok.
  virtual Status reserve(int64_t bytes) {
    (void)bytes;
    return Status::ok();
  }
  /// Bytes appended so far.
  virtual int64_t position() const = 0;
  /// The file's name, for messages.
  virtual const std::string& path() const = 0;
  /// Makes the appended bytes durable and visible. Nothing is appended afterwards.
  virtual Status commit() = 0;
};

/// A sink for a descriptor that stays open and belongs to the caller, such as standard output. `name` is for messages.
std::unique_ptr<ByteSink> descriptor_sink(int fd, std::string name);

/// Removes `bytes` written bytes from the pieces from `next` on; returns the first piece that is left.
size_t skip_written(std::vector<struct iovec>& pieces, size_t next, size_t bytes);
/// Writes some of the pieces, as writev() does; returns the written bytes, or -1 and errno.
using WriteSome = std::function<ssize_t(const struct iovec* pieces, int count)>;
/// Calls `write` until all pieces are written; 0, or the errno of the call that failed.
int write_pieces(std::vector<struct iovec>& pieces, const WriteSome& write);
/// Writes all pieces to `fd`; 0, or the errno of the write that failed. `written` counts the written bytes in any case.
int write_pieces(int fd, std::vector<struct iovec>& pieces, int64_t& written);

}  // namespace strom::format
