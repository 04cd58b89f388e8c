// A file of the store, used by its descriptor. Reads and writes at offsets are complete; errors are Status values with
// the path.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace strom::store::log {

class File {
 public:
  File() = default;
  File(File&& other) noexcept : path_(std::move(other.path_)), descriptor_(other.descriptor_) {
    other.descriptor_ = -1;
  }
  File& operator=(File&& other) noexcept;
  ~File() { close(); }

  /// `flags` are those of open(2). Only the owner can access new files. Errors: those of base::os_error().
  static Result<File> open(const std::string& path, int flags);

  Status read_at(uint64_t offset, void* to, uint64_t bytes) const;  // kCorruptFile if the file is too short
  Result<uint64_t> read_some(uint64_t offset, void* to, uint64_t bytes) const;
  Status write_at(uint64_t offset, const void* from, uint64_t bytes) const;
  /// Waits until the file is on the device. After a failure, the content on the device is unknown.
  Status sync() const;
  /// Has bytes written to the device soon, without waiting for it.
  void begin_sync(uint64_t offset, uint64_t bytes) const;
  Status allocate(uint64_t offset, uint64_t bytes) const;
  Result<uint64_t> size() const;
  /// Marks the file as used by a server, until it is closed. `server` is that server's number. Does nothing where the
  /// file system has no locks.
  void claim(uint64_t server) const;
  /// True if another server has claimed the file. Claim it first: of two servers that ask at the same time, at least
  /// one gets true.
  bool has_other(uint64_t server) const;
  /// True if somebody of this server has claimed the file by another descriptor.
  bool is_claimed(uint64_t server) const;
  void close();

  const std::string& path() const { return path_; }
  int descriptor() const { return descriptor_; }
  bool is_open() const { return descriptor_ >= 0; }

 private:
  Status failure(const char* what) const;

  std::string path_;
  int descriptor_ = -1;
};

/// Waits until the entries of the file's folder are on the device.
Status sync_folder_of(const std::string& path);

/// "file X is damaged at offset N: WHAT".
Status damaged(const std::string& path, uint64_t offset, const std::string& what);

}  // namespace strom::store::log
