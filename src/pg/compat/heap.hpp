// Differences between PostgreSQL versions in reading heap pages. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {
#if PG_VERSION_NUM >= 160000
#include "utils/relfilenumbermap.h"
#else
#include "utils/relfilenodemap.h"
#endif
}

namespace strom::pg::compat {

/// Adds to the table's count of rows read by scans, as a sequential scan does.
inline void count_scanned_rows(Relation relation, int64_t rows) {
  if (!pgstat_should_count_relation(relation)) return;
#if PG_VERSION_NUM >= 160000
  relation->pgstat_info->counts.tuples_returned += rows;
#else
  relation->pgstat_info->t_counts.t_tuples_returned += rows;
#endif
}

/// True for tables of the heap access method. Takes no lock.
inline bool is_heap(Oid table) {
  HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(table));
  if (!HeapTupleIsValid(tuple)) return false;
  const bool result = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relam == HEAP_TABLE_AM_OID;
  ReleaseSysCache(tuple);
  return result;
}

/// The file of a table's pages. A rewrite of the table makes another file.
struct FileId {
  Oid tablespace, database, file;

  bool operator==(const FileId&) const = default;
};

inline FileId file_of(Relation relation) {
#if PG_VERSION_NUM >= 160000
  return {relation->rd_locator.spcOid, relation->rd_locator.dbOid, relation->rd_locator.relNumber};
#else
  return {relation->rd_node.spcNode, relation->rd_node.dbNode, relation->rd_node.relNode};
#endif
}

/// The table of this database whose file it is, or InvalidOid. May ereport.
inline Oid table_of_file(const FileId& file) {
#if PG_VERSION_NUM >= 160000
  return RelidByRelfilenumber(file.tablespace, file.file);
#else
  return RelidByRelfilenode(file.tablespace, file.file);
#endif
}

/// True when the file was made by the current transaction, which may then change it without a trace in the WAL.
inline bool is_file_new(Relation relation) {
#if PG_VERSION_NUM >= 160000
  return relation->rd_createSubid != InvalidSubTransactionId ||
         relation->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
  return relation->rd_createSubid != InvalidSubTransactionId ||
         relation->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
}

/// True when the current transaction has added or changed the column. After a rollback its number may belong to another
/// column.
inline bool is_column_new(Relation relation, AttrNumber attribute) {
  if (!TransactionIdIsValid(GetTopTransactionIdIfAny())) return false;
  HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(relation)), Int16GetDatum(attribute));
  if (!HeapTupleIsValid(tuple)) return true;
  const bool result = TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data));
  ReleaseSysCache(tuple);
  return result;
}

/// True when no snapshot can become too old to read a page.
inline bool snapshots_never_age() {
#if PG_VERSION_NUM < 170000
  return old_snapshot_threshold < 0;
#else
  return true;
#endif
}

/// Pins the page if it lies in buffer `guess`, without a look-up; else returns InvalidBuffer.
inline Buffer pin_if_there(Relation relation, BlockNumber block, Buffer guess) {
#if PG_VERSION_NUM >= 160000
  const bool found = ReadRecentBuffer(relation->rd_locator, MAIN_FORKNUM, block, guess);
#else
  const bool found = ReadRecentBuffer(relation->rd_node, MAIN_FORKNUM, block, guess);
#endif
  if (!found) return InvalidBuffer;
  pgstat_count_buffer_read(relation);
  pgstat_count_buffer_hit(relation);
  return guess;
}

/// Calls f(number of the page's buffer, counted from 0; negative: not buffered). The page is neither read in nor
/// evicted meanwhile.
template <class F>
bool with_buffer_of(Relation relation, BlockNumber block, F f) {
  BufferTag tag;
#if PG_VERSION_NUM >= 160000
  InitBufferTag(&tag, &relation->rd_locator, MAIN_FORKNUM, block);
#else
  INIT_BUFFERTAG(tag, relation->rd_node, MAIN_FORKNUM, block);
#endif
  const uint32 hash = BufTableHashCode(&tag);
  LWLock* lock = BufMappingPartitionLock(hash);
  LWLockAcquire(lock, LW_SHARED);
  const bool result = f(BufTableLookup(&tag, hash));
  LWLockRelease(lock);
  return result;
}

/// True when the page lies in shared buffers.
inline bool is_buffered(Relation relation, BlockNumber block) {
  return with_buffer_of(relation, block, [](int buffer) { return buffer >= 0; });
}

/// True when the page's file is up to date with shared buffers. A buffer is dirty until it is written.
inline bool is_stored(Relation relation, BlockNumber block) {
  return with_buffer_of(relation, block, [](int buffer) {
    return buffer < 0 || (pg_atomic_read_u32(&GetBufferDescriptor(buffer)->state) & BM_DIRTY) == 0;
  });
}

/// True when somebody holds the lock of the page's content. Calls no PostgreSQL; the page must be pinned. Bits above
/// kHolders tell about waiters (lwlock.c).
inline bool is_content_locked(Buffer buffer) {
  constexpr uint32 kHolders = 0x0FFFFFFF;
  return (pg_atomic_read_u32(&BufferDescriptorGetContentLock(GetBufferDescriptor(buffer - 1))->state) & kHolders) != 0;
}

/// The number of blocks whose bits lie in one page of the visibility map.
inline constexpr BlockNumber kBlocksInMapPage =
    (BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * (BITS_PER_BYTE / BITS_PER_HEAPBLOCK);

/// The all-visible bit of visibilitymap_get_status(), read from `map`, the map's page for `block`. Calls no PostgreSQL.
inline bool is_marked_visible(Page map, BlockNumber block) {
  constexpr BlockNumber kInByte = BITS_PER_BYTE / BITS_PER_HEAPBLOCK;
  const BlockNumber place = block % kBlocksInMapPage;
  const auto* bytes = reinterpret_cast<const volatile uint8*>(PageGetContents(map));
  return (bytes[place / kInByte] >> (place % kInByte * BITS_PER_HEAPBLOCK) & VISIBILITYMAP_ALL_VISIBLE) != 0;
}

/// Path of the table's first file, relative to the data directory. The caller owns it.
inline char* main_file(Relation relation) {
#if PG_VERSION_NUM >= 180000
  return pstrdup(relpathperm(relation->rd_locator, MAIN_FORKNUM).str);
#elif PG_VERSION_NUM >= 160000
  return relpathperm(relation->rd_locator, MAIN_FORKNUM);
#else
  return relpathperm(relation->rd_node, MAIN_FORKNUM);
#endif
}

/// Raises "snapshot too old" where that still exists.
inline void check_snapshot_age([[maybe_unused]] Snapshot snapshot, [[maybe_unused]] Relation relation,
                               [[maybe_unused]] Page page) {
#if PG_VERSION_NUM < 170000
  TestForOldSnapshot(snapshot, relation, page);
#endif
}

}  // namespace strom::pg::compat
