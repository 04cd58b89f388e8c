// A file that appears under its name only when it is whole. Used by the writers in src/format.
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"

namespace strom::format {

/// Bytes go to a hidden temporary file in the same folder; commit() makes them durable and gives them their name.
/// Dropped before commit(), the temporary file is removed. Not thread-safe.
class StagedFile {
 public:
  /// `overwrite` false: an existing `path` is kIoError, here or in commit(). A replaced file hands on its permission
  /// bits. Errors: kFileNotFound (no such folder), kPermissionDenied, kIoError.
  static Result<std::unique_ptr<StagedFile>> create(const std::string& path, bool overwrite);

  ~StagedFile();
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  /// Appends the pieces in order, straight from where they lie. Errors: kIoError (disk full included).
  Status append(std::vector<struct iovec> pieces);
  /// Bytes appended so far.
  int64_t position() const { return position_; }
  const std::string& path() const { return path_; }
  /// fsync, rename, fsync of the folder. Errors: kIoError, kPermissionDenied; then `path` is as it was, unless it was
  /// the folder that could not be synced.
  Status commit();

 private:
  StagedFile(std::string path, bool overwrite) : path_(std::move(path)), overwrite_(overwrite) {}
  Status open_temporary();
  Status rename_into_place();
  Status sync_folder() const;
  std::string folder() const;
  Status failed(const char* verb, int error_number) const;
  Status already_exists() const;

  std::string path_, temporary_;  // temporary_ is empty when there is none to remove
  bool overwrite_;
  int fd_ = -1;
  int64_t position_ = 0;
};

}  // namespace strom::format
