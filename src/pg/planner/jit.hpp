// JIT compilation of plans with nodes of ours. Used by planner.cpp.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// JIT compilation only as the part of the plan's cost that is PostgreSQL's deserves.
void choose_jit(PlannedStmt* statement);

}  // namespace strom::pg::planner
