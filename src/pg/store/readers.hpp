// The roles that may have a table's published region mapped, and what happens when one of them loses the right to read.
// All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Until the transaction ends: share for who attaches a client, exclusive for who takes rights away. Before any lock on
/// the table.
void lock_attaching(Oid relid, LOCKMODE mode);

/// Whoever has the role may map the region from now on.
void note_reader(const Table* table, Oid role);

/// Whether a role may have the region mapped that has no right to read the table any more.
bool has_denied_reader(const Table* table);

/// Makes the region anew if has_denied_reader(). `relation` is locked AccessExclusive. Errors: 55006 (this transaction
/// has changes of the table).
void deny_readers(Relation relation);

}  // namespace strom::pg::store
