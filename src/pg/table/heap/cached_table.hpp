// One scan's use of the columns that are cached between queries: which groups of pages are cached and still hold, and
// keeping what the scan reads. Main thread only. See docs/dev/column_cache.md. Used by HeapRows.
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
  /// What one chunk of a group adds to it. Made by an engine thread.
  struct Part {
    std::vector<format::heap::ColumnPart> columns;  // in order; as long as they can be cached
    std::vector<bool> keepable;
    std::vector<BlockNumber> blocks;  // pages that have rows
    std::vector<int64_t> first_rows;
    std::vector<uint16_t> numbers;  // of the rows' items

    void take(const format::heap::TupleDecoder& decoder, const std::vector<int>& scales,
              std::span<const format::heap::ColumnOut> out, int64_t rows);
  };

  /// A group that is being read and will be cached.
  struct Fill {
    GroupId group;
    BlockNumber end;
    XLogRecPtr version;
    bool dropped = false;  // some page is not what the visibility map promised
    bool all_fed = false;  // no more chunks
    int64_t chunks = 0;
    std::map<int64_t, Part> parts;  // by chunk; between its chunks there may be others
  };

  /// A group as it is cached; valid until close().
  struct Group {
    const uint8_t* places;  // format::heap::RowPlaces
    std::vector<columnar::ColumnView> columns;
    std::shared_ptr<const columnar::BatchOrigin> origin;  // of the columns; good for longer
  };

  /// For a scan of a whole table by `snapshot`, reading `columns`. nullptr when nothing of it may be cached. Throws
  /// PostgresError.
  static std::unique_ptr<CachedTable> open(Relation relation, Snapshot snapshot, BlockNumber pages,
                                           const std::vector<ColumnId>& columns);
  ~CachedTable();
  /// Where `columns` of all rows that `snapshot` sees in a table's first `pages` come from, as long as all of these
  /// pages are visible to everyone. Throws PostgresError.
  static columnar::RowsOrigin origin(Relation relation, Snapshot snapshot, BlockNumber pages,
                                     const std::vector<ColumnId>& columns);
  /// False for tables of which nothing is ever cached.
  static bool is_for(Relation relation, BlockNumber pages);

  /// Looks for the group of pages [begin, end). True: `cached` is it. Else `*fill` is what to keep the group in, or
  /// nullptr.
  bool look_up(BlockNumber begin, BlockNumber end, Group* cached, Fill** fill);
  /// There was no room for a group of this scan.
  bool is_full() const { return is_full_; }
  /// Pages of the groups that it has put into the cache.
  int64_t filled_pages() const { return filled_pages_; }
  /// The last chunk of `fill` has been fed.
  void end_feeding(Fill* fill);
  /// A chunk of `fill` has been read.
  void add(Fill* fill, int64_t chunk, Part part);
  /// Drops pins, while the resource owner is alive.
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
  std::vector<ColumnId> columns_;  // and behind them the places
  std::vector<FoundColumn> found_;
  SharedColumns::Turn turn_;
  SharedColumns::Pins pins_;
  Buffer map_page_ = InvalidBuffer;
  bool is_full_ = false;
  int64_t filled_pages_ = 0;
  std::list<Fill> fills_;
};

/// How values of a column are cached, see ColumnId.
ColumnId column_id(const format::heap::WantedColumn& column, int scale);

}  // namespace strom::pg::table
