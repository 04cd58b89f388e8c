// What the planner remembers about relations that the engine can read, while one PlannerInfo is planned. Plain structs
// in planner memory. Everything in this file may ereport. Used by all folders of the planner.
#pragma once

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/table/planned_table.hpp"
#include "pg/table/value_type.hpp"

namespace strom::pg::planner {

using table::ColumnFacts;
using table::is_numeric;

/// An expression that is left to PostgreSQL, for EXPLAIN.
struct Refusal {
  Node* expr;  // nullptr: all expressions
  const char* reason;
};

/// A filter `x IN (sub-query)` or `x NOT IN (sub-query)` that PostgreSQL keeps as a SubPlan. The engine joins with the
/// sub-query's rows, which are collected before it starts.
struct EngineMembership {
  RestrictInfo* clause;
  SubPlan* subplan;  // does not depend on the filtered row
  Plan* plan;        // makes the rows; their first column is compared
  Expr* outer_key;
  Expr* inner_key;  // refers to a Var of a relation that the query does not have
  bool negated;     // NOT IN
  int operations;
};

/// A base relation that the engine reads: one table, or the partitions or inheritance children of a table.
struct EngineScan {
  RelOptInfo* rel;
  Oid table;
  table::KindNumber kind;  // of one table
  List* leaves;            // IntList of relids whose rows are read; NIL for one table
  List* leaf_tables;       // OidList, in the order of `leaves`
  List* leaf_kinds;        // IntList, in the order of `leaves`
  int leaf_count;          // before pruning
  int column_count;        // highest attribute number
  ColumnFacts* columns;    // [0 .. column_count + 1], see facts_of()
  const char* refusal;     // why the engine does not scan it; nullptr: the engine does
  bool output_readable;    // the engine can read every column that is needed above the scan
  bool gated;              // has pseudoconstant filters, which PostgreSQL evaluates in a Result above
  List* quals;             // of RestrictInfo: lowered, in PostgreSQL's order of evaluation
  List* memberships;       // of EngineMembership*: the quals that are joins
  List* host_quals;        // of RestrictInfo: left to PostgreSQL
  List* refusals;          // of Refusal*
  double rows_in, rows_out;
  table::Estimate stored;  // of all leaves
  Cost read_cost;          // for reading all pages
  double fallback_rows;    // estimated rows with a needed value that is stored out of line
  Path*
      chooser;  // tells what to read: a BitmapHeapPath (block_ranges.cpp), a sample scan's path, or nullptr: everything
  Cost chosen_cost;  // for selecting blocks and reading them
  int operations;    // of the filters, for each row
  int weight;        // of the filters, see expression_size.hpp
};

/// One join of a chain. Its join table is built from `scan`, from the rows of `path`, or from those of a sub-query. The
/// side that the table is built from is called the inner side, whatever PostgreSQL calls it: for kRightSemi and
/// kRightAnti it is PostgreSQL's outer side.
struct EngineJoin {
  RelOptInfo* inner;  // for a membership, a relation without relids
  EngineScan* scan;
  Path* path;
  const EngineMembership* membership;  // the rows come from its sub-query; scan and path are nullptr
  engine::plan::JoinKind kind;
  List* outer_keys;  // of Expr, pairwise with inner_keys; empty: all pairs of rows are candidates
  List* inner_keys;
  List* key_operators;  // OidList: operators with the outer key on the left
  // If not kNone, the keys are geometries or coordinates of points in the system `srid`, and a distance; see
  // plan::Join.
  engine::plan::SpatialMatch spatial;
  int32_t srid;
  Expr* spatial_clause;  // the clause that these keys implement
  List*
      match_quals;  // of Expr: further clauses that decide whether a candidate matches; the engine never fails in them
  List* other_quals;  // of Expr: clauses that are evaluated on the joined rows
  double rows;        // after the join, as estimated
  double passes;      // number of passes over the outer side, if the inner side exceeds pg_strom.work_memory
};

/// The work of a plan, as far as it depends on the device.
struct DeviceWorkload {
  Cost cost;              // on the CPU device
  double cpu_ns, gpu_ns;  // estimated time; see device_cost.cpp
  double cached_bytes;    // of the outermost table, already on GPUs
  uint32_t device;        // number of the GPU that it would use first
};

/// A scan and the joins above it.
struct EngineInput {
  Relids relids;
  EngineScan* scan;
  List* joins;             // of EngineJoin*
  List* refusals;          // of Refusal*, by later steps than the scan
  List* host_quals;        // of RestrictInfo: left to PostgreSQL, on the resulting rows; no join is put above them
  int operations, weight;  // of all expressions of the scans and joins
  double rows;
  Cost startup;         // until the first row: builds the join tables
  Cost run;             // for all rows, without passing them to PostgreSQL
  QualCost host_cost;   // of host_quals, sub-queries included
  DeviceWorkload work;  // all zeros if no GPU can be chosen
};

/// The aggregation of CpuPreAgg.
struct EngineAggregation {
  PathTarget* target;  // grouping expressions and partial Aggrefs: the node's output
  double groups;       // number of groups of all sets together
  List* sets;  // NIL, or for each grouping set an IntList: 1 for the empty set, then for each expression of the target
               // 1 for a key that the set does not have, the value of a GroupingFunc, 0 for others
};

/// Only the first rows of a scan or join are needed; see engine::plan::TopRows.
struct EngineTop {
  Node* key;
  List* checked;  // of Expr: outputs that can fail
  bool descending, nulls_first;
  double rows;
  List* partition;  // of Expr: the first rows for each combination of their values; NIL: the first of all rows
  bool distinct;    // of each partition, the rows with one of the first `rows` keys
  double partitions;
};

/// One column of the order of a scan's or join's rows.
struct EngineSortKey {
  Var* column;
  Oid sort_operator, collation;
  bool descending, nulls_first;
};

/// One of our paths; `custom` comes first, so that PostgreSQL sees a CustomPath.
struct EnginePath {
  CustomPath custom;
  EngineInput* input;
  EngineAggregation* aggregation;  // nullptr for scans and joins
  EngineTop* top;                  // nullptr: all rows
  List* order;                     // of EngineSortKey*; NIL: the rows are not sorted
  bool on_gpu;                     // the chosen device is a GPU
  bool knows_gpu;                  // there is a GPU to choose
  Cost cpu_cost, gpu_cost;         // on each device, without the cost of `order`
};

/// All that the planner remembers for one PlannerInfo.
struct PlannerState {
  PlannerInfo* root;
  EngineScan** scans;  // by relid; nullptr = not an engine table, or not seen yet
  int scan_count;
  Relids judged_parents;  // parents for which it is known whether the engine reads their leaves in one scan
  HTAB* inputs;           // the cheapest EngineInput for each set of relations; made at first use
  HTAB* keys;             // join clauses that why_not_key() has judged; likewise
  HTAB* judged;           // expressions that lower_check.cpp has judged, by address; likewise
  int most_weight;        // of the statement's expressions, see expression_size.hpp; 0: not known yet
};

/// The state of `root`; nullptr when it has no engine table.
PlannerState* find_state(PlannerInfo* root);
/// The state of `root`; made if there is none.
PlannerState* make_state(PlannerInfo* root);

/// The scan of `relid` if it is an engine table, else nullptr.
EngineScan* scan_of(PlannerState* state, Index relid);

/// True for attribute numbers of columns that the engine may read: user columns, tableoid and ctid.
inline bool is_column(int attnum) {
  return attnum > 0 || attnum == TableOidAttributeNumber || attnum == SelfItemPointerAttributeNumber;
}

/// The facts about column `attnum` of `scan`; is_column(attnum) is true.
inline ColumnFacts* facts_of(const EngineScan* scan, int attnum) {
  return &scan->columns[table::place_of(attnum, scan->column_count)];
}

/// The largest total weight that expressions of the statement may have.
int most_weight(PlannerState* state);

/// True when `exprs`, with `operations` operations, can be added to `input`: the total is still worth lowering and fits
/// into a program.
bool has_room_for(PlannerState* state, const EngineInput* input, const List* exprs, int operations);

/// Remembers `input` if it is the cheapest one so far for its relids.
void remember(PlannerState* state, EngineInput* input);
/// The remembered input for `relids`, or nullptr.
EngineInput* remembered(PlannerState* state, Relids relids);

/// The cost of all rows before they are passed to PostgreSQL, plus the cost of PostgreSQL's filters on them.
Cost work_of(const EngineInput* input);
bool is_cheaper(const EngineInput* a, const EngineInput* b);

/// True when `qual`, one of the scan's quals, is a join with a sub-query.
bool is_membership(const EngineScan* scan, const void* qual);

Refusal* make_refusal(Node* expr, const char* reason);

}  // namespace strom::pg::planner
