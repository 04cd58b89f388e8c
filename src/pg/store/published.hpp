// A table's published region, in which clients read committed rows by themselves. It is a file beside the table's
// memory. It is made when the table is loaded or its option is set, and every commit updates it. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"
#include "store/region/check.hpp"
#include "store/region/writer.hpp"

namespace strom::pg::store {

namespace region = ::strom::store::region;

/// The region as mapped by this session.
struct Region {
  uint32_t number;
  int descriptor;
  uint64_t bytes;
  uint8_t* memory;
  region::Writer writer;
};

/// The table's region; nullptr: none. It does not change while this session has changes of the table.
Region* region_of(Table* table);

/// Makes a region with the table's rows; it replaces an existing region. No session may have changes of the table. On
/// failure the table has no region, and lacks_region() is true. May throw.
void build_region(Table* table);
/// Drops the table's region. May throw.
void drop_region(Table* table);

/// True if the table has lost its region, and should perhaps have one.
bool lacks_region(const Table* table);
/// Makes the region of a table that lacks it. Waits until no other session uses the table.
void restore_region(Oid relid);

void unmap_region(Table* table);
/// Makes or drops the region according to the table's options, if no other session uses the table. Errors: 55006 (this
/// transaction has changes). May throw.
void follow_kv_option(Table* table, Relation relation);

/// For watch_transactions(): takes regions of definitions that are taken back from their clients. May ereport.
void settle_regions(XactEvent event);
void settle_regions_of_subtransaction(SubXactEvent event);

/// Microseconds since 1970, for Writer::beat().
uint64_t now_us();

/// The path of region `number` of the table with memory file `memory`.
std::string region_path(const std::string& memory, uint32_t number);
bool is_region_path(const std::string& path);
/// Tells the clients of a region that it is retired, and erases its rows. Neither throws nor raises.
void retire_region_file(const std::string& path, region::State state);

/// The size of a row's record in bytes.
uint64_t record_bytes_of(const Table* table, const rows::Cell* cells);

/// Reserves an extent for a record of `bytes` bytes. Errors: 53400, 53200.
uint64_t reserve_extent(const Table* table, Region* to, uint64_t bytes);
void release_extent(const Table* table, Region* to, uint64_t extent);
/// Releases an extent; takes kRegionLock.
void release_in_region(Region* to, uint64_t extent) noexcept;

/// Memory for publishing, because publishing must not allocate any.
struct PublishSpace {
  rows::Cell* cells;  // one for each column of the table
  uint64_t* record;   // room for the largest record
};

/// Publishes a row after the commit. The caller holds kRegionLock. Cannot fail.
void publish_row(const Table* table, Region* to, Slot slot, uint64_t extent, const PublishSpace& space) noexcept;
/// Removes the key of an ended version, unless everybody sees another version with this key.
void publish_end(const Table* table, Region* to, const rows::Cell& key) noexcept;

/// True if everybody sees the version: its transaction has committed and set the bit, and the version has not ended.
bool is_live(const Table* table, Slot slot);
/// The live version with this key, or kNoSlot.
Slot find_live(const Table* table, const rows::Cell& key);

/// Compares the region with the rows that everybody sees, and lets commits through meanwhile. Errors: XX001. Must not
/// run in a transaction with changes.
void check_region(Table* table);

}  // namespace strom::pg::store
