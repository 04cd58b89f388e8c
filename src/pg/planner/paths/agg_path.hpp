// What the paths of aggregations share. Used by agg_path.cpp, final_groups.cpp, distinct_aggregates.cpp and
// mixed_aggregates.cpp; all functions may ereport.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// What the final aggregation needs from below: grouping expressions as they are, and for all else the columns and
/// aggregates in it, the latter in partial form.
PathTarget* partial_target(PlannerInfo* root, PathTarget* grouping_target, Node* having, List* group_clause);

/// First expression of `target` that the engine cannot compute, or nullptr.
Refusal* refused_output(PlannerState* state, const EngineInput* input, const PathTarget* target, int* operations);

/// Why the engine does not group by `expr`, palloc'd; nullptr when it does, as why_not_lowered().
const char* why_not_grouped(PlannerState* state, Node* expr, int* operations);

/// The chain below `rel` when an aggregation can be fused with it, or nullptr.
EngineInput* fusable_input(PlannerInfo* root, RelOptInfo* rel);

EngineAggregation* make_aggregation(PathTarget* target, double groups);

/// Remembers for EXPLAIN why an aggregation over `input` stays with PostgreSQL.
void refuse(EngineInput* input, Refusal* refusal);

/// final_groups.cpp: offers CpuAgg over `partial`, where the groups that come from it need no hash table of
/// PostgreSQL's; `finalized`: PostgreSQL's aggregation over it.
void offer_final_groups(PlannerInfo* root, RelOptInfo* grouped_rel, GroupPathExtraData* extra, EnginePath* partial,
                        const AggPath* finalized);

/// final_groups.cpp: the same for the rows of SELECT DISTINCT.
void offer_final_distinct(PlannerInfo* root, EnginePath* partial, const AggPath* finalized);

/// distinct_aggregates.cpp: whether an aggregate of the query has DISTINCT or ORDER BY.
bool has_distinct_aggregates(const PathTarget* grouping_target, Node* having);

/// Of the rows that go in, the share that may be left of a grouping by arguments of DISTINCT for it to be worth it.
inline constexpr double kWorthwhileShare = 0.2;

/// mixed_aggregates.cpp: offers partial aggregation for each argument of DISTINCT, and for the aggregates without.
/// `is_only_way`: EXPLAIN shall tell why it is not offered.
void offer_mixed_aggregates(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel,
                            GroupPathExtraData* extra, EngineInput* input, bool is_only_way);

/// distinct_aggregates.cpp: offers to group by the keys and the aggregates' arguments, below PostgreSQL's aggregation.
void offer_distinct_aggregates(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel,
                               GroupPathExtraData* extra, EngineInput* input);

}  // namespace strom::pg::planner
