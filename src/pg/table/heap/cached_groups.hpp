// The groups of a table that a scan finds in the column cache, and the groups that it adds to the cache. Main thread.
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
  /// For a scan of a whole table. Stays closed if nothing may be cached.
  void open(Relation relation, Snapshot snapshot, BlockNumber pages, const std::vector<ColumnId>& columns);
  bool is_open() const { return table_ != nullptr; }
  /// Drops pins. The resource owner must still exist.
  void close();

  /// The end of the current group; MaxBlockNumber when closed.
  BlockNumber group_end() const { return is_open() ? group_end_ : MaxBlockNumber; }
  /// Moves to the group that begins at `begin`. Returns its chunk if the group is cached.
  std::optional<CachedChunk> next(BlockNumber begin);
  /// The end of the blocks, about `most` from `begin` on, that a device may read. It stops before groups that are
  /// cached and before groups that this scan adds to the cache, because the scan must read these itself.
  BlockNumber device_end(BlockNumber begin, BlockNumber most);

  /// Pages of groups that this object has added to the cache, over all scans.
  int64_t filled_pages() const { return filled_pages_ + (is_open() ? table_->filled_pages() : 0); }
  /// True if the current group is to be cached.
  bool has_open_fill() const { return fill_ != nullptr; }
  /// Like has_open_fill(), but first gives the group up if the cache has no room.
  bool is_filling();
  /// Adds the pages of a chunk to the group; `is_last`: it is the group's last chunk.
  void add_pages(PageChunk* chunk, bool is_last);
  /// Adds the columns of a chunk that was read, whose group is to be cached.
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
  int64_t filled_pages_ = 0;  // by earlier scans
  BlockNumber group_end_ = 0;
  CachedTable::Fill* fill_ = nullptr;  // collects the current group for the cache
  std::optional<Group> next_group_;    // looked up before its blocks' turn
};

}  // namespace strom::pg::table
