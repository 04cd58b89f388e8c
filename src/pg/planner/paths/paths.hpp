// The kinds of paths, one source file for each, and their shared functions. All functions may ereport.
#pragma once

#include "pg/boundary/postgres.hpp"
#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// scan_path.cpp: offers CpuScan for a base relation, and records it for joins and aggregation. `tells_all`: also for a
/// table that is too small to be worth it, because EXPLAIN reports all expressions.
void offer_scan(PlannerInfo* root, RelOptInfo* rel, Index relid, RangeTblEntry* rte, bool tells_all);

/// scan_path.cpp: why the engine does not read a table of a known kind, apart from its columns; nullptr when it does.
const char* why_not_scanned(const PlannerInfo* root, const RelOptInfo* rel, const RangeTblEntry* rte);

/// block_ranges.cpp: lets BRIN indexes select the blocks that a heap table's scan reads, if that is cheaper.
void choose_block_ranges(PlannerInfo* root, EngineScan* scan);

/// block_ranges.cpp: lets the scan read a sample. PostgreSQL has estimated the sample's rows and pages as the table's.
void choose_sample(PlannerInfo* root, EngineScan* scan, const TableSampleClause* sample);

/// Number of a table's pages that are checked for being in shared buffers.
inline constexpr int kAskedPages = 16;
/// scan_path.cpp: fills in columns and estimates of `scan` for `attributes` (numbered as by pull_varattnos()).
void describe(EngineScan* scan, table::KindNumber kind, const Bitmapset* attributes, int asked_pages = kAskedPages);
/// scan_path.cpp: a scan without filters. `rel` is a table or the parent of tables.
EngineScan* make_scan(RelOptInfo* rel, const RangeTblEntry* rte);

/// membership.cpp: `clause` as a join with the rows of a sub-query; nullptr when it is no such clause or unsupported.
EngineMembership* membership_of(PlannerState* state, RestrictInfo* clause);
/// membership.cpp: adds the joins of the scan's memberships to `input`, which is just the scan.
void join_memberships(PlannerInfo* root, EngineInput* input);

/// append_scan.cpp: the topmost table that has `relid` among its partitions or inheritance children, at any depth;
/// `relid` itself when there is none.
Index topmost_parent(const PlannerInfo* root, Index relid);
/// append_scan.cpp: one scan of all leaves of `parent`, with columns and estimates; nullptr when the engine cannot read
/// them as one. The leaves' scans are recorded without their filters.
EngineScan* append_scan(PlannerState* state, Index parent, const Bitmapset* attributes);
/// append_scan.cpp: PostgreSQL's run-time pruning of the leaves of `scan`; nullptr when there is none.
PartitionPruneInfo* leaf_pruning(PlannerInfo* root, const EngineScan* scan);
/// append_scan.cpp: the column of `leaf` that corresponds to column `attnum` of `parent`.
AttrNumber leaf_column(const PlannerInfo* root, Index leaf, Index parent, AttrNumber attnum);

/// join_path.cpp: offers CpuJoin for `outer` joined with `inner`.
void offer_join(PlannerInfo* root, RelOptInfo* joinrel, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
                JoinPathExtraData* extra);

/// agg_path.cpp: offer CpuPreAgg below a final aggregation of `input_rel`.
void offer_grouping(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel, GroupPathExtraData* extra);
void offer_distinct(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* distinct_rel);

/// top_path.cpp: true for the order of the type's default operator class, by bytes for texts: the engine's order.
bool is_engine_order(const Node* key, Oid sort_operator, bool* descending);

/// top_path.cpp: offers CpuScan or CpuJoin below a sort whose first rows a LIMIT takes.
void offer_top_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel);
/// top_path.cpp: offers the same below a window, if an outer filter takes only the first rows of each partition.
void offer_window_top_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* window_rel);

/// append_path.cpp: offers CpuScan of all partitions of a table that is alone in its query, below its sort and as its
/// result.
void offer_sorted_partitions(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel);
void offer_partitions(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* final_rel);

/// engine_path.cpp: a path over `input`, with costs (costs/cost.cpp). `aggregation` nullptr: the path returns the rows
/// of `target`. `top` nullptr: it returns all rows.
EnginePath* make_engine_path(RelOptInfo* parent, PathTarget* target, EngineInput* input, EngineAggregation* aggregation,
                             EngineTop* top = nullptr);

/// engine_path.cpp: the cheapest chain that produces `rel`; nullptr when there is none, or when PostgreSQL has found
/// that `rel` is empty.
EngineInput* input_of(PlannerState* state, RelOptInfo* rel);

/// sort_path.cpp: offers CpuScan or CpuJoin with the rows in the query's order.
void offer_sorted_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel);

/// plan/make_plan.cpp: PlanCustomPath; its address identifies our paths.
const CustomPathMethods* engine_path_methods();

}  // namespace strom::pg::planner
