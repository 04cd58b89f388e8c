// The roles that may have mapped a table's published region. When one of them loses the right to read, the region is
// replaced. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Locks until the transaction ends: shared to attach a client, exclusive to revoke rights. Taken before any lock on
/// the table.
void lock_attaching(Oid relid, LOCKMODE mode);

/// Records that processes of the role may map the region from now on.
void note_reader(const Table* table, Oid role);

/// True if processes of some role may have mapped the region. From any process.
bool has_readers(const Table* table);

/// True if a role may have mapped the region and has no right to read the table any more. Of more roles than there is
/// room for, only those that are listed are asked about; `or_unlisted`: true then.
bool has_denied_reader(const Table* table, bool or_unlisted = true);

/// Replaces the region if has_denied_reader(). `relation` is locked AccessExclusive. Errors: 55006 (this transaction
/// has changes of the table).
void deny_readers(Relation relation);

/// Replaces the region of a table, if it is a store table and has_denied_reader(). Waits for those that use the table,
/// and after a second ends sessions of denied readers that do. Attaching clients wait meanwhile, so each one is either
/// known here or refused. Errors: as of deny_readers().
void follow_rights(Oid relid);

/// follow_rights(), if the roles that are known to read the table make it necessary. Waits for nobody to find that out.
void look_at_rights(Oid relid);

}  // namespace strom::pg::store
