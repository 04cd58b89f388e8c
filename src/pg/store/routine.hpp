// Which foreign tables are store tables. The functions that PostgreSQL calls for them are those of src/pg/fdw_gstore,
// which the planner does not know.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::store {

/// Called whenever PostgreSQL asks for the routine, and so before any table has one.
void set_routine(const FdwRoutine& routine);

/// True for a store table.
bool is_store_rel(const RelOptInfo* rel);

}  // namespace strom::pg::store
