// Recognises this extension's foreign tables over Arrow files. The routine's functions belong to src/pg/fdw_arrow,
// which the planner does not include.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::files {

/// Called whenever PostgreSQL asks for the routine, and so before any table uses it.
void set_arrow_routine(const FdwRoutine& routine);

/// True for a foreign table over Arrow files.
bool is_arrow_table(const RelOptInfo* rel);

}  // namespace strom::pg::files
