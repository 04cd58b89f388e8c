// The groups of a table that the column cache has, as a scan comes to them, and those that it is to have. Main thread.
// Used by HeapRows. Throws PostgresError.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/table/heap/cached_table.hpp"
#include "pg/table/heap/heap_chunk.hpp"

namespace strom::pg::table {

class CachedGroups {
 public:
  /// For a scan of a whole table. Where nothing may be cached it stays closed.
  void open(Relation relation, Snapshot snapshot, BlockNumber pages, const std::vector<ColumnId>& columns);
  bool is_open() const { return table_ != nullptr; }
  /// Drops pins, while the resource owner is alive.
  void close();

  /// Blocks before it are of the group that is being read; all blocks when it is closed.
  BlockNumber group_end() const { return is_open() ? group_end_ : MaxBlockNumber; }
  /// Comes to the group that begins at `begin`: its chunk when it is cached.
  std::optional<CachedChunk> next(BlockNumber begin);
  /// Up to where a device may read about `most` blocks from `begin` on: neither groups that are cached nor such as are
  /// to be cached, which have to come by here.
  BlockNumber device_end(BlockNumber begin, BlockNumber most);

  /// Pages of groups that this object has put into the cache, of all scans.
  int64_t filled_pages() const { return filled_pages_ + (is_open() ? table_->filled_pages() : 0); }
  /// The group that is being read is to be cached.
  bool has_open_fill() const { return fill_ != nullptr; }
  /// The same, after it has been given up when there is no room.
  bool is_filling();
  /// A chunk of the group has its pages; `is_last` of them.
  void add_pages(PageChunk* chunk, bool is_last);
  /// A chunk of a group that is to be cached has been read.
  void add_columns(PageChunk* chunk, int64_t index) { table_->add(chunk->fill, index, std::move(chunk->part)); }

 private:
  struct Group {
    BlockNumber begin, end;
    bool is_cached = false;
    CachedTable::Group cached{};
    CachedTable::Fill* fill = nullptr;
  };
  Group look_up(BlockNumber begin);
  void end_filling();

  std::unique_ptr<CachedTable> table_;  // nullptr: nothing is cached
  BlockNumber pages_ = 0;
  int64_t filled_pages_ = 0;  // by scans that have ended
  BlockNumber group_end_ = 0;
  CachedTable::Fill* fill_ = nullptr;  // what the group that is being read is cached in
  std::optional<Group> next_group_;    // that was looked up before its blocks' turn
};

}  // namespace strom::pg::table
