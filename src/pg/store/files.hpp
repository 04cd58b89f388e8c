// Files of store tables come and go with the tables, by transactions. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Makes the files of a new table; they go if the transaction does not commit.
void create_files(Relation relation);

/// Refuses definitions that the table's files do not have: columns, key and limit are as they were made.
void check_definition(Relation relation);

/// Removes the files of a table when the transaction commits.
void drop_files(Oid relid, const Options& options);

}  // namespace strom::pg::store
