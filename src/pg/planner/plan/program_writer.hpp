// Writes the engine program of a plan. C++ code: throws StatusError and PostgresError. Used by make_plan.cpp.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/plan/ir.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/planner/state/engine_rel.hpp"
#include "pg/planner/lowering/lower.hpp"

namespace strom::pg::planner {

/// One column that a pipeline reads.
struct SourceColumnRef {
  Index varno;
  AttrNumber attnum;
  int position;  // attribute number, or resno in the rows of a PostgreSQL plan
};

/// Expressions of an aggregate; nullptr = none.
struct AggregateRef {
  const Node *argument, *second, *filter;
};

class ProgramWriter {
 public:
  /// `child_plans`: the plans of joins without a scan, in the order of the joins.
  ProgramWriter(PlannerState* state, const EngineInput* input, const List* child_plans);

  /// Writes all pipelines. `outputs`: Vars for a projection; grouping expressions and partial Aggrefs for an
  /// aggregation. `aggregation` and `top` are nullptr if the path has none.
  void write(const List* outputs, const EngineAggregation* aggregation, const EngineTop* top, const List* order);

  /// May be called once, after write().
  engine::plan::Program take_program() { return std::move(program_); }
  /// The columns that each pipeline reads.
  const std::vector<std::vector<SourceColumnRef>>& sources() const { return sources_; }
  /// For each join the column of its build pipeline that each payload holds.
  const std::vector<std::vector<SourceColumnRef>>& payloads() const { return payloads_; }
  const std::vector<node::OutputSpec>& outputs() const { return outputs_; }
  /// The output for each sort key.
  const std::vector<int>& order() const { return order_; }
  const std::vector<const Node*>& params() const { return params_; }
  /// The first parameter of each join's membership; -1: none.
  int membership_param(size_t join) const { return membership_params_[join]; }
  /// Expressions of group_keys and aggregates, in their order.
  const std::vector<const Node*>& group_keys() const { return group_keys_; }
  const std::vector<AggregateRef>& aggregates() const { return aggregates_; }

 private:
  friend class PipelineScope;
  using NodeId = engine::plan::NodeId;

  NodeId lower(uint32_t pipeline, const void* expr, uint32_t tried_join = UINT32_MAX);
  Result<NodeId> source_column(uint32_t pipeline, const Var& var, SourceColumnRef* ref);
  Result<NodeId> probing_column(const Var& var, uint32_t tried_join);
  void write_join(uint32_t index);
  void write_spatial_keys(const EngineJoin& join, uint32_t index);
  void write_null_rules(const EngineJoin& join, uint32_t index);
  void add_output(const Node* expr, const List* all, const EngineAggregation* aggregation);
  void add_aggregate(const Aggref& aggregate, const List* outputs);
  void add_grouping_set(const List* values);

  PlannerState* state_;
  const EngineInput* input_;
  std::vector<const EngineJoin*> joins_;
  std::vector<const Plan*> child_plans_;  // for each join; nullptr when the engine scans
  engine::plan::Program program_;
  engine::plan::Builder builder_;
  std::vector<std::vector<SourceColumnRef>> sources_, payloads_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> source_places_;  // by pipeline and column
  std::map<std::pair<uint32_t, NodeId>, uint32_t> payload_places_;   // by join and column of the build side
  std::unordered_map<NodeId, size_t> output_places_;                 // of the last pipeline's outputs or group keys
  std::vector<node::OutputSpec> outputs_;
  std::vector<int> membership_params_, order_;
  std::vector<const Node*> params_, group_keys_;
  std::vector<AggregateRef> aggregates_;
};

}  // namespace strom::pg::planner
