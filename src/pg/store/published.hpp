// A table's published region: where clients read committed rows without asking. It is a file of its own beside the
// table's memory, made when the table is loaded or its option is set, and filled by every commit. All of it may
// ereport.
#pragma once

#include "pg/store/memory.hpp"
#include "store/region/check.hpp"
#include "store/region/writer.hpp"

namespace strom::pg::store {

namespace region = ::strom::store::region;

/// The region as this session has it mapped.
struct Region {
  uint32_t number;
  int descriptor;
  uint64_t bytes;
  uint8_t* memory;
  region::Writer writer;
};

/// nullptr: the table has none. It stays the same while this session has changes of the table.
Region* region_of(Table* table);

/// Makes a region with the table's rows, which takes the place of one that is there. Nobody else may have changes of
/// the table, nor this session. May throw.
void build_region(Table* table);
/// The table has no region from now on. May throw.
void drop_region(Table* table);

void unmap_region(Table* table);
/// Makes or drops the region as the table's options say, where this session has the table for itself. Errors: 55006
/// (its transaction has changes). May throw.
void follow_kv_option(Table* table, Relation relation);

/// Microseconds since 1970, for Writer::beat().
uint64_t now_us();

/// Path of region `number` of the table whose memory is `memory`.
std::string region_path(const std::string& memory, uint32_t number);
bool is_region_path(const std::string& path);
/// Tells the clients of a region that it is not the table's any more, and takes its rows away. Neither throws nor
/// raises.
void retire_region_file(const std::string& path, region::State state);

/// Bytes of a row's record.
uint64_t record_bytes_of(const Table* table, const rows::Cell* cells);

/// An extent for a record of these bytes. Errors: 53400, 53200.
uint64_t reserve_extent(const Table* table, Region* to, uint64_t bytes);
void release_extent(const Table* table, Region* to, uint64_t extent);
/// The same under kRegionLock.
void release_in_region(Region* to, uint64_t extent) noexcept;

/// Memory for publishing, which takes none itself.
struct PublishSpace {
  rows::Cell* cells;  // as many as the table has columns
  uint64_t* record;   // for the largest one
};

/// Under kRegionLock, and after the commit: nothing can fail.
void publish_row(const Table* table, Region* to, Slot slot, uint64_t extent, const PublishSpace& space) noexcept;
/// A version with this key has ended: the key goes, unless another version has it that everybody sees now.
void publish_end(const Table* table, Region* to, const rows::Cell& key) noexcept;

/// Compares the region with the rows that everybody sees. Errors: XX001. Not in a transaction that has changes.
void check_region(Table* table);

}  // namespace strom::pg::store
