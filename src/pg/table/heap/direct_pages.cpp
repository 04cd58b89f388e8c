#include "pg/table/heap/direct_pages.hpp"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "engine/block/pages.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/heap.hpp"
#include "pg/table/heap/map_version.hpp"

namespace strom::pg::table {

using boundary::guard;

namespace {

/// Shorter runs of blocks are faster to read through shared buffers.
constexpr BlockNumber kFewestBlocks = 8;
/// How often to look at a map page's lock that others hold, before its blocks count as changed.
constexpr int kLooks = 1000;

}  // namespace

DirectPages::DirectPages(std::shared_ptr<const columnar::PageLayout> layout,
                         std::shared_ptr<const columnar::PageFile> file, BlockNumber first, uint32_t pages,
                         Buffer map_page, XLogRecPtr version)
    : layout_(std::move(layout)),
      file_(std::move(file)),
      first_(first),
      pages_(pages),
      map_page_(map_page),
      version_(version) {}

// Works without the lock of the map's page, which only the backend's thread could take. Whoever sets a bit again does
// so under the exclusive lock, and sets the LSN afterwards. So first the bit is read, then that nobody holds the lock;
// the LSN that is read after that includes the one that came with the bit.
std::vector<bool> DirectPages::are_visible() const {
  const Page map = BufferGetPage(map_page_);
  std::vector<bool> visible(pages_);
  for (uint32_t page = 0; page < pages_; ++page) visible[page] = compat::is_marked_visible(map, first_ + page);
  std::atomic_thread_fence(std::memory_order_acquire);
  int looks = 0;
  while (compat::is_content_locked(map_page_) && ++looks < kLooks) std::this_thread::yield();
  std::atomic_thread_fence(std::memory_order_acquire);
  if (looks == kLooks || PageGetLSN(map) != version_) visible.assign(pages_, false);
  return visible;
}

void DirectPages::add_rows(uint32_t page, const uint16_t* numbers, uint32_t rows) {
  const std::lock_guard lock(mutex_);
  if (rows > 0) blocks_[static_cast<int64_t>(numbers_.size())] = first_ + page;
  numbers_.insert(numbers_.end(), numbers, numbers + rows);
}

ItemPointerData DirectPages::place_of(int64_t row) const {
  const std::lock_guard lock(mutex_);
  ItemPointerData place;
  ItemPointerSet(&place, std::prev(blocks_.upper_bound(row))->second, numbers_[static_cast<size_t>(row)]);
  return place;
}

bool DirectBlocks::are_possible(Relation relation, Snapshot snapshot) {
  constexpr size_t kItems = (BLCKSZ - SizeOfPageHeaderData) / sizeof(ItemIdData);
  return kItems <= engine::block::kMostItems && leaves_traces(relation) && sees_all_visible(snapshot);
}

std::shared_ptr<DirectPages> DirectBlocks::take(BlockNumber begin, BlockNumber end, uint32_t most,
                                                BlockNumber* buffers_until) {
  end = std::min<BlockNumber>(end, begin / RELSEG_SIZE * RELSEG_SIZE + RELSEG_SIZE);
  if (end - begin > most + kFewestBlocks) end = begin + most;  // the rest is long enough to be worth it
  // The beginning and end of the first run of blocks that is worth it.
  BlockNumber first = begin, last = begin;
  XLogRecPtr version = InvalidXLogRecPtr;
  guard([&] {
    while (first < end) {
      const BlockNumber visible = visible_until(relation_, first, end, &map_page_, &version);
      last = first;
      while (last < visible && compat::is_stored(relation_, last)) ++last;
      if (last - first >= kFewestBlocks) break;
      first = last + 1;
    }
  });
  const bool is_worth_it = first < end;
  const std::shared_ptr<const columnar::PageFile> file = is_worth_it ? file_of(first) : nullptr;
  if (first > begin || file == nullptr) {
    *buffers_until = file == nullptr ? end : first;
    return nullptr;
  }
  guard([this] { IncrBufferRefCount(map_page_); });
  return std::make_shared<DirectPages>(layout_, file, first, last - first, map_page_, version);
}

// nullptr when the file cannot be opened: reading through shared buffers will report why.
std::shared_ptr<const columnar::PageFile> DirectBlocks::file_of(BlockNumber block) {
  const BlockNumber segment = block / RELSEG_SIZE;
  if (file_ != nullptr && segment_ == segment) return file_;
  char* made = guard([this] { return compat::main_file(relation_); });
  std::string path = made;
  pfree(made);
  if (segment > 0) path += "." + std::to_string(segment);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  file_ = descriptor < 0 ? nullptr : std::make_shared<const columnar::PageFile>(descriptor, path);
  segment_ = segment;
  return file_;
}

void DirectBlocks::close() {
  if (map_page_ != InvalidBuffer) guard([this] { ReleaseBuffer(std::exchange(map_page_, InvalidBuffer)); });
}

}  // namespace strom::pg::table
