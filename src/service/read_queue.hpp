// Reads of files that overlap: by io_uring, or one after the other by pread where the kernel does not let us. Used by
// service/storage.cpp; one thread.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/status.hpp"

namespace strom::service {

class ReadQueue {
 public:
  struct Done {
    uint32_t number = 0;
    ssize_t result = 0;  // bytes, or -errno
  };

  /// For at most `depth` reads at a time.
  static std::unique_ptr<ReadQueue> create(unsigned depth, bool with_io_uring);
  /// Ok, or why io_uring cannot be used by this process.
  static Status check_io_uring();

  virtual ~ReadQueue() = default;
  /// Begins a read, whose buffer must stay until it is done. kIoError.
  virtual Status submit(uint32_t number, int descriptor, void* buffer, size_t bytes, uint64_t offset) = 0;
  /// A read that is done, in any order; nothing after so long. kIoError.
  virtual Result<std::optional<Done>> wait(int timeout_ms) = 0;
  virtual bool overlaps() const = 0;  // with what the thread does meanwhile
};

}  // namespace strom::service
