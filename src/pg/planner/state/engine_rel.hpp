// What the planner remembers about relations that the engine can read, while one PlannerInfo is planned. Plain structs
// in planner memory: everything in this file may ereport. Used by all rooms of the planner.
#pragma once

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/table/planned_table.hpp"
#include "pg/table/value_type.hpp"

namespace strom::pg::planner {

using table::ColumnFacts;
using table::is_numeric;

/// An expression that stays with PostgreSQL, for EXPLAIN.
struct Refusal {
  Node* expr;  // nullptr: all of them
  const char* reason;
};

/// A filter `x IN (sub-query)` or `x NOT IN (sub-query)` that PostgreSQL keeps as a SubPlan: the engine joins the
/// sub-query's rows, which are collected before it starts.
struct EngineMembership {
  RestrictInfo* clause;
  SubPlan* subplan;  // without parameters of the row
  Plan* plan;        // its rows; the first column is the one that is compared
  Expr* outer_key;
  Expr* inner_key;  // over a Var of a relation that the query does not have
  bool negated;     // NOT IN
  int operations;
};

/// A base relation that the engine reads: a table of one of its kinds, or the partitions or inheritance children of a
/// table.
struct EngineScan {
  RelOptInfo* rel;
  Oid table;
  table::KindNumber kind;  // of one table
  List* leaves;            // IntList of relids: the rows are those of these; NIL for one table
  List* leaf_tables;       // OidList, in their order
  List* leaf_kinds;        // IntList, likewise
  int leaf_count;          // before pruning
  int column_count;        // highest attribute number
  ColumnFacts* columns;    // [0 .. column_count + 1], see facts_of()
  const char* refusal;     // why the engine does not scan it; nullptr: it does
  bool output_readable;    // every column that is needed above the scan
  bool gated;              // has pseudoconstant filters, which PostgreSQL puts into a Result above
  List* quals;             // of RestrictInfo: lowered, in the order in which PostgreSQL evaluates them
  List* memberships;       // of EngineMembership*: those of the quals that are joins
  List* host_quals;        // of RestrictInfo: left to PostgreSQL
  List* refusals;          // of Refusal*
  double rows_in, rows_out;
  table::Estimate stored;  // of all leaves
  Cost read_cost;          // of reading all pages
  double fallback_rows;    // rows that are left to PostgreSQL for a value that is stored out of line
  Path*
      chooser;  // tells what to read: a BitmapHeapPath (block_ranges.cpp), a sample scan's path, or nullptr: everything
  Cost chosen_cost;  // of choosing and of reading these blocks
  int operations;    // of the filters, for each row
  int weight;        // of the filters, see expression_size.hpp
};

/// One join of a chain: the probed table is built from `scan`, or from the rows of `path` or of a sub-query. The side
/// that it is built from is called the inner one, whatever PostgreSQL calls it: of kRightSemi and kRightAnti it is what
/// PostgreSQL has as the outer side.
struct EngineJoin {
  RelOptInfo* inner;  // of a membership one without relids
  EngineScan* scan;
  Path* path;
  const EngineMembership* membership;  // the rows are its sub-query's; scan and path are nullptr
  engine::plan::JoinKind kind;
  List* outer_keys;  // of Expr, pairwise with inner_keys; empty: every row of the inner side is a candidate
  List* inner_keys;
  List* key_operators;  // OidList: what compares them, the outer one on the left
  // Not kNone: keys are geometries or coordinates of points in the system `srid`, and a distance; see plan::Join.
  engine::plan::SpatialMatch spatial;
  int32_t srid;
  Expr* spatial_clause;  // what these keys stand for
  List*
      match_quals;  // of Expr: further clauses that decide whether a candidate matches; the engine never fails in them
  List* other_quals;  // of Expr: clauses that are evaluated on the rows that result
  double rows;        // after the join
  double passes;      // over the outer side, because the inner side is larger than pg_strom.work_memory
};

/// What depends on the device that runs it.
struct DeviceWorkload {
  Cost cost;              // on the CPU device
  double cpu_ns, gpu_ns;  // how long it takes; see device_cost.cpp
  double cached_bytes;    // of the outermost table, on GPUs already
  uint32_t device;        // the GPU that it would use first, by number
};

/// A scan and the joins on top of it.
struct EngineInput {
  Relids relids;
  EngineScan* scan;
  List* joins;       // of EngineJoin*
  List* refusals;    // of Refusal*, found after the scan
  List* host_quals;  // of RestrictInfo: left to PostgreSQL, on the rows that result; nothing is put on top of these
  int operations, weight;  // of all expressions of the scans and joins
  double rows;
  Cost startup;         // before the first row: tables to probe
  Cost run;             // all rows, without handing them to PostgreSQL
  QualCost host_cost;   // of host_quals, sub-queries included
  DeviceWorkload work;  // all zeros where no GPU can be chosen
};

/// The sink of CpuPreAgg.
struct EngineAggregation {
  PathTarget* target;  // grouping expressions and partial Aggrefs: what the node emits
  double groups;       // of all sets together
  List* sets;  // NIL, or for each grouping set an IntList: 1 for the empty set, then for each expression of the target
               // 1 for a key that the set does not have, the value of a GroupingFunc, 0 for others
};

/// Of a scan's or join's rows only the first ones are wanted; see engine::plan::TopRows.
struct EngineTop {
  Node* key;
  List* checked;  // of Expr: outputs that can fail
  bool descending, nulls_first;
  double rows;
  List* partition;  // of Expr: the first rows of each set with equal values of these; NIL: of all
  bool distinct;    // of each, those with one of the first `rows` keys
  double partitions;
};

/// One column of the order of a scan's or join's rows.
struct EngineSortKey {
  Var* column;
  Oid sort_operator, collation;
  bool descending, nulls_first;
};

/// A path of ours; `custom` comes first, so that PostgreSQL sees a CustomPath.
struct EnginePath {
  CustomPath custom;
  EngineInput* input;
  EngineAggregation* aggregation;  // nullptr for scans and joins
  EngineTop* top;                  // nullptr: all rows
  List* order;                     // of EngineSortKey*; NIL: rows come as they are found
  bool on_gpu;                     // the device is a GPU
  bool knows_gpu;                  // there is one to choose
  Cost cpu_cost, gpu_cost;         // on each, without what `order` costs
};

/// All that is remembered for one PlannerInfo.
struct PlannerState {
  PlannerInfo* root;
  EngineScan** scans;  // by relid; nullptr = not an engine table, or not seen yet
  int scan_count;
  Relids judged_parents;  // tables with leaves of which it is known whether the engine reads them as one
  HTAB* inputs;           // the cheapest EngineInput for each set of relations; made at first use
  HTAB* keys;             // join clauses that why_not_key() has judged; likewise
  HTAB* judged;           // expressions that lower_check.cpp has judged, by address; likewise
  int most_weight;        // of the statement's expressions, see expression_size.hpp; 0: not known yet
};

/// The state of `root`; nullptr when it has no engine table.
PlannerState* find_state(PlannerInfo* root);
/// The same, made when there is none.
PlannerState* make_state(PlannerInfo* root);

/// Column types of `relid` when it is an engine table, else nullptr.
EngineScan* scan_of(PlannerState* state, Index relid);

/// True for attribute numbers of columns that the engine may read: those of the user, tableoid and ctid.
inline bool is_column(int attnum) {
  return attnum > 0 || attnum == TableOidAttributeNumber || attnum == SelfItemPointerAttributeNumber;
}

/// What is known of the column `attnum` of `scan`, of which is_column() is true.
inline ColumnFacts* facts_of(const EngineScan* scan, int attnum) {
  return &scan->columns[table::place_of(attnum, scan->column_count)];
}

/// The most that expressions of the statement may weigh.
int most_weight(PlannerState* state);

/// True when `exprs` can be added to `input` without exceeding what is worth lowering and fits into a program.
/// `operations`: those of `exprs`.
bool has_room_for(PlannerState* state, const EngineInput* input, const List* exprs, int operations);

/// Keeps `input` when it is the cheapest for its relids so far.
void remember(PlannerState* state, EngineInput* input);
/// What is kept for `relids`, or nullptr.
EngineInput* remembered(PlannerState* state, Relids relids);

/// What all rows cost before they are handed to PostgreSQL, and what its filters on them cost.
Cost work_of(const EngineInput* input);
bool is_cheaper(const EngineInput* a, const EngineInput* b);

/// True when `qual`, one of the scan's, is a join with a sub-query.
bool is_membership(const EngineScan* scan, const void* qual);

Refusal* make_refusal(Node* expr, const char* reason);

}  // namespace strom::pg::planner
