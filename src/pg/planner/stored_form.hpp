// Statements that ask how values are stored. Used by planner.cpp.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// True if the engine must not read tables in this statement. May ereport.
bool asks_stored_form(Query* statement);

}  // namespace strom::pg::planner
