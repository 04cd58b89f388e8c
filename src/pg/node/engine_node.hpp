// The interface of node.cpp for nodes above an engine node. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

class QueryRun;

/// The run of an engine node; nullptr when `state` is no engine node.
QueryRun* engine_run(PlanState* state);

/// Calls QueryRun::next_row() and raises its errors as PostgreSQL's.
bool advance(QueryRun* run);

/// The same for QueryRun::next_columns().
bool advance_columns(QueryRun* run);

/// The same for QueryRun::merges_groups().
bool merges_groups(QueryRun* run);

}  // namespace strom::pg::node
