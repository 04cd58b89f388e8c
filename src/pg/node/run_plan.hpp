// A plan's private lists as C++ data. Made when a node begins; used by the run, the re-check and EXPLAIN. May throw.
#pragma once

#include <vector>

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/node/partial_state.hpp"
#include "pg/planner/plan_data.hpp"

namespace strom::pg::node {

/// A table whose rows are rows of another one: a partition, or an inheritance child.
struct LeafTable {
  Index relid = 0;             // in the range table at run time
  std::vector<int> positions;  // attribute numbers of the source's columns
};

/// Source of one pipeline.
struct PipelineSource {
  Index relid = 0;  // in the range table at run time; 0: rows of child plan `child`
  int child = -1;
  int subplan = 0;                        // not 0: rows of the SubPlan with this number
  std::vector<int> positions;             // of the columns: attribute numbers, or resno in the child's rows
  std::vector<int> slots;                 // of the columns, 1-based; 0 = the value is not needed for re-checks
  int chooser = -1;                       // the custom plan that tells what to read of the table; -1: everything
  std::vector<LeafTable> leaves;          // not empty: the rows are theirs
  int leaf_count = 0;                     // before pruning at planning
  PartitionPruneInfo* pruning = nullptr;  // of PostgreSQL, in planning-time indexes; nullptr: all leaves are read
};

struct Output {
  planner::OutputKind kind = planner::OutputKind::kColumn;
  int index = 0;                 // in ResultBatch::columns or aggregates
  engine::plan::ValueType type;  // of a column
  int length = -1;               // n of char(n)
  PartialType partial{};         // of an aggregate
};

/// One column of the order of the rows, as PostgreSQL sorts by it.
struct SortColumn {
  AttrNumber attribute;  // of the node's rows
  Oid sort_operator, collation;
  bool nulls_first;
};

/// Each group is handed over once for each of these.
struct GroupingSet {
  bool is_empty;            // has a group even if there is no row
  std::vector<int> values;  // for each output: 1 = a key that the set does not have; the value of a kGrouping
};

struct RunPlan {
  explicit RunPlan(const CustomScan* plan);

  const CustomScan* custom_scan;
  planner::PlanKind kind;
  engine::plan::Program program;
  std::vector<PipelineSource> sources;  // one for each pipeline
  std::vector<Output> outputs;
  std::vector<SortColumn> order;                // empty: rows come as they are found
  std::vector<GroupingSet> grouping_sets;       // empty: groups are handed over as they are
  std::vector<std::vector<int>> payload_slots;  // for each join
  List* filters(size_t pipeline) const;         // of Expr over slots
  List* range_filters(size_t pipeline) const;   // those that the bitmap of PipelineSource::chooser is of

  /// The filter that join `join` decides, NULL for others; see kPlanMemberships.
  Node* membership(size_t join) const;
  /// The first of its parameters, -1 = none.
  int membership_param(size_t join) const;

  size_t join_count() const { return program.joins.size(); }
};

}  // namespace strom::pg::node
