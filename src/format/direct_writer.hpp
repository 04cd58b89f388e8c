// Writes bytes of a file to the disk past the kernel's page cache. Used by StagedFile.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

namespace strom::format {

/// Gathers bytes in memory and writes them in aligned pieces with O_DIRECT. Large pieces that are at such places
/// already, in memory and in the file, are written from where they are. The kernel neither copies them nor has to find
/// memory for them, and cached pages of others stay. Where a file system does not support such writes, they go through
/// its cache as usual. Not thread-safe.
class DirectWriter {
 public:
  /// Writes from `position` of the file on. The caller keeps `fd`. nullptr: not possible for this file, or too little
  /// memory.
  static std::unique_ptr<DirectWriter> create(int fd, int64_t position);

  /// 0, or the errno of the write that failed; nothing can be appended afterwards.
  int append(const std::vector<struct iovec>& pieces);
  /// Writes the rest. The descriptor then continues behind it, through the cache. 0, or an errno.
  int finish();

 private:
  struct Free {
    void operator()(char* memory) const { free(memory); }
  };
  using Buffer = std::unique_ptr<char, Free>;

  DirectWriter(int fd, Buffer buffer, int64_t position);
  bool set_direct(bool is_direct);
  int write_from(const char* bytes, size_t size);
  int write_out(size_t from, size_t to);
  int write_all(const char* bytes, size_t size, int64_t position);
  int write_through_cache(size_t from, size_t to);
  int flush(bool is_end);

  const int fd_;
  const Buffer buffer_;
  int64_t begin_;       // of the buffer, in the file; aligned
  size_t from_, used_;  // the buffer's bytes to be written
  bool is_direct_ = true;
};

}  // namespace strom::format
