// Rows of a PostgreSQL heap table for the engine: this thread pins pages and decides which tuples are visible, engine
// threads decode them. See docs/dev/heap.md. Used by src/pg/node.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "format/heap/tuple.hpp"
#include "pg/source/block_walk.hpp"
#include "pg/source/cached_table.hpp"
#include "pg/source/direct_pages.hpp"
#include "pg/source/row_source.hpp"
#include "pg/source/table_sample.hpp"

namespace strom::pg::source {

/// How the engine reads attribute `attribute` when its values are of `type`; false when it cannot. Does not ereport.
bool heap_storage(const FormData_pg_attribute& attribute, registry::TypeId type, format::heap::Storage* storage);

class HeapRows : public RowSource, private engine::exec::ChunkFeeder {
 public:
  /// Reads columns `attnums` (of the user, or tableoid) as values of `types` of the rows that `snapshot` sees.
  /// `relation` stays open and locked as long as this object is used. Throws PostgresError, StatusError.
  HeapRows(Relation relation, Snapshot snapshot, const std::vector<AttrNumber>& attnums,
           const std::vector<engine::plan::ValueType>& types);
  /// Reads `wanted` columns as they are stored, nothing of which is kept for later scans, for a caller that asks
  /// feeder() and chunk() by itself.
  HeapRows(Relation relation, Snapshot snapshot, std::vector<format::heap::WantedColumn> wanted);
  /// Calls no PostgreSQL: after an error the resource owner has dropped the pins already.
  ~HeapRows() override;

  /// Reads only blocks of `ranges`, which ascend and do not overlap, whenever the rows begin anew.
  void restrict_to(std::vector<BlockRange> ranges) { blocks_.restrict_to(std::move(ranges)); }
  /// Reads only rows of a sample, likewise.
  void take_sample(TableSample sample) { sample_ = std::move(sample); }
  /// Blocks that all scans of the table so far had to read, and that they could leave out.
  int64_t fetched_blocks() const { return fetched_blocks_; }
  int64_t skipped_blocks() const { return skipped_blocks_; }
  /// Of the running scan: the blocks of the table, and those that it has come to.
  int64_t blocks() const { return blocks_.count(); }
  int64_t blocks_done() const { return std::min<int64_t>(blocks_.position(), blocks_.count()); }
  /// Blocks whose columns were kept from earlier scans.
  int64_t kept_blocks() const { return kept_blocks_; }

  /// True when a device could read blocks; those that it has read, from the table's files.
  bool devices_read() const { return devices_read_; }
  int64_t direct_blocks() const { return direct_blocks_; }

  /// Drops all pins, while the resource owner is alive. The rows begin anew. Throws PostgresError.
  void close() override;

  int64_t chunk_count() const override { return 0; }
  int64_t chunk_rows(int64_t) const override { return 0; }
  int64_t total_rows() const override;
  Result<columnar::BatchView> chunk(int64_t index) const override;
  // The engine takes sources as const, and this one changes only by what the engine asks its feeder for.
  engine::exec::ChunkFeeder* feeder() const override { return const_cast<HeapRows*>(this); }
  bool stable_text() const override { return false; }  // pages are unpinned
  bool converts_late() const override { return true; }
  std::string describe(int64_t index) const override;
  columnar::RowsOrigin origin(const std::vector<uint32_t>& columns) const override;
  uint64_t place(int64_t index) const override;
  std::vector<Stripe> stripes(int64_t index) const override;

  /// A row's tuple on its page, while the chunk is not released.
  HeapTupleData tuple(int64_t chunk, int64_t row) const;

  void begin_recheck() override;
  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override;
  void end_recheck() override;

 private:
  struct Chunk;
  struct Kept;  // what is left of a chunk for its declined rows
  /// A group of the column cache.
  struct NextGroup {
    BlockNumber begin, end;
    bool is_kept = false;
    CachedTable::Kept kept{};
    CachedTable::Fill* fill = nullptr;
  };

  bool feed() override;
  void rewind() override { close(); }
  int64_t limit(int threads) override;
  void release(int64_t chunk, bool declined) override;
  bool is_waiting() const override { return direct_chunks_ > 0; }
  void let_devices_read(bool allowed) override { devices_read_ = allowed; }

  void set_decoder(std::vector<format::heap::WantedColumn> wanted);
  void set_missing(const engine::plan::ValueType& type, format::heap::WantedColumn* column);
  void start();
  void open_cache(BlockNumber pages);
  std::vector<ColumnId> column_ids() const;
  void open_direct(BlockNumber pages);
  NextGroup look_up_group(BlockNumber begin);
  bool feed_kept(Chunk* chunk);
  BlockNumber direct_end(BlockNumber most);
  bool feed_direct(Chunk* chunk);
  bool feed_returned();
  void take_back(const DirectPages& direct);
  void unpin(const Chunk& chunk);
  void activate(Chunk* chunk);
  void add_to_cache(Chunk* chunk);
  void unpin_released();
  void drop_chunks();
  Chunk* new_chunk();
  void keep(const Chunk& chunk);
  ItemPointerData place_of(const Chunk& chunk, int64_t row) const;
  bool at_end() const { return upcoming_.empty() && blocks_.at_end(); }
  bool at_group_end() const {
    return at_end() || (cache_ != nullptr && blocks_.position() >= group_end_) ||
           (direct_ != nullptr && blocks_.position() >= buffers_until_);
  }
  bool at_chunk_end() const { return at_group_end() || at_stripe_end(); }
  /// Chunks of a table that is read whole end with their stripe.
  bool at_stripe_end() const;
  BlockNumber next_block();
  Buffer pin_page(BlockNumber block);
  void make_copies_room(Chunk* chunk) const;
  const uint8_t* hold_page(Chunk* chunk, Buffer buffer);
  void load_pages(Chunk* chunk);
  void load_page(Chunk* chunk, BlockNumber block, Buffer buffer);
  int list_visible(BlockNumber block, Buffer buffer, OffsetNumber last, OffsetNumber* visible);
  Chunk* active(int64_t index) const;
  void make_room(Chunk* chunk) const;
  void make_part(Chunk* chunk) const;
  columnar::BatchView view_kept(Chunk* chunk) const;
  static columnar::ColumnView table_oid_view(const Chunk& chunk);
  Status decode(Chunk* chunk) const;

  Relation relation_;
  Snapshot snapshot_;
  std::string table_name_;
  Oid table_oid_;
  std::vector<AttrNumber> attnums_;
  struct Missing {
    std::string bytes;
    registry::StrView view;  // of texts and numerics
  };
  std::deque<Missing> missing_;      // values of columns in rows that are older
  std::vector<int> numeric_scales_;  // of each column, see ColumnView::scale
  std::unique_ptr<const format::heap::TupleDecoder> decoder_;
  BufferAccessStrategy strategy_ = nullptr;
  bool uses_cache_ = true;
  bool started_ = false;
  BlockWalk blocks_;
  std::optional<TableSample> sample_;
  std::deque<BlockNumber> upcoming_;  // of blocks_, at most read_ahead_ of them
  size_t read_ahead_ = 1;
  int64_t misses_ = 0;  // more than 0: blocks lately were not in the pool
  int64_t fetched_blocks_ = 0, skipped_blocks_ = 0, kept_blocks_ = 0;
  std::unique_ptr<CachedTable> cache_;       // nullptr: nothing is kept
  BlockNumber stripe_ = InvalidBlockNumber;  // of the chunk that is being made
  BlockNumber group_end_ = 0;                // of the group that is being read, where there is a cache
  CachedTable::Fill* fill_ = nullptr;        // what that group is kept in
  std::optional<NextGroup> next_group_;      // that was looked up before its blocks' turn
  bool devices_read_ = false;
  std::vector<format::heap::AttributeLayout> layouts_;  // of all attributes
  std::unique_ptr<DirectBlocks> direct_;                // nullptr: devices read none
  BlockNumber buffers_until_ = 0;                       // blocks before it are for the pool
  std::deque<BlockNumber> returned_;                    // by devices, for the pool
  int64_t direct_chunks_ = 0;                           // that are being read
  int refusals_ = 0;                                    // chunks in a row of which most came back
  int64_t direct_blocks_ = 0;
  int threads_ = 1;
  int most_pages_ = 1;      // of a chunk
  int pages_in_chunk_ = 1;  // the same, but no more than the table has
  Buffer last_buffer_ = InvalidBuffer;
  int64_t pins_ = 0;  // of all chunks
  int64_t next_chunk_ = 0;

  mutable std::mutex mutex_;  // of the members below
  std::unordered_map<int64_t, Chunk*> active_;
  std::vector<std::pair<int64_t, bool>> released_;  // chunk, declined

  std::vector<std::unique_ptr<Chunk>> chunks_;  // all
  std::vector<Chunk*> free_;
  std::unordered_map<int64_t, Kept> kept_;
  std::vector<int64_t> to_forget_;
};

}  // namespace strom::pg::source
