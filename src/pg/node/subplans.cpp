#include "pg/node/subplans.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::node {

using boundary::guard;

Subplans::Subplans(CustomScanState* state, const PlanSpec& plan)
    : state_(state), plan_(plan), collected_(plan.pipelines.size()) {
  // Lets EXPLAIN show the sub-queries of membership filters.
  for (const JoinSpec& join : plan.joins)
    if (Node* filter = join.membership) guard([=] { ExecInitExpr(reinterpret_cast<Expr*>(filter), &state->ss.ps); });
}

PlanState* Subplans::subplan_state(size_t pipeline) const {
  return static_cast<PlanState*>(
      list_nth(state_->ss.ps.state->es_subplanstates, plan_.pipelines[pipeline].subplan - 1));
}

PlanState* Subplans::child_state(size_t pipeline) const {
  return static_cast<PlanState*>(list_nth(state_->custom_ps, plan_.pipelines[pipeline].child));
}

// False for a plan without conditions and computations: it has nothing that could raise an error.
bool Subplans::can_fail(size_t pipeline) const {
  const bool is_subplan = plan_.pipelines[pipeline].subplan != 0;
  const Plan* plan = (is_subplan ? subplan_state(pipeline) : child_state(pipeline))->plan;
  if (!IsA(plan, SeqScan) || plan->qual != NIL) return true;
  for (int i = 0; i < list_length(plan->targetlist); ++i)
    if (!IsA(static_cast<const TargetEntry*>(list_nth(plan->targetlist, i))->expr, Var)) return true;
  return false;
}

void Subplans::prepare(size_t pipeline) {
  Collected& collected = collected_[pipeline];
  if (collected.is_there) return;
  const bool is_subplan = plan_.pipelines[pipeline].subplan != 0;
  collected = {std::make_unique<source::CollectedRows>(plan_.program.sources[pipeline].columns, is_subplan)};
}

void Subplans::collect(size_t pipeline) {
  if (collected_[pipeline].is_there) return;
  if (plan_.pipelines[pipeline].subplan != 0)
    collect_subplan(pipeline);
  else
    run(pipeline, child_state(pipeline));
}

// SubPlans of fallback rows share the plan's state. They have to notice as well that its parameters have changed.
void Subplans::collect_subplan(size_t pipeline) {
  PlanState* child = subplan_state(pipeline);
  Bitmapset* changed = guard([child] {
    MemoryContext caller = MemoryContextSwitchTo(child->state->es_query_cxt);
    Bitmapset* copy = bms_copy(child->chgParam);
    MemoryContextSwitchTo(caller);
    ExecReScan(child);
    return copy;
  });
  run(pipeline, child);
  child->chgParam = changed;
}

void Subplans::run(size_t pipeline, PlanState* plan) {
  const PipelineSpec& spec = plan_.pipelines[pipeline];
  const std::vector<engine::plan::ValueType>& types = plan_.program.sources[pipeline].columns;
  Collected& collected = collected_[pipeline];
  std::vector<Datum> values(types.size());
  std::unique_ptr<bool[]> nulls(new bool[types.size()]());
  const int64_t limit = static_cast<int64_t>(guc::pg_strom::work_memory) * 1024;
  for (;; ++collected.count) {
    boundary::check_for_interrupts();
    TupleTableSlot* slot = guard([plan] {
      TupleTableSlot* next = ExecProcNode(plan);
      if (!TupIsNull(next)) slot_getallattrs(next);
      return next;
    });
    if (TupIsNull(slot)) break;
    for (size_t i = 0; i < types.size(); ++i) {
      values[i] = slot->tts_values[spec.positions[i] - 1];
      nulls[i] = slot->tts_isnull[spec.positions[i] - 1];
      if (i == 0 && nulls[i]) collected.has_null = true;
    }
    collected.rows->add(values.data(), nulls.get());
    if (collected.count % 4096 == 4095 && collected.rows->memory_bytes() > limit) collected.rows->spill();
  }
  collected.rows->finish();
  collected.is_there = true;
}

bool Subplans::is_fact(int param) const {
  return std::any_of(plan_.joins.begin(), plan_.joins.end(), [param](const JoinSpec& join) {
    const int first = join.membership_param;
    return first >= 0 && param >= first && param < first + kMembershipParamCount;
  });
}

std::vector<Subplans::Fact> Subplans::facts(size_t pipeline) const {
  std::vector<Fact> facts;
  const Collected& collected = collected_[pipeline];
  for (size_t i = 0; i < plan_.joins.size(); ++i) {
    const int first = plan_.joins[i].membership_param;
    if (first < 0 || plan_.program.joins[i].build_pipeline != pipeline) continue;
    facts.push_back({first + kHasNoNull, !collected.has_null});
    facts.push_back({first + kIsEmpty, collected.count == 0});
  }
  return facts;
}

void Subplans::restart(const std::vector<bool>& keep_children) {
  for (size_t i = 0; i < collected_.size(); ++i) {
    const PipelineSpec& spec = plan_.pipelines[i];
    const bool of_changed_subplan = spec.subplan != 0 && subplan_state(i)->chgParam != nullptr;
    const bool of_changed_child = spec.child >= 0 && !keep_children[static_cast<size_t>(spec.child)];
    if (of_changed_subplan || of_changed_child || !collected_[i].is_there) collected_[i] = {};
  }
}

}  // namespace strom::pg::node
