// INSERT into store tables as one node above the plan of the rows: docs/dev/store.md. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::fdw_gstore {

void register_bulk_insert();

/// Replaces the plan's node for INSERT by ours, if it can do what the statement asks for.
void replace_insert(PlannedStmt* plan);

}  // namespace strom::pg::fdw_gstore
