// JIT compilation of plans with our nodes. Used by planner.cpp.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// Chooses JIT compilation by PostgreSQL's part of the plan's cost.
void choose_jit(PlannedStmt* statement);

}  // namespace strom::pg::planner
