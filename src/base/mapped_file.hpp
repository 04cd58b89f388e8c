// A file mapped read-only. The mapping stays readable when another process shrinks the file. Used by the readers in
// src/format.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/status.hpp"

namespace strom::base {

/// What tells one state of a file from another.
struct FileIdentity {
  uint64_t device = 0, inode = 0;
  int64_t size = 0;
  int64_t mtime_ns = 0, ctime_ns = 0;
  bool operator==(const FileIdentity&) const = default;
};

/// Identity of the regular file that `path` leads to now. Errors: those of MappedFile::open().
Result<FileIdentity> identify_file(const std::string& path);

/// A whole file, mapped MAP_SHARED and PROT_READ. The descriptors of a few stay open, the others are closed again, so
/// that thousands of files can be held. Immutable after open() and safe to share between threads.
///
/// Bytes may change at any time, so whatever is read twice may differ. A page that is gone because the file was
/// shrunk (or cannot be read from the device) reads as zeros: the first mapping installs a process-wide SIGBUS handler
/// that puts zero pages there and remembers that the mapping is no longer what was opened. SIGBUS of other origin goes
/// to the handler that was there before. A thread that reads a mapping must not block SIGBUS. The kernel does not
/// raise SIGBUS for its own accesses: write() or send() from a vanished page fails with EFAULT.
class MappedFile : public std::enable_shared_from_this<MappedFile> {
 public:
  /// Errors: kFileNotFound, kPermissionDenied, kIoError (also: not a regular file), kOutOfMemory, kOverBudget (more
  /// than 65536 mappings at once).
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);

  /// The mapping that holds these bytes; nullptr when they are elsewhere. The caller knows that it stays alive.
  static std::shared_ptr<const MappedFile> find(const void* data, size_t bytes);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  const FileIdentity& identity() const { return identity_; }
  /// Page-aligned; nullptr for an empty file.
  const uint8_t* data() const { return data_; }
  int64_t size() const { return identity_.size; }

  /// `bytes` bytes from `data` on, which lie in the mapping, will be read: those that are not in memory are read ahead
  /// in the background. Nothing else is ever read ahead, so that a few columns of a wide file cost no more than these.
  void will_need(const uint8_t* data, int64_t bytes) const;

  /// All pages of these bytes, which lie in the mapping, are in memory. False where the kernel does not tell.
  bool is_resident(const uint8_t* data, size_t bytes) const;

  /// A new descriptor of the file under the mapping, which the caller closes; -1 when it cannot be had any more.
  int new_descriptor() const;

  /// A page was missing when it was read.
  bool is_poisoned() const;
  /// kFileChanged when is_poisoned(), or when the file has another size or modification time now. A file that was
  /// unlinked or replaced lives on under the mapping and is fine; without a descriptor, nothing more is known of it.
  Status check_unchanged() const;
  /// Of the file under the mapping as it is now; all zeros when that is not known.
  FileIdentity identity_now() const;
  /// The file under the mapping as it is now; nullptr when it was replaced or unlinked, and nothing is known of it any
  /// more. Errors: those of open().
  Result<std::shared_ptr<const MappedFile>> reopen() const;

 private:
  MappedFile(std::string path, const FileIdentity& identity) : path_(std::move(path)), identity_(identity) {}

  std::string path_;
  FileIdentity identity_;
  const uint8_t* data_ = nullptr;
  int descriptor_ = -1;           // -1: closed again
  bool shows_residency_ = false;  // mincore() tells the truth
  int32_t slot_ = -1;             // in the table that the SIGBUS handler searches; -1 for an empty file
};

}  // namespace strom::base
