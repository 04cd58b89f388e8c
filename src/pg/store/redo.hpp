// Writes a transaction's redo. Records go to a buffer in the table's memory, and from there to the file for all waiting
// sessions at once. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Appends a record from end_record(), whose memory is aligned to 8 bytes. `wal` is the position behind a WAL record
/// with the transaction's id. The WAL is flushed up to there before the redo reaches the file. So no later transaction
/// can get an id that is in the file, even after a crash. Returns the position behind the record.
uint64_t append_record(Table* table, void* record, uint32_t bytes, XLogRecPtr wal);

/// Returns when everything before `position` is on the device.
void flush_redo(Table* table, uint64_t position);

/// Writes the buffer to the file, without waiting for the device.
void write_redo(Table* table);

/// The number of bytes that still fit into the ring, apart from what is reserved.
uint64_t free_in_ring(const Table* table);
/// True if the file could not be written when that was last tried, as on a full disk.
bool is_stuck(const Table* table);

/// Reserves room in the ring for records of `bytes` bytes in all. False: there is none now.
bool reserve_in_ring(const Table* table, uint64_t bytes);
/// Called after these records have been appended, or will not be. Does not raise.
void release_in_ring(const Table* table, uint64_t bytes) noexcept;

}  // namespace strom::pg::store
