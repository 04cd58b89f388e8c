// Opens the table that the caller of an SQL function has named. All of it may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::fdw_gstore {

/// Opens and locks the table. Errors: 42P01; 42809, it is not a store table.
Relation open_named_table(Oid relid, LOCKMODE mode);

/// Requires ownership. Errors: 42501, the current role does not own the table.
void require_owner(Relation relation);
/// The same before the table is opened and locked. Also raises an error for what is no foreign table.
void require_owner(Oid relid);

}  // namespace strom::pg::fdw_gstore
