// What node.cpp offers to other nodes above an engine node. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

class QueryRun;

/// The run of an engine node; nullptr when `state` is none.
QueryRun* engine_run(PlanState* state);

/// QueryRun::next_row(), with errors as PostgreSQL's.
bool advance(QueryRun* run);

/// QueryRun::next_columns(), likewise.
bool advance_columns(QueryRun* run);

/// QueryRun::merges_groups(), likewise.
bool merges_groups(QueryRun* run);

}  // namespace strom::pg::node
