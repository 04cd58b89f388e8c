// GROUPING SETS, ROLLUP and CUBE: the engine groups by all keys, and its node hands each group over once for each set,
// with NULL in place of the keys that the set does not have and a label that tells the sets apart. Used by the files of
// aggregations.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// Adds the label to `target` and to a copy of the group clause in *clause. Returns EngineAggregation::sets, NIL when
/// the engine leaves these sets to PostgreSQL. May ereport. `common`: a key with this reference that is in all sets, so
/// that none is empty; 0 = none.
List* add_grouping_sets(PlannerInfo* root, EngineInput* input, PathTarget* target, List** clause, Index common = 0);

/// Groups of all sets together, with the key `common` in each of them unless it is nullptr.
double estimate_sets(PlannerInfo* root, List* target_list, double rows, Node* common = nullptr);

}  // namespace strom::pg::planner
