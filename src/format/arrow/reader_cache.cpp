// See reader_cache.hpp.
#include "format/arrow/reader_cache.hpp"

#include <iterator>
#include <new>
#include <utility>

#include "base/mapped_file.hpp"

namespace strom::format::arrow {

Result<std::shared_ptr<const FileReader>> ReaderCache::open(const std::string& path) {
  try {
    auto identity = base::identify_file(path);
    if (!identity.is_ok()) {
      forget(path);
      return identity.status();
    }
    auto known = find(path);
    if (known != nullptr && known->identity() == identity.value() && known->check_unchanged().is_ok()) return known;
    known.reset();
    forget(path);  // unmaps the old file before the new one is mapped, unless somebody reads it
    STROM_ASSIGN(auto reader, FileReader::open(path));
    remember(path, reader);
    return reader;
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::kOutOfMemory, "out of memory while opening file \"" + path + "\"");
  }
}

std::shared_ptr<const FileReader> ReaderCache::find(const std::string& path) {
  std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->second;
}

void ReaderCache::remember(const std::string& path, std::shared_ptr<const FileReader> reader) {
  std::list<Entry> dropped;  // destroyed after the lock is released: unmapping takes time
  std::lock_guard lock(mutex_);
  const auto found = by_path_.find(path);
  if (found != by_path_.end()) {  // another thread opened it meanwhile
    found->second->second.swap(reader);
    entries_.splice(entries_.begin(), entries_, found->second);
    return;
  }
  entries_.emplace_front(path, std::move(reader));
  by_path_.emplace(path, entries_.begin());
  while (entries_.size() > max_files_) {
    by_path_.erase(entries_.back().first);
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
