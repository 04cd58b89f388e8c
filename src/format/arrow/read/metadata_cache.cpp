// See metadata_cache.hpp.
#include "format/arrow/read/metadata_cache.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "base/file_times.hpp"
#include "format/arrow/read/reader_cache.hpp"
#include "format/arrow/read/within_memory.hpp"

namespace strom::format::arrow {

namespace {

Result<FileMetadata::Batch> load_batch(const FileReader& reader, int batch) {
  FileMetadata::Batch result;
  STROM_ASSIGN(result.location, reader.batch_location(batch));
  STROM_ASSIGN(result.rows, reader.batch_rows(batch));
  STROM_ASSIGN(result.compressed, reader.is_compressed(batch));
  const auto fields = static_cast<int>(reader.schema().fields.size());
  for (int field = 0; field < fields; ++field) {
    const auto nulls = reader.null_count(batch, field);
    const auto bytes = reader.column_bytes(batch, field);
    const auto memory = reader.memory_bytes(batch, field);
    result.null_counts.push_back(nulls.is_ok() ? nulls.value() : FileMetadata::kUnreadable);
    result.bytes.push_back(bytes.is_ok() ? bytes.value() : FileMetadata::kUnreadable);
    result.memory_bytes.push_back(memory.is_ok() ? memory.value() : FileMetadata::kUnreadable);
  }
  return result;
}

bool same_fields(const std::vector<columnar::Field>& a, const std::vector<columnar::Field>& b);

bool same_field(const columnar::Field& a, const columnar::Field& b) {
  // Lists all members, so that a new one does not compile until it is compared.
  const auto& [name, layout, nullable, precision, scale, byte_width, unit, timezone, dictionary, ordered, index,
               dictionary_id, children, type_ids, metadata, unsupported] = a;
  return name == b.name && layout == b.layout && nullable == b.nullable && precision == b.precision &&
         scale == b.scale && byte_width == b.byte_width && unit == b.unit && timezone == b.timezone &&
         dictionary == b.dictionary && ordered == b.ordered && index == b.index && dictionary_id == b.dictionary_id &&
         same_fields(children, b.children) && type_ids == b.type_ids && metadata == b.metadata &&
         unsupported == b.unsupported;
}

bool same_fields(const std::vector<columnar::Field>& a, const std::vector<columnar::Field>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_field);
}

bool same_schema(const columnar::Schema& a, const columnar::Schema& b) {
  return same_fields(a.fields, b.fields) && a.metadata == b.metadata;
}

}  // namespace

Result<std::shared_ptr<FileMetadata>> FileMetadata::load(const std::string& path) {
  STROM_ASSIGN(const auto reader, open_any(path));
  auto metadata = std::make_shared<FileMetadata>();
  metadata->identity = reader->identity();
  metadata->format = reader->format();
  metadata->schema = std::make_shared<const columnar::Schema>(reader->schema());
  for (int batch = 0; batch < reader->batch_count(); ++batch) {
    STROM_ASSIGN(metadata->batches.emplace_back(), load_batch(*reader, batch));
  }
  STROM_TRY(reader->check_unchanged());
  return metadata;
}

int64_t FileMetadata::memory() const {
  constexpr int64_t kObject = 512, kField = 256;
  int64_t bytes = kObject + kField * static_cast<int64_t>(schema->fields.size());
  for (const Batch& batch : batches)
    bytes += static_cast<int64_t>(sizeof(Batch) + 3 * sizeof(int64_t) * batch.null_counts.size());
  return bytes;
}

// ---- MetadataCache ----

Result<std::shared_ptr<const FileMetadata>> MetadataCache::find(const std::string& path) {
  return within_memory(path, [&]() -> Result<std::shared_ptr<const FileMetadata>> {
    auto identity = base::identify_file(path);
    if (!identity.is_ok()) {
      forget(path);
      return identity.status();
    }
    if (auto metadata = known(path, identity.value())) return metadata;
    const int64_t before = base::clock_ns();
    auto loaded = FileMetadata::load(path);
    if (!loaded.is_ok()) {
      forget(path);
      return loaded.status();
    }
    remember(path, loaded.value(), base::is_settled(loaded.value()->identity, before));
    return std::shared_ptr<const FileMetadata>(loaded.value());
  });
}

std::shared_ptr<const FileMetadata> MetadataCache::known(const std::string& path, const FileIdentity& identity) {
  std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  const bool hit =
      found != by_path_.end() && found->second->is_settled && found->second->metadata->identity == identity;
  ++(hit ? hits_ : misses_);
  if (!hit) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->metadata;
}

void MetadataCache::remember(const std::string& path, const std::shared_ptr<FileMetadata>& metadata, bool is_settled) {
  std::list<Entry> dropped;  // destroyed after the lock is released
  std::lock_guard lock(mutex_);
  if (const auto found = by_path_.find(path); found != by_path_.end()) drop(found->second, &dropped);
  add(path, metadata, is_settled);
  shrink(&dropped);
}

void MetadataCache::add(const std::string& path, const std::shared_ptr<FileMetadata>& metadata, bool is_settled) {
  auto schema = last_schema_.lock();
  if (schema != nullptr && same_schema(*schema, *metadata->schema))
    metadata->schema = std::move(schema);
  else
    last_schema_ = metadata->schema;
  const int64_t bytes = metadata->memory() + static_cast<int64_t>(2 * path.size());
  entries_.push_front({path, metadata, is_settled, bytes});
  by_path_.emplace(path, entries_.begin());
  bytes_ += bytes;
}

void MetadataCache::seed(const std::string& path, const std::shared_ptr<FileMetadata>& metadata) {
  std::lock_guard lock(mutex_);
  if (bytes_ + metadata->memory() > most_bytes_ || by_path_.contains(path)) return;
  add(path, metadata, true);
}

std::shared_ptr<const FileMetadata> MetadataCache::settled(const std::string& path) const {
  std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  return found == by_path_.end() || !found->second->is_settled ? nullptr : found->second->metadata;
}

void MetadataCache::drop(std::list<Entry>::iterator entry, std::list<Entry>* dropped) {
  bytes_ -= entry->bytes;
  by_path_.erase(entry->path);
  dropped->splice(dropped->begin(), entries_, entry);
}

void MetadataCache::shrink(std::list<Entry>* dropped) {
  while (bytes_ > most_bytes_ && !entries_.empty()) drop(std::prev(entries_.end()), dropped);
}

void MetadataCache::forget(const std::string& path) {
  std::list<Entry> dropped;
  std::lock_guard lock(mutex_);
  if (const auto found = by_path_.find(path); found != by_path_.end()) drop(found->second, &dropped);
}

void MetadataCache::set_most_bytes(int64_t bytes) {
  std::list<Entry> dropped;
  std::lock_guard lock(mutex_);
  most_bytes_ = bytes;
  shrink(&dropped);
}

MetadataCache::Stats MetadataCache::stats() const {
  std::lock_guard lock(mutex_);
  return {static_cast<int64_t>(entries_.size()), bytes_, most_bytes_, hits_, misses_};
}

MetadataCache& metadata_cache() {
  constexpr int64_t kUsualBytes = int64_t{128} << 20;
  static auto* cache = new MetadataCache(kUsualBytes);  // never destroyed: threads may still read during exit
  return *cache;
}

// ---- LazyReader ----

namespace {

class LazyReader final : public FileReader {
 public:
  LazyReader(std::string path, std::shared_ptr<const FileMetadata> metadata, bool hold)
      : path_(std::move(path)), metadata_(std::move(metadata)), hold_(hold) {}

  const std::string& path() const override { return path_; }
  const char* format() const override { return metadata_->format; }
  const FileIdentity& identity() const override { return metadata_->identity; }
  const columnar::Schema& schema() const override { return *metadata_->schema; }
  int batch_count() const override { return static_cast<int>(metadata_->batches.size()); }

  Result<BatchLocation> batch_location(int batch) const override {
    STROM_ASSIGN(const FileMetadata::Batch* found, find(batch));
    return found->location;
  }
  Result<int64_t> batch_rows(int batch) const override {
    STROM_ASSIGN(const FileMetadata::Batch* found, find(batch));
    return found->rows;
  }
  Result<bool> is_compressed(int batch) const override {
    STROM_ASSIGN(const FileMetadata::Batch* found, find(batch));
    return found->compressed;
  }
  Result<std::string> codec(int batch) const override {
    STROM_ASSIGN(const FileMetadata::Batch* found, find(batch));
    if (!found->compressed) return std::string();
    STROM_ASSIGN(const auto reader, opened());
    return reader->codec(batch);
  }
  Result<int64_t> memory_bytes(int batch, int field) const override {
    return number(batch, field, &FileMetadata::Batch::memory_bytes);
  }
  Result<int64_t> column_bytes(int batch, int field) const override {
    return number(batch, field, &FileMetadata::Batch::bytes);
  }
  Result<int64_t> null_count(int batch, int field) const override {
    return number(batch, field, &FileMetadata::Batch::null_counts);
  }

  Result<LoadedColumn> column(int batch, int field, const std::shared_ptr<BufferPool>& pool) const override {
    STROM_ASSIGN(const auto reader, opened());
    STROM_ASSIGN(const int64_t rows, reader->batch_rows(batch));
    STROM_ASSIGN(const int64_t expected, batch_rows(batch));
    if (rows != expected || reader->schema().fields.size() != schema().fields.size()) return changed();
    STROM_ASSIGN(LoadedColumn loaded, reader->column(batch, field, pool));
    if (!hold_) loaded.memory = std::make_shared<const Kept>(Kept{reader, std::move(loaded.memory)});
    return loaded;
  }

  Result<std::optional<columnar::Bounds>> bounds(int batch, int field) const override {
    return within_memory(path_, [&]() -> Result<std::optional<columnar::Bounds>> {
      STROM_ASSIGN(const FileMetadata::AllBounds* all, all_bounds(field));
      if (all->empty() || static_cast<size_t>(batch) >= all->size()) return std::optional<columnar::Bounds>();
      return (*all)[static_cast<size_t>(batch)];
    });
  }
  Result<bool> has_bounds(int field) const override {
    return within_memory(path_, [&]() -> Result<bool> {
      STROM_ASSIGN(const FileMetadata::AllBounds* all, all_bounds(field));
      return !all->empty();
    });
  }

  Status check_unchanged() const override {
    std::lock_guard lock(mutex_);
    if (const auto reader = weak_.lock()) return reader->check_unchanged();
    if (!was_opened_) return Status::ok();
    const auto now = base::identify_file(path_);
    if (!now.is_ok() || !same_file(now.value()) || same_bytes(now.value())) return Status::ok();
    return changed();
  }
  bool is_poisoned() const override {
    const FileReader* reader = held_.load(std::memory_order_acquire);
    return reader != nullptr && reader->is_poisoned();
  }

 private:
  /// Data of a column that nobody else keeps alive.
  struct Kept {
    std::shared_ptr<const FileReader> reader;
    std::shared_ptr<const void> memory;
  };

  Status changed() const {
    return Status(ErrorCode::kFileChanged, "file \"" + path_ + "\" changed while it was being read")
        .with_detail("It is not the file that the query began with.");
  }
  bool same_file(const FileIdentity& other) const {
    return other.device == identity().device && other.inode == identity().inode;
  }
  // Does not compare ctime, see MappedFile::check_unchanged().
  bool same_bytes(const FileIdentity& other) const {
    return other.size == identity().size && other.mtime_ns == identity().mtime_ns;
  }

  Result<std::shared_ptr<const FileReader>> opened() const {
    std::lock_guard lock(mutex_);
    if (auto reader = weak_.lock()) return reader;
    STROM_ASSIGN(auto reader, open_cached(path_));
    if (!same_file(reader->identity()) || !same_bytes(reader->identity())) return changed();
    weak_ = reader;
    was_opened_ = true;
    if (hold_) {
      strong_ = reader;
      held_.store(reader.get(), std::memory_order_release);
    }
    return reader;
  }

  Result<const FileMetadata::Batch*> find(int batch) const {
    if (batch < 0 || static_cast<size_t>(batch) >= metadata_->batches.size())
      return Status(ErrorCode::kInternal, "file \"" + path_ + "\" has no record batch " + std::to_string(batch));
    return &metadata_->batches[static_cast<size_t>(batch)];
  }

  Result<int64_t> number(int batch, int field, std::vector<int64_t> FileMetadata::Batch::* numbers) const {
    STROM_ASSIGN(const FileMetadata::Batch* found, find(batch));
    const std::vector<int64_t>& all = found->*numbers;
    if (field >= 0 && static_cast<size_t>(field) < all.size() &&
        all[static_cast<size_t>(field)] != FileMetadata::kUnreadable)
      return all[static_cast<size_t>(field)];
    STROM_ASSIGN(const auto reader, opened());  // the error says why it is not open
    return numbers == &FileMetadata::Batch::null_counts ? reader->null_count(batch, field)
           : numbers == &FileMetadata::Batch::bytes     ? reader->column_bytes(batch, field)
                                                        : reader->memory_bytes(batch, field);
  }

  /// Read once for all queries. The file need not stay mapped for that.
  Result<const FileMetadata::AllBounds*> all_bounds(int field) const {
    std::lock_guard lock(metadata_->bounds_mutex);
    if (const auto known = metadata_->bounds.find(field); known != metadata_->bounds.end()) return &known->second;
    FileMetadata::AllBounds all;
    STROM_ASSIGN(const auto reader, open_any(path_));
    if (!same_file(reader->identity()) || !same_bytes(reader->identity())) return changed();
    STROM_ASSIGN(const bool has, reader->has_bounds(field));
    for (int batch = 0; has && batch < batch_count(); ++batch) {
      STROM_ASSIGN(all.emplace_back(), reader->bounds(batch, field));
    }
    return &metadata_->bounds.emplace(field, std::move(all)).first->second;
  }

  const std::string path_;
  const std::shared_ptr<const FileMetadata> metadata_;
  const bool hold_;
  mutable std::mutex mutex_;
  mutable std::weak_ptr<const FileReader> weak_;
  mutable std::shared_ptr<const FileReader> strong_;
  mutable std::atomic<const FileReader*> held_ = nullptr;  // strong_, readable without the lock
  mutable bool was_opened_ = false;
};

}  // namespace

Result<std::shared_ptr<const FileReader>> open_lazily(const std::string& path, bool hold) {
  STROM_ASSIGN(auto metadata, metadata_cache().find(path));
  return within_memory(path, [&]() -> Result<std::shared_ptr<const FileReader>> {
    return std::shared_ptr<const FileReader>(std::make_shared<LazyReader>(path, std::move(metadata), hold));
  });
}

}  // namespace strom::format::arrow
