// Files of store tables are made and removed with the tables, as part of transactions. All of it may ereport.
#pragma once

#include "pg/store/memory.hpp"

namespace strom::pg::store {

/// Makes the files of a new table. They are removed if the transaction does not commit.
void create_files(Relation relation);

/// Refuses table definitions that do not match the table's files. Columns, key and limit cannot be changed.
void check_definition(Relation relation);

/// Removes a table's files when the transaction commits.
void drop_files(Oid relid, const Options& options);

/// For watch_transactions(): removes files, and empties the memory of their tables.
void settle_files(XactEvent event);
void settle_files_of_subtransaction(SubXactEvent event);

}  // namespace strom::pg::store
