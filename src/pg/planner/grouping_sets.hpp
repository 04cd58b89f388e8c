// GROUPING SETS, ROLLUP and CUBE: the engine groups by all keys, and its node hands each group over once for each set,
// with NULL in place of the keys that the set does not have and a label that tells the sets apart. Used by agg_path.cpp.
#pragma once

#include "pg/planner/engine_rel.hpp"

namespace strom::pg::planner {

/// Adds the label to `target` and to a copy of the group clause in *clause. Returns EngineAggregation::sets, NIL when
/// the engine leaves these sets to PostgreSQL. May ereport.
List* add_grouping_sets(PlannerInfo* root, PathTarget* target, List** clause);

/// Groups of all sets together.
double estimate_sets(PlannerInfo* root, List* target_list, double rows);

}  // namespace strom::pg::planner
