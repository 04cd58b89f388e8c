// GROUPING SETS, ROLLUP and CUBE. The engine groups by all keys. Its node returns each group once for each set, with
// NULL for keys that the set lacks, and with a label that distinguishes the sets. Used by the files of aggregations.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// Adds the label to `target`, and to a copy of the group clause in *clause. Returns EngineAggregation::sets, or NIL
/// when these sets are left to PostgreSQL. `common`: reference of a key that all sets get, so that none is empty; 0:
/// none. May ereport.
List* add_grouping_sets(PlannerInfo* root, EngineInput* input, PathTarget* target, List** clause, Index common = 0);

/// The estimated number of groups of all sets together. Each set also has the key `common`, unless it is nullptr.
double estimate_sets(PlannerInfo* root, List* target_list, double rows, Node* common = nullptr);

}  // namespace strom::pg::planner
