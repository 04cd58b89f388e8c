// What is known of files without having them open: for tables of thousands of files, of which a query is to touch no
// more than it needs. See docs/dev/arrow.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "format/arrow/read/reader.hpp"

namespace strom::format::arrow {

/// A file's schema and the metadata of its record batches. Immutable but for bounds, which are read when they are asked
/// for; safe to share between threads.
struct FileMetadata {
  struct Batch {
    BatchLocation location;
    int64_t rows = 0;
    bool compressed = false;
    std::vector<int64_t> null_counts, bytes, memory_bytes;  // of each field; kUnreadable: it cannot be read
  };
  using AllBounds = std::vector<std::optional<columnar::Bounds>>;

  static constexpr int64_t kUnreadable = INT64_MIN;

  FileIdentity identity;
  const char* format = "";  // see FileReader
  std::shared_ptr<const columnar::Schema> schema;
  std::vector<Batch> batches;

  mutable std::mutex bounds_mutex;
  mutable std::map<int, AllBounds> bounds;  // of fields; empty where there are none

  /// How much is known, and how much of that other processes know, too; the latter is the main thread's.
  size_t facts() const {
    const std::lock_guard lock(bounds_mutex);
    return 1 + bounds.size();
  }
  mutable size_t shared_facts = 0;

  static Result<std::shared_ptr<FileMetadata>> load(const std::string& path);
  /// Roughly.
  int64_t memory() const;
};

/// The least recently used are dropped when there are more bytes than allowed. Thread-safe.
class MetadataCache {
 public:
  explicit MetadataCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  /// What is kept for `path` if the file is still the same, else read anew. Errors: those of open_any().
  Result<std::shared_ptr<const FileMetadata>> find(const std::string& path);

  /// What another process knows of `path`, of a file that had settled; it is not taken where something is known
  /// already, or where others would have to go.
  void seed(const std::string& path, std::shared_ptr<FileMetadata> metadata);
  /// What is known of `path`, of a file that had settled; nullptr if nothing is.
  std::shared_ptr<const FileMetadata> settled(const std::string& path) const;

  void set_most_bytes(int64_t bytes);

  struct Stats {
    int64_t files, bytes, most_bytes, hits, misses;
  };
  Stats stats() const;

 private:
  struct Entry {
    std::string path;
    std::shared_ptr<const FileMetadata> metadata;
    bool is_settled;
    int64_t bytes;
  };

  std::shared_ptr<const FileMetadata> known(const std::string& path, const FileIdentity& identity);
  void remember(const std::string& path, const std::shared_ptr<FileMetadata>& metadata, bool is_settled);
  void forget(const std::string& path);
  void add(const std::string& path, const std::shared_ptr<FileMetadata>& metadata, bool is_settled);
  void drop(std::list<Entry>::iterator entry, std::list<Entry>* dropped);
  void shrink(std::list<Entry>* dropped);

  mutable std::mutex mutex_;
  int64_t most_bytes_, bytes_ = 0, hits_ = 0, misses_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_path_;
  std::weak_ptr<const columnar::Schema> last_schema_;  // files that follow each other often have the same
};

/// The process-wide cache.
MetadataCache& metadata_cache();

/// A reader that maps its file when a column is first read, and until then costs one stat(). `hold`: the mapping is
/// kept as long as the reader, else no longer than what column() returned, which also text that dictionaries hold
/// needs. A file that was replaced before it was read is kFileChanged then.
Result<std::shared_ptr<const FileReader>> open_lazily(const std::string& path, bool hold);

}  // namespace strom::format::arrow
