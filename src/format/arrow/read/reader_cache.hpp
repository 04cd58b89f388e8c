// Readers that stay open between queries, so that a file's mapping, its page tables and its decoded metadata survive.
// Used by PostgreSQL backends and by tools that open the same files again and again.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/status.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::arrow {

/// Opens an Arrow or Parquet file; its first bytes decide which. Errors: those of FileReader::open() and
/// parquet::open_file().
Result<std::shared_ptr<const FileReader>> open_any(const std::string& path);

/// Drops the least recently used readers; their users keep them alive. Thread-safe.
class ReaderCache {
 public:
  explicit ReaderCache(size_t max_files) : max_files_(max_files) {}

  /// The cached reader of `path`, else a new one. A cached reader is used if the file is still the one that was opened
  /// (device, inode, size, times), was not written just before that, and no part of it has vanished. Errors: those of
  /// open_any().
  Result<std::shared_ptr<const FileReader>> open(const std::string& path);
  size_t size() const;
  void clear();

 private:
  struct Entry {
    std::string path;
    std::shared_ptr<const FileReader> reader;
    bool is_settled;  // see base::is_settled(), at the time of opening
  };

  std::shared_ptr<const FileReader> find(const std::string& path, const FileIdentity& identity);
  void remember(const std::string& path, std::shared_ptr<const FileReader> reader, bool is_settled);
  void forget(const std::string& path);

  const size_t max_files_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_path_;
};

/// The process-wide cache, of at most 4096 files.
Result<std::shared_ptr<const FileReader>> open_cached(const std::string& path);

}  // namespace strom::format::arrow
