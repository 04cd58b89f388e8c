// A memory file (memfd_create) that buffers grow in side by side, and that is sealed when they are whole: what is
// handed to other processes by descriptor. Memory is taken as bytes come: each buffer has a wide range of the sparse
// file to itself until settle() moves the buffers together. Filled by src/pg/sqlfn/export_buffers.cpp;
// docs/dev/python.md.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "service/sockets.hpp"

namespace strom::service {

class ExportFile {
 public:
  /// With `buffers` empty buffers. `room`: how many bytes each is expected to get, 0 = not known. Buffers that get just
  /// that are not moved. Errors: of the system calls; kUnsupported where the kernel has no memory files.
  static Result<ExportFile> create(size_t buffers, const std::vector<int64_t>& room);

  /// At the end of a buffer. Errors: kOutOfMemory when there is no memory for it.
  Status append(size_t buffer, const void* bytes, int64_t size);
  int64_t size(size_t buffer) const { return buffers_[buffer].size; }
  /// Bytes of all buffers together.
  int64_t total() const;

  /// Moves the buffers together, each at a multiple of `alignment`. Nothing is appended after that.
  Status settle(int64_t alignment);
  /// Adds `end` behind the buffers, and makes the file one that nobody can change.
  Status seal(std::string_view end);
  /// Where a buffer is, after settle().
  int64_t offset(size_t buffer) const { return buffers_[buffer].offset; }
  /// Length of the settled, and then of the sealed file in bytes.
  int64_t length() const { return length_; }
  int descriptor() const { return file_.get(); }

 private:
  struct Buffer {
    int64_t offset = 0, size = 0, room = 0;
  };
  Status write(const char* bytes, int64_t size, int64_t place);
  Status write_in_halves(const char* bytes, int64_t size, int64_t place);
  Status move(int64_t from, int64_t to, int64_t size);
  Status spread();

  Descriptor file_;
  std::vector<Buffer> buffers_;
  int64_t length_ = 0;
};

}  // namespace strom::service
