// Checkpoints write a base file with the committed rows. The redo log before it is then not needed any more.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// The rows that a checkpoint writes in addition to committed rows.
enum class OwnRows : uint8_t {
  kNone,
  kInDoubt,  // this transaction's changes; they count if it commits, instead of redo
};

/// Writes a base file and moves the beginning of the log. Must run inside of a transaction. Only one session at a time
/// does it; the others wait. `wal` as for append_record(), with kInDoubt. May ereport.
void checkpoint(Table* table, OwnRows own, XLogRecPtr wal);

/// The same if no other session makes a checkpoint of the table now. False: one does, or the table has been dropped.
bool try_checkpoint(Table* table);

/// Waits until a checkpoint that is being made is complete. False: none was being made. May ereport.
bool wait_for_checkpoint(const Table* table);

/// Waits until a checkpoint that is being made is complete. No other one begins before the transaction ends.
void bar_checkpoints(Oid relid);

/// Called from time to time while this process writes a base file; nullptr: nothing is. May throw.
extern void (*while_writing)();

/// Reserves room in the ring for `bytes`, at most a quarter of it: see reserve_in_ring(). Makes a checkpoint where
/// there is none.
void make_room_in_ring(Table* table, uint64_t bytes);

/// True if a transaction has too much redo for the log, so that its rows are written to a base file.
bool is_too_much_for_ring(const Table* table, uint64_t bytes);

}  // namespace strom::pg::store
