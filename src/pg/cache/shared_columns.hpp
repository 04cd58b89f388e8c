// Columns of tables that are cached in dynamic shared memory between queries, for all sessions of the server. The
// library need not be preloaded. Segments are filled from their beginning and emptied as a whole. An index finds the
// columns of a group of pages. See docs/dev/column_cache.md. For the main thread only, except the bytes that find()
// points to: any thread may read these. Used by CachedTable and DecompressedColumns.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "format/heap/column_image.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/compat/heap.hpp"

namespace strom::pg::cache {

/// A group of pages of a table's file. For an Arrow table it is a column of a record batch, see DecompressedColumns.
struct GroupId {
  compat::FileId file;
  BlockNumber begin;

  bool operator==(const GroupId&) const = default;
};

/// A column and the form in which its values are cached. Attribute 0: the places of the rows, see
/// format::heap::RowPlaces.
struct ColumnId {
  int16_t attribute;
  uint8_t storage;  // format::heap::Storage
  uint8_t unused = 0;
  int32_t scale;

  bool operator==(const ColumnId&) const = default;
};

/// The attribute number under which fdw_arrow/shared_metadata caches metadata of files.
inline constexpr int16_t kMetadataAttribute = -1;

/// Where a column of a group lies. `bytes` is nullptr if the column is known to be impossible to cache.
struct FoundColumn {
  format::heap::ImageShape shape;
  const uint8_t* bytes;
};

/// A column to be written into shared memory.
struct NewColumn {
  ColumnId id;
  format::heap::ImageShape shape;
  int64_t size;  // bytes; 0: cannot be cached
};

/// Pages of a group. Groups are counted so that the visibility bits of one group lie in one page of the visibility map.
inline constexpr BlockNumber kGroupPages = 256;

/// group_begin(): the first page of the group that `block` belongs to. group_end(): the first page of the next group.
BlockNumber group_begin(BlockNumber block);
BlockNumber group_end(BlockNumber block);

class SharedColumns {
 public:
  /// The limit in bytes, from pg_strom.column_cache_memory.
  static uint64_t allowed();
  /// nullptr when there is no such memory: pg_strom.column_cache_memory is 0, or the server cannot provide any. Throws
  /// PostgresError.
  static SharedColumns* attach();

  /// A scan's place among all scans: segments that were last used before `evictable` may be emptied for it.
  struct Turn {
    uint64_t now = 0, evictable = 0;
    uint32_t table = 0;
    bool fills = false;  // this scan caches what it reads; no other session does so meanwhile
  };
  /// Begins a scan. A table's first scan fills the cache only if `is_first_worth_it`, and empties no segments for that.
  Turn begin_scan(const compat::FileId& file, bool is_first_worth_it = false);
  /// Ends a scan, so that another session may fill the cache. Calls no PostgreSQL.
  void end_scan(Turn* turn);

  /// Notes that a filling scan found no room for `bytes` bytes. Calls no PostgreSQL.
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
  /// Finds columns `ids` of a group as of `version`: all of them or none. Throws PostgresError.
  Found find(const GroupId& group, XLogRecPtr version, const std::vector<ColumnId>& ids, const Turn& turn, Pins* pins,
             FoundColumn* columns);

  /// Room for the columns of a group, one after the other. Room that is never published stays lost until its segment is
  /// emptied.
  struct Room {
    uint32_t segment;
    uint64_t offset;
    uint8_t* bytes;
  };
  /// Reserves room; false when there is none. The caller holds `pins` until the room is published. Throws
  /// PostgresError.
  bool reserve(const std::vector<NewColumn>& columns, const Turn& turn, Pins* pins, Room* room);
  /// Enters columns, which the caller has written into `room`, in the index. False when they cannot be cached after
  /// all. Throws PostgresError.
  bool publish(const GroupId& group, XLogRecPtr version, const std::vector<NewColumn>& columns, const Room& room);
  /// A number that differs between any two lives of this memory. Names of cached groups contain it, because versions
  /// (WAL positions) of another server's life may occur again.
  uint64_t incarnation() const;

  /// Bytes of the largest group that reserve() accepts.
  int64_t largest_group() const;

  /// Caches the columns of a group: write(i, to) writes the i-th one to an aligned address. False when there is no
  /// room. Throws PostgresError.
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

  /// The fraction of `asked` groups, of a file with `pages` pages, that have all columns `attributes` cached in any
  /// version. Does not throw; may ereport.
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
    uint64_t lacking = 0;             // bytes that the last filling scans of all tables found no room for
    bool is_usual = false;            // pg_strom.column_cache_memory is -1
  };
  /// The state of the whole cache. Throws PostgresError.
  static Memory memory();
  /// Bytes that are cached under one attribute number, over all tables.
  int64_t bytes_of(int16_t attribute);
  /// Drops all cached columns that no scan is reading.
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
