#include "pg/table/heap/device_blocks.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"

namespace strom::pg::table {

namespace {
/// Blocks of a chunk. Smaller tables are divided among the threads.
constexpr BlockNumber kMostBlocks = 2048, kLeastBlocks = 64;
constexpr BlockNumber kChunksPerThread = 2;
/// After this many consecutive chunks of which most blocks come back, devices stop reading the table.
constexpr int kMostRefusals = 3;
}  // namespace

void DeviceBlocks::open(Relation relation, Snapshot snapshot, BlockNumber pages, const columnar::PageLayout& layout) {
  buffers_until_ = 0;
  refusals_ = 0;
  pages_ = pages;
  if (!are_allowed_ || pages < kLeastBlocks) return;
  if (!boundary::guard([=] { return DirectBlocks::are_possible(relation, snapshot); })) return;
  blocks_ = std::make_unique<DirectBlocks>(relation, layout);
}

void DeviceBlocks::close() {
  if (blocks_ != nullptr) blocks_->close();
  blocks_.reset();
  returned_.clear();
  chunks_ = 0;
}

BlockNumber DeviceBlocks::wanted_blocks() const {
  return std::clamp(pages_ / (kChunksPerThread * static_cast<BlockNumber>(threads_)), kLeastBlocks, kMostBlocks);
}

std::optional<DeviceChunk> DeviceBlocks::take(BlockNumber begin, BlockNumber end) {
  std::shared_ptr<DirectPages> pages = blocks_->take(begin, end, wanted_blocks(), &buffers_until_);
  if (pages == nullptr) return std::nullopt;
  ++chunks_;
  return DeviceChunk{std::move(pages)};
}

void DeviceBlocks::take_back(const DirectPages& pages) {
  --chunks_;
  const auto given_back = static_cast<int64_t>(pages.given_back().size());
  count_ += pages.pages() - given_back;
  returned_.insert(returned_.end(), pages.given_back().begin(), pages.given_back().end());
  refusals_ = given_back * 2 > pages.pages() ? refusals_ + 1 : 0;
  if (refusals_ < kMostRefusals || blocks_ == nullptr) return;
  blocks_->close();
  blocks_.reset();
}

}  // namespace strom::pg::table
