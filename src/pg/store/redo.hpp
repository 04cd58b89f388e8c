// A transaction's way into the redo log: records go to a buffer in the table's memory, and from there to the file, for
// all waiting sessions at once. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Appends a record from end_record(), whose memory is aligned to 8 bytes. `wal` is behind a record of the server's
/// own log that bears the transaction's id: what reaches the file has an id that no later transaction gets, whatever
/// a crash takes from the server. Returns the position behind the record.
uint64_t append_record(Table* table, void* record, uint32_t bytes, XLogRecPtr wal);

/// Returns when everything before `position` is on the device.
void flush_redo(Table* table, uint64_t position);

/// Writes what is in the buffer to the file, without waiting for the device.
void write_redo(Table* table);

/// Bytes of records that the ring can still take.
uint64_t free_in_ring(const Table* table);

}  // namespace strom::pg::store
