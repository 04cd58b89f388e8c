// INSERT into store tables as one node above the plan of the rows: docs/dev/store.md. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::fdw_gstore {

void register_bulk_insert();

/// True if the statement calls functions that may look at the rows that it has inserted before: volatile ones that are
/// not PostgreSQL's own. Has to be asked before the statement is planned.
bool may_see_own_rows(const Query* statement);

/// Replaces the plan's node for INSERT by ours, if it can do what the statement asks for. `waits`: rows may wait for
/// others before they are inserted.
void replace_insert(PlannedStmt* plan, bool waits);

}  // namespace strom::pg::fdw_gstore
