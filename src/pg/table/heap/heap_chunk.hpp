// What HeapRows hands to the engine as one chunk: pages of the table, a group of the column cache, or blocks that a
// device reads.
#pragma once

#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "engine/exec/execution.hpp"
#include "format/heap/tuple.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/table/heap/cached_table.hpp"
#include "pg/table/heap/direct_pages.hpp"

namespace strom::pg::table {

constexpr int kStripePages = 64;  // of a stripe, and the most of a chunk

/// The first block of the stripe that `block` is in. A group of the column cache is some stripes.
BlockNumber stripe_of(BlockNumber block);

/// Pages that are pinned or copied, their visible tuples, and the columns made of them.
struct PageChunk {
  int pages = 0;
  std::unique_ptr<uint8_t[]> copies;  // of the pages; nullptr: these are pinned, in `buffers`
  size_t copies_room = 0;             // pages
  std::vector<Buffer> buffers;
  std::vector<BlockNumber> blocks;
  std::vector<format::heap::PageRef> refs;
  // MaxHeapTuplesPerPage for each page: items that the snapshot sees, where it was asked.
  std::vector<OffsetNumber> visible;
  int64_t most_rows = 0;
  bool is_all_visible = true;  // every page is, to everyone

  // Of the engine thread that reads the chunk.
  int64_t rows = 0;
  std::vector<int64_t> first_rows;                 // of each page
  std::vector<OffsetNumber> numbers;               // of each row's item in its page
  std::vector<std::unique_ptr<uint8_t[]>> memory;  // values and flags of each column
  int64_t capacity = 0;
  std::vector<format::heap::ColumnOut> out;
  std::vector<int64_t> table_oids;  // the values of tableoid, where it is wanted
  std::vector<int64_t> tids;        // likewise those of ctid

  // Where the rows will be cached.
  CachedTable::Fill* fill = nullptr;
  CachedTable::Part part;

  /// The page that a row is on, as an index into the vectors above.
  size_t page_of(int64_t row) const;
  ItemPointerData tid_of(int64_t row) const;
  /// The row's tuple, while the pages are held.
  HeapTupleHeader tuple_of(int64_t row, uint32_t* length) const;
};

/// A group of the column cache.
struct CachedChunk {
  CachedTable::Group group;
  BlockNumber begin = 0;
  int64_t rows = 0;
  std::vector<int64_t> table_oids, tids;  // as PageChunk's

  ItemPointerData tid_of(int64_t row) const;
};

/// Blocks that a device reads by itself.
struct DeviceChunk {
  std::shared_ptr<DirectPages> pages;
};

struct HeapChunk {
  int64_t index = 0;
  std::variant<std::unique_ptr<PageChunk>, CachedChunk, DeviceChunk> content;

  int64_t rows() const;  // known when the chunk has been read
  ItemPointerData tid_of(int64_t row) const;
  BlockNumber first_block() const;
  /// What is cached is cut as it would be if it were read.
  std::vector<engine::op::ChunkSource::Stripe> stripes() const;
  /// nullptr for others.
  PageChunk* pages() {
    auto* held = std::get_if<std::unique_ptr<PageChunk>>(&content);
    return held != nullptr ? held->get() : nullptr;
  }
};

}  // namespace strom::pg::table
