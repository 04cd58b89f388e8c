// What a plan of the engine contains besides PostgreSQL's fields of CustomScan. The planner fills in a PlanSpec and
// writes it as nodes into custom_private. The executor and EXPLAIN read it back. A feature of the planner adds a field:
// a member, and its name in the list of fields() below it. May throw, unless said otherwise.
//
// A slot is a 1-based position in custom_scan_tlist. Expressions refer to slots by INDEX_VAR, which setrefs.c leaves
// unchanged. Range table indexes are written as of planning time, and reading converts them to those of run time.
#pragma once

#include <optional>
#include <vector>

#include "engine/plan/ir.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/node/partial_state.hpp"

namespace strom::pg::node {

enum class PlanKind : int { kScan, kJoin, kAggregation };

/// A table whose rows count as rows of another one: a partition or an inheritance child.
struct LeafSpec {
  static constexpr bool kIsPacked = true;  // written as an IntList
  Index relid = 0;
  int kind = -1;               // table::KindNumber
  std::vector<int> positions;  // attribute numbers of the pipeline's columns

  static void fields(auto& self, auto& archive) { archive(self.relid, self.kind, self.positions); }
};

/// One pipeline: the source of its rows, and the filters that they pass.
struct PipelineSpec {
  Index relid = 0;                // 0: rows of a child plan or of a SubPlan
  int kind = -1;                  // table::KindNumber of a table without leaves
  int child = -1;                 // not -1: rows of this child plan
  int subplan = 0;                // not 0: rows of the SubPlan with this number
  std::vector<int> positions;     // of the columns: attribute numbers, or resno in the child's rows
  std::vector<int> slots;         // of the columns; 0 = the value is not needed for fallback rows
  List* filters = nullptr;        // of Expr
  int block_selector = -1;        // the child plan that selects what to read of the table: it makes a bitmap of blocks,
                                  // or is a sample scan; -1: everything
  List* range_filters = nullptr;  // of Expr: the filters that the bitmap evaluates
  int leaf_count = 0;             // before pruning by the planner
  std::vector<LeafSpec> leaves;   // not empty: the source's rows are theirs
  PartitionPruneInfo* pruning = nullptr;  // of PostgreSQL, in planning-time indexes; nullptr: all leaves are read

  static void fields(auto& self, auto& archive) {
    archive(self.relid, self.kind, self.child, self.subplan, self.positions, self.slots, self.filters,
            self.block_selector, self.range_filters, self.leaf_count, self.leaves, self.pruning);
  }
};

/// Parameters that get values when the rows of a NOT IN sub-query are collected. The expressions at their places in
/// custom_exprs are its SubPlan.
enum MembershipParam : int {
  kHasNoNull,
  kIsEmpty,
  kMembershipParamCount,
};

/// One join. Its inner side is the pipeline with the same number.
struct JoinSpec {
  std::vector<int> payload_slots;
  List* outer_keys = nullptr;     // of Expr
  List* inner_keys = nullptr;     // of Expr; NIL for rows of a SubPlan
  List* key_operators = nullptr;  // OidList: operators that compare outer with inner keys
  List* match_filters = nullptr;  // of Expr: clauses other than keys that decide on matches
  Node* membership = nullptr;     // for rows of a SubPlan: the outer side's filter that the join implements
  int membership_param = -1;      // the first parameter of MembershipParam; -1: none
  double rows = 0;                // estimated number of rows after the join

  static void fields(auto& self, auto& archive) {
    archive(self.payload_slots, self.outer_keys, self.inner_keys, self.key_operators, self.match_filters,
            self.membership, self.membership_param, self.rows);
  }
};

enum class OutputKind : int {
  kColumn,     // Program outputs or group keys
  kAggregate,  // Program::aggregates
  kGrouping,   // a value that depends on the grouping set
};

struct OutputSpec {
  static constexpr bool kIsPacked = true;
  OutputKind kind = OutputKind::kColumn;
  int index = 0;                 // in ResultBatch::columns or aggregates
  engine::plan::ValueType type;  // of a column
  int length = -1;               // n of char(n), -1 = none
  PartialType partial{};         // of an aggregate

  static void fields(auto& self, auto& archive) {
    archive(self.kind, self.index);
    if (self.kind == OutputKind::kColumn) archive(self.type.type, self.type.scale, self.length);
    if (self.kind == OutputKind::kAggregate)
      archive(self.partial.acc, self.partial.format, self.partial.argument, self.partial.scale, self.partial.length);
  }
};

/// An aggregate's arguments, as PostgreSQL evaluates them for fallback rows.
struct AggregateSpec {
  Node* argument = nullptr;
  Node* second = nullptr;  // for aggregates of two arguments
  Node* filter = nullptr;

  static void fields(auto& self, auto& archive) { archive(self.argument, self.second, self.filter); }
};

/// One column of the order of the rows, in PostgreSQL's terms.
struct SortSpec {
  static constexpr bool kIsPacked = true;
  int output = 0;
  Oid sort_operator = InvalidOid, collation = InvalidOid;
  bool nulls_first = false;

  static void fields(auto& self, auto& archive) {
    archive(self.output, self.sort_operator, self.collation, self.nulls_first);
  }
};

/// A grouping set. Each group is returned once for each set.
struct GroupingSetSpec {
  static constexpr bool kIsPacked = true;
  bool is_empty = false;    // has a group even if there is no row
  std::vector<int> values;  // for each output: 1 = a key that the set lacks; or a kGrouping's value

  static void fields(auto& self, auto& archive) { archive(self.is_empty, self.values); }
};

/// An expression that is left to PostgreSQL, and the reason.
struct UnsupportedSpec {
  Node* expr = nullptr;    // with planning-time indexes; nullptr: all expressions
  Node* reason = nullptr;  // String

  static void fields(auto& self, auto& archive) { archive(self.expr, self.reason); }
};

/// The costs that the planner compared when it could choose a GPU.
struct DeviceCostSpec {
  double cpu = 0, gpu = 0;
  double cached_bytes = 0;  // of the outermost table, cached on GPUs

  static void fields(auto& self, auto& archive) { archive(self.cpu, self.gpu, self.cached_bytes); }
};

struct PlanSpec {
  /// An empty spec for the planner to fill in and write.
  PlanSpec() = default;
  /// Reads the spec of a plan.
  explicit PlanSpec(const CustomScan* plan);
  /// The content of custom_private: lists and nodes that copyObject and nodeToString support.
  List* write() const;

  const CustomScan* custom_scan = nullptr;  // the plan that it was read from
  int relid_offset = 0;                     // added to range table indexes by setrefs.c

  PlanKind kind = PlanKind::kScan;
  engine::plan::Program program;
  Index scanrelid = 0;                  // at planning time
  std::vector<PipelineSpec> pipelines;  // one for each join's inner side, in order, then the probing one
  std::vector<JoinSpec> joins;
  List* join_filters = nullptr;                // of Expr: join clauses evaluated on joined rows
  List* group_keys = nullptr;                  // of Expr, in Program's order
  std::vector<AggregateSpec> aggregates;       // in Program's order
  std::vector<OutputSpec> outputs;             // columns of the node
  std::vector<GroupingSetSpec> grouping_sets;  // empty: groups are returned without sets
  std::vector<SortSpec> order;                 // empty: rows are not sorted
  std::vector<UnsupportedSpec> unsupported;
  double rows_in = 0, rows_out = 0;          // estimates: rows of the probing source, before and after its filters
  std::vector<DeviceCostSpec> device_costs;  // one entry; empty: there was no GPU to choose

  static void fields(auto& self, auto& archive) {
    archive(self.scanrelid, self.pipelines, self.joins, self.join_filters, self.group_keys, self.aggregates,
            self.outputs, self.grouping_sets, self.order, self.unsupported, self.rows_in, self.rows_out,
            self.device_costs);
  }
};

/// The kind of a plan, read without the rest. Does not ereport.
PlanKind plan_kind(const CustomScan* plan);

/// A summary of a plan that does not run.
struct PlanSummary {
  PlanKind kind;
  List* tables;   // IntList: range table indexes at run time of the tables that the engine reads
  List* reasons;  // of char*: why expressions are left to PostgreSQL
};
/// May ereport.
PlanSummary summary_of(const CustomScan* plan);

}  // namespace strom::pg::node
