// The table that an SQL function's caller has named. All of it may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::fdw_gstore {

/// Opened and locked. Errors: 42809, it is no store table.
Relation open_named_table(Oid relid, LOCKMODE mode);

/// Errors: 42501, the current role does not own it.
void require_owner(Relation relation);

}  // namespace strom::pg::fdw_gstore
