// Layout of CustomScan::custom_private: what a plan of ours carries besides what PostgreSQL knows. Written by
// make_plan.cpp, read by src/pg/node. Plain nodes only, so that copyObject and nodeToString work. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

enum class PlanKind : int { kScan, kJoin, kAggregation };

/// Positions in custom_private. A slot is a 1-based position in custom_scan_tlist; expressions refer to slots by
/// INDEX_VAR. Pipelines: one for each join's inner side, in order, then the one that probes.
enum PlanPart : int {
  kPlanProgram,  // Const bytea: plan::serialize()
  kPlanHeader,   // IntList: PlanKind, scanrelid when planned, number of outputs
  kPlanSources,  // for each pipeline an IntList: relid when planned (0 = rows of the next custom plan, < 0 = rows of
                 // the SubPlan with the negative of this number), then pairs of a column (attribute number, or resno of
                 // the plan) and its slot
  kPlanLeaves,   // for each pipeline NIL, or when it reads the partitions or inheritance children of its relid an
                 // IntList: their number before pruning, then of each that is left its relid and the attribute numbers
                 // of the source's columns
  kPlanPruning,  // for each pipeline NULL or the PartitionPruneInfo for its leaves, with relids when planned
  kPlanOutputs,  // for each output an IntList, see OutputField
  kPlanPayloads,      // for each join an IntList: slot of each payload
  kPlanFilters,       // for each pipeline a List of Expr: the source's filters
  kPlanMatchFilters,  // for each join a List of Expr: clauses besides the keys that decide whether rows match
  kPlanJoinFilters,   // List of Expr: join clauses that are evaluated on the joined rows
  kPlanOuterKeys,     // for each join a List of Expr
  kPlanInnerKeys,     // for each join a List of Expr; NIL for rows of a SubPlan
  kPlanKeyOperators,  // for each join an OidList: what compares the outer keys with the inner ones
  kPlanMemberships,   // for each join NULL, or for rows of a SubPlan a List: the filter, which is among kPlanFilters,
                      // too; an Integer, the first of the parameters that MembershipParam names, -1 = none
  kPlanGroupKeys,     // List of Expr, as Program::group_keys
  kPlanArguments,     // List of Expr or NULL, as Program::aggregates
  kPlanSecondArguments,  // List of Expr or NULL, likewise
  kPlanArgFilters,       // List of Expr or NULL, likewise
  kPlanGroupingSets,     // List of IntList, as EngineAggregation::sets; NIL = rows are handed over once
  kPlanOrder,            // List of IntList, see OrderField; NIL = rows come as they are found
  kPlanChoosers,  // for each pipeline an Integer: the custom plan that tells what to read of a table (it makes a bitmap
                  // of blocks, or is a sample scan), -1 = everything
  kPlanRangeFilters,  // for each pipeline a List of Expr: the filters that a bitmap is of
  kPlanRefusals,      // List of two-element Lists: Expr with planning-time varnos or NULL, String reason
  kPlanEstimates,     // List of Float: rows of the scan, after its filters, after each join, rows of the node
  kPlanDeviceCosts,   // List of Float: on the CPU device, on a GPU, bytes that GPUs kept; NIL = no GPU to choose
  kPlanPartCount,
};

/// Parameters whose values are known when the rows of NOT IN's sub-query are; the expressions at their places in
/// custom_exprs are its SubPlan.
enum MembershipParam : int {
  kHasNoNull,
  kIsEmpty,
  kMembershipParamCount,
};

enum class OutputKind : int {
  kColumn,     // Program outputs or group keys
  kAggregate,  // Program::aggregates
  kGrouping,   // a value of the grouping set
};

/// Fields of a sort key's IntList.
enum OrderField : int {
  kOrderOutput,  // the column, counted from 0
  kOrderOperator,
  kOrderCollation,
  kOrderNullsFirst,
};

/// Fields of an output's IntList.
enum OutputField : int {
  kOutputKind,    // OutputKind
  kOutputIndex,   // in the program
  kOutputFormat,  // registry::TypeId of a column, registry::PartialFormat of an aggregate
  kOutputScale,   // of a numeric
  kOutputLength,  // n of char(n), -1 = none
};

inline List* plan_part(const CustomScan* plan, PlanPart part) {
  return static_cast<List*>(list_nth(plan->custom_private, part));
}

/// What setrefs.c has added to range table indexes since the plan was made.
inline int range_table_offset(const CustomScan* plan) {
  return static_cast<int>(plan->scan.scanrelid) - lsecond_int(plan_part(plan, kPlanHeader));
}

inline PlanKind plan_kind(const CustomScan* plan) {
  return static_cast<PlanKind>(linitial_int(plan_part(plan, kPlanHeader)));
}

}  // namespace strom::pg::planner
