// Reads the pages of a heap table that a scan needs: finds the next blocks, pins or copies their pages, and finds the
// tuples that the snapshot sees. Main thread. Used by HeapRows.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/table/heap/block_walk.hpp"
#include "pg/table/heap/heap_chunk.hpp"
#include "pg/table/heap/table_sample.hpp"

namespace strom::pg::table {

class PageReader {
 public:
  PageReader(Relation relation, Snapshot snapshot) : relation_(relation), snapshot_(snapshot) {}
  /// Calls no PostgreSQL: after an error the resource owner has dropped the pins already.
  ~PageReader();
  PageReader(const PageReader&) = delete;
  PageReader& operator=(const PageReader&) = delete;

  /// From the next begin() on, reads only blocks of `ranges`, which are in ascending order and do not overlap.
  void restrict_to(std::vector<BlockRange> ranges) { blocks_.restrict_to(std::move(ranges)); }
  /// From the next begin() on, reads only rows of a sample.
  void take_sample(TableSample sample) { sample_ = std::move(sample); }
  bool reads_whole_table() const { return !blocks_.is_restricted() && !sample_; }

  /// The number of the table's blocks that are read. Throws PostgresError.
  BlockNumber chosen_blocks() const;
  /// The number of chunks that may be held at a time, for this number of threads.
  int64_t limit(int threads);

  struct Blocks {
    BlockNumber all, chosen;
  };
  /// Begins a scan. Throws PostgresError.
  Blocks begin();
  /// Releases everything except pins, which belong to their chunks. Throws PostgresError.
  void close();

  BlockNumber block_count() const { return blocks_.count(); }
  bool at_end() const { return upcoming_.empty() && blocks_.at_end(); }
  /// The next block, if the whole table is read.
  BlockNumber position() const { return blocks_.position(); }
  void skip_to(BlockNumber block) { blocks_.skip_to(block); }
  int64_t blocks_done() const { return std::min<int64_t>(blocks_.position(), blocks_.count()); }

  /// A chunk without pages, with room for the most pages of a chunk.
  std::unique_ptr<PageChunk> new_chunk();
  /// Takes back a chunk whose pages are released, so that its memory is used again.
  void take_back(std::unique_ptr<PageChunk> chunk) { spare_.push_back(std::move(chunk)); }
  /// Frees that memory. A table with a thousand partitions would keep the memory of all of them.
  void drop_spare_chunks() { spare_.clear(); }

  /// Fills the chunk with the next pages, up to block `end`, or with fewer pages when interrupts are pending. Throws
  /// PostgresError.
  void load(PageChunk* chunk, BlockNumber end);
  /// Fills the chunk with blocks that it removes from the front of `blocks`. Throws PostgresError.
  void load(PageChunk* chunk, std::deque<BlockNumber>* blocks);
  /// Drops the chunk's pins. May ereport.
  void release(const PageChunk& chunk);

 private:
  bool is_full(const PageChunk& chunk) const { return chunk.pages >= pages_in_chunk_; }
  /// The next block, whether or not the whole table is read. Not to be called at the end.
  BlockNumber upcoming() const { return upcoming_.empty() ? blocks_.position() : upcoming_.front(); }
  BlockNumber next_block();
  Buffer pin_page(BlockNumber block);
  void make_copies_room(PageChunk* chunk) const;
  const uint8_t* hold_page(PageChunk* chunk, Buffer buffer);
  template <class AtEnd>
  void load_pages(PageChunk* chunk, AtEnd at_end);
  void load_page(PageChunk* chunk, BlockNumber block, Buffer buffer);
  int list_visible(BlockNumber block, Buffer buffer, OffsetNumber last, OffsetNumber* visible);

  const Relation relation_;
  const Snapshot snapshot_;
  BufferAccessStrategy strategy_ = nullptr;
  BlockWalk blocks_;
  std::optional<TableSample> sample_;
  std::deque<BlockNumber> upcoming_;  // from blocks_, at most read_ahead_ of them
  size_t read_ahead_ = 1;
  int64_t misses_ = 0;      // above 0: recent blocks were not in shared buffers
  int most_pages_ = 1;      // of a chunk
  int pages_in_chunk_ = 1;  // the same, limited by the size of the table
  Buffer last_buffer_ = InvalidBuffer;
  int64_t pins_ = 0;  // of all chunks
  std::vector<std::unique_ptr<PageChunk>> spare_;
};

}  // namespace strom::pg::table
