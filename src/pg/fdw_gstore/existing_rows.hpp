// Looks at the rows that a store table has when a rule about its rows is added. PostgreSQL does not, for foreign
// tables.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::fdw_gstore {

/// Checks every row against the rules of the table that this transaction has added or declared valid: NOT NULL, CHECK,
/// and, if a partition was made or attached by the last command (`is_attached`), the bounds of partitions. May ereport.
/// Errors: 23502, 23514.
void check_existing_rows(Relation relation, bool is_attached);

/// The default partition beside a new partition, and the partitions below; NIL: there is none. May ereport.
List* beside_default_partition(Oid relid);

}  // namespace strom::pg::fdw_gstore
