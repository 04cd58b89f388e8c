// Code shared by the paths of aggregations: agg_path.cpp, final_groups.cpp, distinct_aggregates.cpp and
// mixed_aggregates.cpp. All functions may ereport.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// The input of the final aggregation: the grouping expressions unchanged, and the columns and aggregates of all other
/// expressions, aggregates in partial form.
PathTarget* partial_target(PlannerInfo* root, PathTarget* grouping_target, Node* having, List* group_clause);

/// The first expression of `target` that the engine cannot compute, or nullptr.
Refusal* refused_output(PlannerState* state, const EngineInput* input, const PathTarget* target, int* operations);

/// The reason why the engine cannot group by `expr`, palloc'd; nullptr when it can. `operations` as for
/// why_not_lowered().
const char* why_not_grouped(PlannerState* state, Node* expr, int* operations);

/// The chain below `rel` if an aggregation can be fused with it, or nullptr.
EngineInput* fusable_input(PlannerInfo* root, RelOptInfo* rel);

EngineAggregation* make_aggregation(PathTarget* target, double groups);

/// Records for EXPLAIN why an aggregation over `input` is left to PostgreSQL.
void refuse(EngineInput* input, Refusal* refusal);

/// final_groups.cpp: offers CpuAgg over `partial`, if its groups need no merging by PostgreSQL's hash table.
/// `finalized`: PostgreSQL's aggregation over `partial`.
void offer_final_groups(PlannerInfo* root, RelOptInfo* grouped_rel, GroupPathExtraData* extra, EnginePath* partial,
                        const AggPath* finalized);

/// final_groups.cpp: the same for the rows of SELECT DISTINCT.
void offer_final_distinct(PlannerInfo* root, EnginePath* partial, const AggPath* finalized);

/// distinct_aggregates.cpp: true if an aggregate of the query has DISTINCT.
bool has_distinct_aggregates(const PathTarget* grouping_target, Node* having);

/// Grouping by arguments of DISTINCT is worth it if it leaves at most this share of the input rows.
inline constexpr double kWorthwhileShare = 0.2;

/// mixed_aggregates.cpp: offers one partial aggregation for each argument of DISTINCT, and one for the other
/// aggregates. `is_only_way`: if it is not offered, EXPLAIN tells why.
void offer_mixed_aggregates(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel,
                            GroupPathExtraData* extra, EngineInput* input, bool is_only_way);

/// distinct_aggregates.cpp: offers grouping by the keys and the aggregates' arguments, below PostgreSQL's aggregation.
void offer_distinct_aggregates(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel,
                               GroupPathExtraData* extra, EngineInput* input);

}  // namespace strom::pg::planner
