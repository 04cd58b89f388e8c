// The columns that are cached between queries, as used by one scan: finds cached groups of pages that are still valid,
// and caches what the scan reads. Main thread only. See docs/dev/column_cache.md. Used by HeapRows.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "columnar/origin.hpp"
#include "pg/cache/shared_columns.hpp"

namespace strom::pg::table {

using cache::ColumnId;
using cache::FoundColumn;
using cache::GroupId;
using cache::SharedColumns;

class CachedTable {
 public:
  /// The part of a group that one chunk contributes. An engine thread makes it.
  struct Part {
    std::vector<format::heap::ColumnPart> columns;  // in order; incomplete once they cannot be cached
    std::vector<bool> keepable;
    std::vector<BlockNumber> blocks;  // pages with rows
    std::vector<int64_t> first_rows;
    std::vector<uint16_t> numbers;  // item numbers of the rows

    void take(const format::heap::TupleDecoder& decoder, const std::vector<int>& scales,
              std::span<const format::heap::ColumnOut> out, int64_t rows);
  };

  /// A group that is being read and will be cached.
  struct Fill {
    GroupId group;
    BlockNumber end;
    XLogRecPtr version;
    bool dropped = false;  // a page was not all-visible after all
    bool all_fed = false;  // the last chunk was fed
    int64_t chunks = 0;
    std::map<int64_t, Part> parts;  // by chunk; numbers may have gaps
  };

  /// A cached group; valid until close().
  struct Group {
    const uint8_t* places;  // format::heap::RowPlaces
    std::vector<columnar::ColumnView> columns;
    std::shared_ptr<const columnar::BatchOrigin> origin;  // of the columns; valid after close() as well
  };

  /// Opens the cache for a scan of a whole table by `snapshot`, reading `columns`. nullptr when nothing of the table
  /// may be cached. Throws PostgresError.
  static std::unique_ptr<CachedTable> open(Relation relation, Snapshot snapshot, BlockNumber pages,
                                           const std::vector<ColumnId>& columns);
  ~CachedTable();
  /// Names the origin of `columns` of all rows that `snapshot` sees in a table's first `pages` pages, while all these
  /// pages are all-visible. Throws PostgresError.
  static columnar::RowsOrigin origin(Relation relation, Snapshot snapshot, BlockNumber pages,
                                     const std::vector<ColumnId>& columns);
  /// False for tables that are never cached.
  static bool is_for(Relation relation, BlockNumber pages);

  /// Looks up the group of pages [begin, end). True: `cached` is the group. False: `*fill` collects the group for the
  /// cache, or is nullptr.
  bool look_up(BlockNumber begin, BlockNumber end, Group* cached, Fill** fill);
  /// True if the cache had no room for a group of this scan.
  bool is_full() const { return is_full_; }
  /// Pages of the groups that this scan has added to the cache.
  int64_t filled_pages() const { return filled_pages_; }
  /// Called when the last chunk of `fill` has been fed.
  void end_feeding(Fill* fill);
  /// Called when a chunk of `fill` has been read.
  void add(Fill* fill, int64_t chunk, Part part);
  /// Drops pins. The resource owner must still exist.
  void close();

 private:
  CachedTable(Relation relation, SharedColumns* shared, BlockNumber pages, const std::vector<ColumnId>& columns,
              bool is_first_worth_it);

  void finish(Fill* fill);
  void keep(const Fill& fill);

  Relation relation_;
  compat::FileId file_;
  SharedColumns* shared_;
  BlockNumber pages_;
  std::vector<ColumnId> columns_;  // followed by the places
  std::vector<FoundColumn> found_;
  SharedColumns::Turn turn_;
  SharedColumns::Pins pins_;
  Buffer map_page_ = InvalidBuffer;
  bool is_full_ = false;
  int64_t filled_pages_ = 0;
  std::list<Fill> fills_;
};

/// The form in which values of a column are cached, see ColumnId.
ColumnId column_id(const format::heap::WantedColumn& column, int scale);

}  // namespace strom::pg::table
