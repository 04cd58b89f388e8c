// The kinds of path, one source file each, and what they share. All functions may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// scan_path.cpp: offers CpuScan for a base relation, and remembers it for joins and aggregation. `tells_all`: also
/// where the table is so small that it is not worth while, because EXPLAIN tells of all expressions.
void offer_scan(PlannerInfo* root, RelOptInfo* rel, Index relid, RangeTblEntry* rte, bool tells_all);

/// scan_path.cpp: why the engine does not read a table that it knows, whatever its columns are; nullptr: it does.
const char* why_not_scanned(const PlannerInfo* root, const RelOptInfo* rel, const RangeTblEntry* rte);

/// block_ranges.cpp: lets BRIN indexes choose the blocks that a heap table's scan reads, when that is cheaper.
void choose_block_ranges(PlannerInfo* root, EngineScan* scan);

/// block_ranges.cpp: the scan reads a sample, whose rows and pages PostgreSQL has estimated as the table's.
void choose_sample(PlannerInfo* root, EngineScan* scan, const TableSampleClause* sample);

/// How many pages of a table are asked for whether they are in shared buffers.
inline constexpr int kAskedPages = 16;
/// scan_path.cpp: fills columns and estimates of `scan` for `attributes` (as pull_varattnos() has them).
void describe(EngineScan* scan, table::KindNumber kind, const Bitmapset* attributes, int asked_pages = kAskedPages);
/// scan_path.cpp: a scan without filters; `rel` is one table or the parent of some.
EngineScan* make_scan(RelOptInfo* rel, const RangeTblEntry* rte);

/// membership.cpp: `clause` as a join with a sub-query's rows; nullptr when it is none, or none for the engine.
EngineMembership* membership_of(PlannerState* state, RestrictInfo* clause);
/// membership.cpp: adds the joins of the scan's memberships to `input`, which is the scan.
void join_memberships(PlannerInfo* root, EngineInput* input);

/// append_scan.cpp: the table that has `relid` among its partitions or inheritance children, or among theirs; `relid`
/// itself when there is none.
Index topmost_parent(const PlannerInfo* root, Index relid);
/// append_scan.cpp: one scan of all leaves of `parent` with columns and estimates; nullptr when the engine cannot read
/// them as one. The scans of the leaves are remembered, without their filters.
EngineScan* append_scan(PlannerState* state, Index parent, const Bitmapset* attributes);
/// append_scan.cpp: how PostgreSQL chooses among the leaves of `scan` while the plan runs; nullptr when it does not.
PartitionPruneInfo* leaf_pruning(PlannerInfo* root, const EngineScan* scan);
/// append_scan.cpp: the column of `leaf` behind column `attnum` of `parent`.
AttrNumber leaf_column(const PlannerInfo* root, Index leaf, Index parent, AttrNumber attnum);

/// join_path.cpp: offers CpuJoin for `outer` joined with `inner`.
void offer_join(PlannerInfo* root, RelOptInfo* joinrel, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
                JoinPathExtraData* extra);

/// agg_path.cpp: offer CpuPreAgg below a final aggregation of `input_rel`.
void offer_grouping(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel, GroupPathExtraData* extra);
void offer_distinct(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* distinct_rel);

/// top_path.cpp: the order of the type's default operator class, which is the engine's; texts by bytes.
bool is_engine_order(const Node* key, Oid sort_operator, bool* descending);

/// top_path.cpp: offers CpuScan or CpuJoin below a sort of which a LIMIT takes the first rows.
void offer_top_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel);
/// top_path.cpp: the same below a window of whose rows, in each partition, a filter outside takes the first ones.
void offer_window_top_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* window_rel);

/// append_path.cpp: offer CpuScan of all partitions of a table that is alone in its query, below its sort and as its
/// result.
void offer_sorted_partitions(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel);
void offer_partitions(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* final_rel);

/// engine_path.cpp: a path over `input`, with costs (costs/cost.cpp). `aggregation` nullptr: the path emits the rows
/// that `target` names; `top` nullptr: all of them.
EnginePath* make_engine_path(RelOptInfo* parent, PathTarget* target, EngineInput* input, EngineAggregation* aggregation,
                             EngineTop* top = nullptr);

/// engine_path.cpp: the cheapest chain that produces `rel`; nullptr when there is none, or PostgreSQL has found that
/// `rel` has no rows.
EngineInput* input_of(PlannerState* state, RelOptInfo* rel);

/// sort_path.cpp: offers CpuScan or CpuJoin with its rows in the query's order.
void offer_sorted_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel);

/// plan/make_plan.cpp: PlanCustomPath and what identifies our paths.
const CustomPathMethods* engine_path_methods();

}  // namespace strom::pg::planner
