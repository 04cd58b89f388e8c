// Metadata of files that are not open: for tables of thousands of files, of which a query should touch only those that
// it needs. See docs/dev/arrow.md.
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

/// A file's schema and the metadata of its record batches. Immutable except for bounds, which are read when first
/// needed. Safe to share between threads.
struct FileMetadata {
  struct Batch {
    BatchLocation location;
    int64_t rows = 0;
    bool compressed = false;
    std::vector<int64_t> null_counts, bytes, memory_bytes;  // of each field; kUnreadable: the field cannot be read
  };
  using AllBounds = std::vector<std::optional<columnar::Bounds>>;

  static constexpr int64_t kUnreadable = INT64_MIN;

  FileIdentity identity;
  const char* format = "";  // see FileReader
  std::shared_ptr<const columnar::Schema> schema;
  std::vector<Batch> batches;

  mutable std::mutex bounds_mutex;
  mutable std::map<int, AllBounds> bounds;  // by field; empty where the file has none

  /// How many facts are known, and how many of them other processes know, too. Only the main thread uses the latter.
  size_t facts() const {
    const std::lock_guard lock(bounds_mutex);
    return 1 + bounds.size();
  }
  mutable size_t shared_facts = 0;

  static Result<std::shared_ptr<FileMetadata>> load(const std::string& path);
  /// Approximate bytes.
  int64_t memory() const;
};

/// Drops the least recently used files when there are more bytes than allowed. Thread-safe.
class MetadataCache {
 public:
  explicit MetadataCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  /// The cached metadata of `path` if the file has not changed, else newly read ones. Errors: those of open_any().
  Result<std::shared_ptr<const FileMetadata>> find(const std::string& path);

  /// Adds what another process knows of `path`, a file that had settled. It is ignored if something is known already,
  /// or if other files would have to go.
  void seed(const std::string& path, const std::shared_ptr<FileMetadata>& metadata);
  /// The metadata of `path`, if the file had settled; nullptr if nothing is known.
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
  std::weak_ptr<const columnar::Schema> last_schema_;  // consecutive files often have the same schema
};

/// The process-wide cache.
MetadataCache& metadata_cache();

/// A reader that maps its file when a column is first read; until then it costs one stat(). `hold`: the mapping stays
/// as long as the reader. Otherwise it stays as long as the results of column(), which also dictionaries' texts need.
/// If the file is replaced before it is read, reading gives kFileChanged.
Result<std::shared_ptr<const FileReader>> open_lazily(const std::string& path, bool hold);

}  // namespace strom::format::arrow
