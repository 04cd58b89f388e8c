// Statements that ask how values are stored. Used by planner.cpp.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// The engine reads no table of such a statement. May ereport.
bool asks_stored_form(Query* statement);

}  // namespace strom::pg::planner
