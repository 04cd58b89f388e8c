#include "pg/table/heap/heap_chunk.hpp"

#include <algorithm>

namespace strom::pg::table {

using format::heap::RowPlaces;
using Stripe = engine::op::ChunkSource::Stripe;

namespace {

/// A visitor for variants, with one function for each alternative.
template <class... F>
struct Each : F... {
  using F::operator()...;
};
template <class... F>
Each(F...) -> Each<F...>;

}  // namespace

BlockNumber stripe_of(BlockNumber block) {
  const BlockNumber begin = cache::group_begin(block);
  return begin + (block - begin) / kStripePages * kStripePages;
}

size_t PageChunk::page_of(int64_t row) const {
  const auto begin = first_rows.begin();
  return static_cast<size_t>(std::upper_bound(begin, begin + pages, row) - begin - 1);
}

ItemPointerData PageChunk::tid_of(int64_t row) const {
  ItemPointerData tid;
  ItemPointerSet(&tid, blocks[page_of(row)], numbers[static_cast<size_t>(row)]);
  return tid;
}

HeapTupleHeader PageChunk::tuple_of(int64_t row, uint32_t* length) const {
  const size_t at = page_of(row);
  const Page page = copies == nullptr ? BufferGetPage(buffers[at]) : reinterpret_cast<Page>(copies.get() + at * BLCKSZ);
  const ItemId item = PageGetItemId(page, numbers[static_cast<size_t>(row)]);
  *length = ItemIdGetLength(item);
  return reinterpret_cast<HeapTupleHeader>(PageGetItem(page, item));
}

ItemPointerData CachedChunk::tid_of(int64_t row) const {
  ItemPointerData tid;
  const auto found = RowPlaces::find(group.places, row);
  ItemPointerSet(&tid, begin + found.page, found.item);
  return tid;
}

int64_t HeapChunk::rows() const {
  return std::visit(Each{[](const std::unique_ptr<PageChunk>& chunk) { return chunk->rows; },
                         [](const CachedChunk& chunk) { return chunk.rows; },
                         [](const DeviceChunk& chunk) { return chunk.pages->rows(); }},
                    content);
}

ItemPointerData HeapChunk::tid_of(int64_t row) const {
  return std::visit(Each{[row](const std::unique_ptr<PageChunk>& chunk) { return chunk->tid_of(row); },
                         [row](const CachedChunk& chunk) { return chunk.tid_of(row); },
                         [row](const DeviceChunk& chunk) { return chunk.pages->place_of(row); }},
                    content);
}

BlockNumber HeapChunk::first_block() const {
  return std::visit(Each{[](const std::unique_ptr<PageChunk>& chunk) { return chunk->blocks[0]; },
                         [](const CachedChunk& chunk) { return chunk.begin; },
                         [](const DeviceChunk& chunk) { return BlockNumber{chunk.pages->first_block()}; }},
                    content);
}

std::vector<Stripe> HeapChunk::stripes() const {
  if (const auto* cached = std::get_if<CachedChunk>(&content)) {
    std::vector<Stripe> stripes;
    const uint8_t* places = cached->group.places;
    for (int64_t page = 0; page < RowPlaces::pages(places); page += kStripePages)
      stripes.push_back({RowPlaces::first_row(places, page),
                         stripe_of(cached->begin + static_cast<BlockNumber>(page)) / kStripePages});
    return stripes;
  }
  const auto* read = std::get_if<std::unique_ptr<PageChunk>>(&content);
  const bool has_pages = read != nullptr && (*read)->pages > 0;
  return {{0, has_pages ? stripe_of((*read)->blocks[0]) / kStripePages : 0}};
}

}  // namespace strom::pg::table
