// What HeapRows passes to the engine as one chunk: pages of the table, a group of the column cache, or blocks that a
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

constexpr int kStripePages = 64;  // pages of a stripe, and the most pages of a chunk

/// The first block of the stripe that contains `block`. A group of the column cache consists of whole stripes.
BlockNumber stripe_of(BlockNumber block);

/// Pages that are pinned or copied, their visible tuples, and the columns made from them.
struct PageChunk {
  int pages = 0;
  std::unique_ptr<uint8_t[]> copies;  // of the pages; nullptr: the pages are pinned, in `buffers`
  size_t copies_room = 0;             // in pages
  std::vector<Buffer> buffers;
  std::vector<BlockNumber> blocks;
  std::vector<format::heap::PageRef> refs;
  // MaxHeapTuplesPerPage entries for each page: the visible items, if the snapshot was asked.
  std::vector<OffsetNumber> visible;
  int64_t most_rows = 0;
  bool is_all_visible = true;  // to all transactions

  // Set by the engine thread that reads the chunk:
  int64_t rows = 0;
  std::vector<int64_t> first_rows;                 // of each page
  std::vector<OffsetNumber> numbers;               // item number of each row in its page
  std::vector<std::unique_ptr<uint8_t[]>> memory;  // of each column: values and flags
  int64_t capacity = 0;
  std::vector<format::heap::ColumnOut> out;
  std::vector<int64_t> table_oids;  // values of tableoid, if they are needed
  std::vector<int64_t> tids;        // values of ctid, if they are needed

  // Collects the rows for the column cache, if the group is to be cached.
  CachedTable::Fill* fill = nullptr;
  CachedTable::Part part;

  /// The page of a row, as an index into the vectors above.
  size_t page_of(int64_t row) const;
  ItemPointerData tid_of(int64_t row) const;
  /// The row's tuple. Valid while the pages are held.
  HeapTupleHeader tuple_of(int64_t row, uint32_t* length) const;
};

/// A group of the column cache.
struct CachedChunk {
  CachedTable::Group group;
  BlockNumber begin = 0;
  int64_t rows = 0;
  std::vector<int64_t> table_oids, tids;  // as in PageChunk

  ItemPointerData tid_of(int64_t row) const;
};

/// Blocks that a device reads by itself.
struct DeviceChunk {
  std::shared_ptr<DirectPages> pages;
};

struct HeapChunk {
  int64_t index = 0;
  std::variant<std::unique_ptr<PageChunk>, CachedChunk, DeviceChunk> content;

  int64_t rows() const;  // known once the chunk has been read
  ItemPointerData tid_of(int64_t row) const;
  BlockNumber first_block() const;
  /// Stripes of a cached group are the same as those of a group that is read.
  std::vector<engine::op::ChunkSource::Stripe> stripes() const;
  /// nullptr for other kinds of chunks.
  PageChunk* pages() {
    auto* held = std::get_if<std::unique_ptr<PageChunk>>(&content);
    return held != nullptr ? held->get() : nullptr;
  }
};

}  // namespace strom::pg::table
