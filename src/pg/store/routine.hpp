// Recognises store tables. The routine's functions belong to src/pg/fdw_gstore, which the planner does not include.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::store {

/// Called whenever PostgreSQL asks for the routine, and so before any table uses it.
void set_routine(const FdwRoutine& routine);

/// True for a store table.
bool is_store_rel(const RelOptInfo* rel);

}  // namespace strom::pg::store
