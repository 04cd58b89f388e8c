// Columns of tables that are cached in dynamic shared memory between queries, for all sessions of the server, with
// nothing preloaded. Bytes lie in segments that are filled from their beginning and emptied as a whole; an index finds
// the columns of a group of pages. See docs/dev/column_cache.md. Main thread only, but for the bytes that find() tells
// of, which any thread may read. Used by CachedTable and DecompressedColumns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "format/heap/column_image.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/compat/heap.hpp"

namespace strom::pg::cache {

/// A group of pages of a table's file; of an Arrow table a column of a record batch, see DecompressedColumns.
struct GroupId {
  compat::FileId file;
  BlockNumber begin;

  bool operator==(const GroupId&) const = default;
};

/// A column, and how its values are cached. Attribute 0: the places of the rows, see format::heap::RowPlaces.
struct ColumnId {
  int16_t attribute;
  uint8_t storage;  // format::heap::Storage
  uint8_t unused = 0;
  int32_t scale;

  bool operator==(const ColumnId&) const = default;
};

/// Attribute of what fdw_arrow/shared_metadata keeps among the columns.
inline constexpr int16_t kMetadataAttribute = -1;

/// Where a column of a group lies. `bytes` nullptr: it is known that it cannot be cached.
struct FoundColumn {
  format::heap::ImageShape shape;
  const uint8_t* bytes;
};

/// What is written into shared memory.
struct NewColumn {
  ColumnId id;
  format::heap::ImageShape shape;
  int64_t size;  // bytes; 0: cannot be cached
};

/// Pages of a group, counted so that no group's pages have their visibility in two pages of the map.
inline constexpr BlockNumber kGroupPages = 256;

/// The first page of the group that a page belongs to, and of the group behind it.
BlockNumber group_begin(BlockNumber block);
BlockNumber group_end(BlockNumber block);

class SharedColumns {
 public:
  /// Bytes that may be taken: pg_strom.column_cache_memory.
  static uint64_t allowed();
  /// nullptr where there is no such memory: pg_strom.column_cache_memory is 0, or the server has none to give. Throws
  /// PostgresError.
  static SharedColumns* attach();

  /// A scan's place among all scans: segments that were last used before `evictable` may be emptied for it.
  struct Turn {
    uint64_t now = 0, evictable = 0;
    uint32_t table = 0;
    bool fills = false;  // this scan keeps what it reads, and no other session does it
  };
  /// A table's first scan keeps what it reads only if that is worth it; it finds what room there is.
  Turn begin_scan(const compat::FileId& file, bool is_first_worth_it = false);
  /// Another session may fill. Calls no PostgreSQL.
  void end_scan(Turn* turn);

  /// A scan that fills has found no room for so many bytes. Calls no PostgreSQL.
  void lacks(const Turn& turn, uint64_t bytes);

  /// Segments that a scan reads from: they are not emptied as long as this lives. The destructor calls no PostgreSQL.
  class Pins {
   public:
    Pins() = default;
    Pins(const Pins&) = delete;
    Pins& operator=(const Pins&) = delete;
    ~Pins() { release(); }
    void release();

   private:
    friend class SharedColumns;
    std::vector<uint32_t> segments_;
  };

  enum class Found : uint8_t { kAll, kSome, kCannotBeCached };
  /// Columns `ids` of a group as of `version`, all or none. Throws PostgresError.
  Found find(const GroupId& group, XLogRecPtr version, const std::vector<ColumnId>& ids, const Turn& turn, Pins* pins,
             FoundColumn* columns);

  /// Room for columns of a group, one behind the other. It is lost, until its segment is emptied, unless it is
  /// published.
  struct Room {
    uint32_t segment;
    uint64_t offset;
    uint8_t* bytes;
  };
  /// False when there is no room that may be taken. `pins` are to be held until the room is published. Throws
  /// PostgresError.
  bool reserve(const std::vector<NewColumn>& columns, const Turn& turn, Pins* pins, Room* room);
  /// The columns have been written. False when they cannot be cached after all. Throws PostgresError.
  bool publish(const GroupId& group, XLogRecPtr version, const std::vector<NewColumn>& columns, const Room& room);
  /// Another number for each such memory, so that what is named after its groups is not taken for those of another
  /// server's life, whose versions may come again.
  uint64_t incarnation() const;

  /// Bytes of the largest group that reserve() may have room for.
  int64_t largest_group() const;

  /// Keeps columns of a group: write(i, to) puts the i-th to an aligned place. False when there is no room that may be
  /// taken. Throws PostgresError.
  template <class Write>
  bool add(const GroupId& group, XLogRecPtr version, const std::vector<NewColumn>& columns, const Turn& turn,
           Write write) {
    Pins pins;
    Room room;
    if (!reserve(columns, turn, &pins, &room)) return false;
    uint8_t* to = room.bytes;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].size > 0) write(i, to);
      to += padded(columns[i].size);
    }
    return publish(group, version, columns, room);
  }

  /// Of `asked` groups of a file that has `pages`, the part that has all columns `attributes`, of whatever version.
  /// Does not throw; may ereport.
  double cached_part(const compat::FileId& file, BlockNumber pages, const AttrNumber* attributes, int count, int asked);

  /// What is cached of a column of one table.
  struct Usage {
    compat::FileId file;
    int16_t attribute;
    int64_t groups, rows, bytes;
  };
  std::vector<Usage> usage();
  struct Memory {
    uint64_t allowed = 0, taken = 0;  // bytes
    uint64_t lacking = 0;             // that the tables' last scans found no room for
    bool is_usual = false;            // pg_strom.column_cache_memory is -1
  };
  /// Throws PostgresError.
  static Memory memory();
  /// What is cached of one attribute, of all tables.
  int64_t bytes_of(int16_t attribute);
  /// Forgets everything that no scan is reading.
  void reset();

  struct Control;  // what lies in shared memory
  struct Entry;

 private:
  explicit SharedColumns(Control* control) : control_(control) {}

  static int64_t padded(int64_t size);
  bool take_room(uint64_t size, const Turn& turn, bool empties, Pins* pins, Room* room);
  bool add_segment();
  uint8_t* map(uint32_t segment);
  void pin(uint32_t segment, Pins* pins);

  Control* control_;
};

}  // namespace strom::pg::cache
