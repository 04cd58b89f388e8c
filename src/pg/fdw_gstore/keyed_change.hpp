// UPDATE and DELETE of one row of a store table by its key, as a plan of one node: docs/dev/store.md. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::fdw_gstore {

/// What the node has to know of a statement; see keyed_change_plan().
struct KeyedChange {
  List* targets;  // TargetEntries: the new values
  List* columns;  // numbers of the columns that the statement sets, in the order of `targets`
  List* read;     // numbers of the columns that `targets` and `rest` refer to
  List* leaves;   // OIDs of the partitions, which follow the table in the statement's range table; NIL: not partitioned
  Expr* clause;   // for EXPLAIN
  Expr* value;    // of the key
  Oid type;       // of the value
  AttrNumber key;   // column
  List* evaluated;  // expressions that are evaluated once, before `value`; number i is the executor's parameter i
  List* rest;       // conditions for the row
};

void register_keyed_change();

/// The node, for the first entry of the range table.
CustomScan* keyed_change_plan(const KeyedChange& change, CmdType operation);

/// A plan for the statement; nullptr: it is left to PostgreSQL's planner. Does not change the statement.
PlannedStmt* plan_keyed_change(const Query* parse);

}  // namespace strom::pg::fdw_gstore
