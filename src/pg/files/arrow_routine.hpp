// Which foreign tables are ours. The functions that PostgreSQL calls for them are those of src/pg/fdw_arrow, which the
// planner does not know.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::files {

/// Called whenever PostgreSQL asks for the routine, and so before any table has one.
void set_arrow_routine(const FdwRoutine& routine);

/// True for a foreign table over Arrow files.
bool is_arrow_table(const RelOptInfo* rel);

}  // namespace strom::pg::files
