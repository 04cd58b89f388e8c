// Checkpoints: a base file with the committed rows, after which the redo log before it is not needed.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// What a checkpoint writes besides committed rows.
enum class OwnRows : uint8_t {
  kNone,
  kInDoubt,  // this transaction's changes, which count if it commits: instead of their redo
};

/// Writes a base file and moves the log's beginning. Inside of a transaction; one session at a time, the others wait.
/// `wal` as of append_record(), with kInDoubt. May ereport.
void checkpoint(Table* table, OwnRows own, XLogRecPtr wal);

/// The same unless the ring has room for `bytes`, with what others may append at the same time.
void make_room_in_ring(Table* table, uint64_t bytes);

/// A transaction with so much redo is written to a base file rather than to the log.
bool is_too_much_for_ring(const Table* table, uint64_t bytes);

}  // namespace strom::pg::store
