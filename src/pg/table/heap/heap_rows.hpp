// Rows of a PostgreSQL heap table for the engine. This thread pins pages and decides which tuples are visible; engine
// threads decode them. See docs/dev/heap.md. Used by src/pg/node.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pg/table/heap/cached_groups.hpp"
#include "pg/table/heap/device_blocks.hpp"
#include "pg/table/heap/heap_chunk.hpp"
#include "pg/table/heap/heap_columns.hpp"
#include "pg/table/heap/page_reader.hpp"
#include "pg/source/row_feeder.hpp"
#include "pg/source/row_source.hpp"

namespace strom::pg::table {

class HeapRows : public source::RowSource {
 public:
  /// Reads columns `attnums` (user columns, tableoid or ctid), as values of `types`, of the rows that `snapshot` sees.
  /// `relation` stays open and locked while this object is used. Throws PostgresError, StatusError.
  HeapRows(Relation relation, Snapshot snapshot, const std::vector<AttrNumber>& attnums,
           const std::vector<engine::plan::ValueType>& types);
  /// Reads `wanted` columns in their stored form and caches none of them for later scans. For a caller that calls
  /// feeder() and chunk() itself.
  HeapRows(Relation relation, Snapshot snapshot, std::vector<format::heap::WantedColumn> wanted);

  /// Reads only blocks of `ranges`, which are in ascending order and do not overlap, whenever the rows begin again.
  void read_only(std::vector<BlockRange> ranges) { reader_.restrict_to(std::move(ranges)); }

  std::string storage() const override;
  int64_t stored_bytes() const override;
  void select_blocks(PlanState* selector) override;
  void tell_extent(Extent* extent) const override;
  Blocks blocks_read() const override { return {fetched_blocks_, skipped_blocks_}; }
  void explain_runs(ExplainState* es) const override;

  /// Drops all pins. The resource owner must still exist. The rows begin again. Throws PostgresError.
  void close() override;

  int64_t chunk_count() const override { return 0; }
  int64_t chunk_rows(int64_t) const override { return 0; }
  int64_t total_rows() const override;
  Result<columnar::BatchView> chunk(int64_t index) const override;
  engine::op::ChunkFeeder* feeder() const override { return feeder_.get(); }
  bool stable_text() const override { return false; }  // pages are unpinned
  bool converts_late() const override { return true; }
  std::string describe(int64_t index) const override;
  columnar::RowsOrigin origin(const std::vector<uint32_t>& columns) const override;
  uint64_t cache_key(int64_t index) const override;
  std::vector<Stripe> stripes(int64_t index) const override { return active(index)->stripes(); }

  /// A row's tuple on its page. Valid until the chunk is released.
  HeapTupleData tuple(int64_t chunk, int64_t row) const;

  void begin_fallback() override;
  void read(int64_t chunk, int64_t row, MemoryContext memory, Datum* values, bool* nulls) override;
  void end_fallback() override;

 private:
  friend class source::RowFeeder<HeapRows>;
  bool feed();
  int64_t limit(int threads);
  void release(int64_t chunk, bool has_fallback);
  bool is_waiting() const { return device_.are_awaited(); }
  void let_devices_read(bool allowed) { device_.allow(allowed); }

  void start();
  bool feed_cached();
  bool feed_device();
  bool feed_returned();
  bool feed_pages();
  void activate(HeapChunk chunk);
  void take_back_released();
  void take_back(std::unique_ptr<HeapChunk> chunk, bool has_fallback);
  /// Drops pins, and makes memory of pages available again.
  void let_go(HeapChunk* chunk);
  HeapChunk* active(int64_t index) const;

  const Relation relation_;
  const Snapshot snapshot_;
  const HeapColumns columns_;
  const bool uses_cache_;
  const std::unique_ptr<source::RowFeeder<HeapRows>> feeder_;
  PageReader reader_;
  CachedGroups cache_;
  DeviceBlocks device_;
  bool started_ = false;
  int64_t fetched_blocks_ = 0, skipped_blocks_ = 0;  // over all runs
  int64_t cached_blocks_ = 0;                        // the part of fetched_blocks_ whose columns came from the cache
  int64_t next_chunk_ = 0;

  mutable std::mutex mutex_;  // protects the members below
  std::unordered_map<int64_t, std::unique_ptr<HeapChunk>> active_;
  std::vector<std::pair<int64_t, bool>> released_;  // chunk, has_fallback

  std::unordered_map<int64_t, std::vector<ItemPointerData>> fallback_tids_;  // of released chunks with fallback rows
  std::vector<int64_t> to_forget_;
};

}  // namespace strom::pg::table
