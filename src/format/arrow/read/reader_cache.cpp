// See reader_cache.hpp.
#include "format/arrow/read/reader_cache.hpp"

#include <iterator>
#include <new>
#include <utility>

#include "base/file_times.hpp"
#include "base/mapped_file.hpp"
#include "format/parquet/reader.hpp"

namespace strom::format::arrow {

Result<std::shared_ptr<const FileReader>> open_any(const std::string& path) {
  return parquet::is_parquet_file(path) ? parquet::open_file(path) : FileReader::open(path);
}

Result<std::shared_ptr<const FileReader>> ReaderCache::open(const std::string& path) {
  try {
    auto identity = base::identify_file(path);
    if (!identity.is_ok()) {
      forget(path);
      return identity.status();
    }
    if (auto known = find(path, identity.value())) return known;
    forget(path);  // unmaps the old file before the new one is mapped, unless it is in use
    const int64_t before = base::clock_ns();
    STROM_ASSIGN(auto reader, open_any(path));
    remember(path, reader, base::is_settled(reader->identity(), before));
    return reader;
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while opening file \"" + path + "\"");
  }
}

std::shared_ptr<const FileReader> ReaderCache::find(const std::string& path, const FileIdentity& identity) {
  std::shared_ptr<const FileReader> reader;
  {
    std::lock_guard lock(mutex_);
    const auto found = by_path_.find(path);
    if (found == by_path_.end()) return nullptr;
    if (!found->second->is_settled || found->second->reader->identity() != identity) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    reader = found->second->reader;
  }
  return reader->check_unchanged().is_ok() ? reader : nullptr;
}

void ReaderCache::remember(const std::string& path, std::shared_ptr<const FileReader> reader, bool is_settled) {
  std::list<Entry> dropped;  // destroyed after the lock is released: unmapping takes time
  std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found != by_path_.end()) {  // another thread has opened it meanwhile
    found->second->reader.swap(reader);
    found->second->is_settled = is_settled;
    entries_.splice(entries_.begin(), entries_, found->second);
    return;
  }
  entries_.push_front({path, std::move(reader), is_settled});
  by_path_.emplace(path, entries_.begin());
  while (entries_.size() > max_files_) {
    by_path_.erase(entries_.back().path);
    dropped.splice(dropped.begin(), entries_, std::prev(entries_.end()));
  }
}

void ReaderCache::forget(const std::string& path) {
  std::list<Entry> dropped;
  std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return;
  dropped.splice(dropped.begin(), entries_, found->second);
  by_path_.erase(found);
}

size_t ReaderCache::size() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

void ReaderCache::clear() {
  std::list<Entry> dropped;
  std::lock_guard lock(mutex_);
  by_path_.clear();
  dropped.swap(entries_);
}

Result<std::shared_ptr<const FileReader>> open_cached(const std::string& path) {
  constexpr size_t kMaxFiles = 4096;
  static auto* cache = new ReaderCache(kMaxFiles);  // never destroyed: threads may still read during exit
  return cache->open(path);
}

}  // namespace strom::format::arrow
