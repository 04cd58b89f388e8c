// Where the writers in src/format put their bytes: a staged file, or a pipe.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace strom::format {

/// Bytes in order, and one moment at which they are all there. Not thread-safe.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Appends the pieces in order, straight from where they lie. Errors: kIoError (disk full included), kCancelled when
  /// the reader of a pipe is gone.
  virtual Status append(std::vector<struct iovec> pieces) = 0;
  /// Asks for room for `bytes` that will be appended, so that a full disk is found before it is too late. kDiskFull:
  /// there is none, and what was appended can still be committed. Where nothing is known in advance it is ok.
  virtual Status reserve(int64_t bytes) {
    (void)bytes;
    return Status::ok();
  }
  /// Bytes appended so far.
  virtual int64_t position() const = 0;
  /// The file's name, for messages.
  virtual const std::string& path() const = 0;
  /// Makes what was appended durable and visible; nothing is appended afterwards.
  virtual Status commit() = 0;
};

/// A descriptor that stays open and belongs to the caller, such as standard output. `name` stands for it in messages.
std::unique_ptr<ByteSink> descriptor_sink(int fd, std::string name);

/// Takes `bytes` that went out off the pieces from `next` on; the first that is left.
size_t skip_written(std::vector<struct iovec>& pieces, size_t next, size_t bytes);
/// Writes some of the pieces, as writev() does; the bytes that went out, or -1 and errno.
using WriteSome = std::function<ssize_t(const struct iovec* pieces, int count)>;
/// Calls `write` until all pieces are written; 0, or the errno of the call that failed.
int write_pieces(std::vector<struct iovec>& pieces, const WriteSome& write);
/// Writes all pieces to `fd`; 0, or the errno of the write that failed. `written` counts what went out in any case.
int write_pieces(int fd, std::vector<struct iovec>& pieces, int64_t& written);

}  // namespace strom::format
