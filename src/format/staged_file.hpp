// A file that appears under its name only when it is complete. Used by the writers in src/format.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/byte_sink.hpp"
#include "format/direct_writer.hpp"

namespace strom::format {

/// kKeep: written bytes stay in the page cache, for their next reader. kSpare: large files bypass the page cache, which
/// is faster and keeps the cached pages of others.
enum class PageCache { kKeep, kSpare };

/// Writes to a file without a name (O_TMPFILE), which the kernel removes with the process however that ends. If the
/// file system has no such files, to a hidden temporary file in the same folder. commit() makes the bytes durable and
/// names the file. If it is destroyed before commit(), nothing is left. Not thread-safe.
class StagedFile final : public ByteSink {
 public:
  /// `overwrite` false: an existing `path` is kFileExists, here or in commit(). A replaced file passes on its
  /// permission bits. Temporary files that killed writers have left in the folder are removed. Errors: kFileNotFound
  /// (no such folder), kPermissionDenied, kIoError.
  static Result<std::unique_ptr<StagedFile>> create(const std::string& path, bool overwrite,
                                                    PageCache cache = PageCache::kKeep);

  ~StagedFile() override;
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;

  Status append(std::vector<struct iovec> pieces) override;
  Status reserve(int64_t bytes) override;
  /// Leaves room for `bytes` at the end, which write_at() fills; returns where the room begins. -1: this file is
  /// written past the page cache, in order.
  int64_t skip(int64_t bytes);
  /// Writes into room of skip(). Several threads may do so at once, and while another one appends.
  Status write_at(int64_t offset, std::vector<struct iovec> pieces) const;
  /// Appends `size` bytes of another file from `offset` on; the file system may share them instead of copying.
  Status append_file(int source, int64_t offset, int64_t size);
  int64_t position() const override { return position_; }
  const std::string& path() const override { return path_; }
  /// Sets another name in the same folder, for a file whose name commit() has found taken.
  void set_path(std::string path) { path_ = std::move(path); }
  /// Syncs the file, names it, and syncs the folder. Errors: kFileExists, kIoError, kPermissionDenied. After an error
  /// `path` is unchanged, unless only the sync of the folder failed when a file was replaced. Nobody else can take the
  /// file's AppendLock before this object is destroyed.
  Status commit() override;

  /// Removes every temporary file of this process, and prevents any further commit(): for a process that a signal is
  /// about to end. Callable from any thread, but not from a signal handler. The process must exit afterwards.
  static void abandon_all();

 private:
  StagedFile(std::string path, bool overwrite, PageCache cache)
      : path_(std::move(path)), overwrite_(overwrite), cache_(cache) {}
  Status open_temporary();
  Status open_named();
  void remove_temporary();
  void start_writeback();
  Status end_direct();
  Status give_back_room();
  Status put_into_place();
  int link_unnamed();
  Status copy_to_named();
  Status rename_into_place();
  Status sync_folder() const;
  Status failed(const char* verb, int error_number) const;
  Status already_exists() const;

  std::string path_, temporary_;  // temporary_ is empty when there is none to remove
  bool overwrite_;
  PageCache cache_;
  int fd_ = -1;
  std::unique_ptr<DirectWriter> direct_;  // while writes go past the page cache
  int64_t position_ = 0, written_back_ = 0;
  int64_t reserved_ = 0;  // from the file's beginning
};

/// Puts names in a folder onto the disk. 0, or errno. Some file systems cannot sync a folder and say so with EINVAL,
/// which is no failure.
int sync_folder(const std::string& folder);

}  // namespace strom::format
