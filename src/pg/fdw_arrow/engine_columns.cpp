// See engine_columns.hpp.
#include "pg/fdw_arrow/engine_columns.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/node/engine_node.hpp"
#include "pg/node/query_run.hpp"

namespace strom::pg::fdw_arrow {

using boundary::guard;

namespace {

/// The child whose rows `plan` returns with at most a choice of columns; nullptr when there is none.
PlanState* child_of(PlanState* plan) {
  switch (nodeTag(plan)) {
    case T_LimitState: return outerPlanState(plan);
    case T_ResultState:
      return reinterpret_cast<ResultState*>(plan)->resconstantqual == nullptr ? outerPlanState(plan) : nullptr;
    case T_SubqueryScanState: return reinterpret_cast<SubqueryScanState*>(plan)->subplan;
    default: return nullptr;
  }
}

/// The expression at a place of a node's target list, without casts that keep the value.
const Node* output_at(const PlanState* plan, int place) {
  const auto* entry = list_nth_node(TargetEntry, plan->plan->targetlist, place);
  const auto* expr = reinterpret_cast<const Node*>(entry->expr);
  while (IsA(expr, RelabelType)) expr = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(expr)->arg);
  return expr;
}

/// The index of the child's column that `expr` refers to; -1 when `expr` is no such column.
int place_below(const Node* expr) {
  if (!IsA(expr, Var)) return -1;
  const auto* var = reinterpret_cast<const Var*>(expr);
  return var->varlevelsup == 0 ? var->varattno - 1 : -1;
}

bool is_limit_without_offset(const LimitState* limit) {
  return limit->limitOffset == nullptr && limit->limitOption == LIMIT_OPTION_COUNT;
}

}  // namespace

std::optional<EngineColumns> EngineColumns::of(PlanState* plan, int count) {
  EngineColumns columns;
  if (!columns.find_source(plan, count)) return std::nullopt;
  if (columns.limit_ != nullptr && !columns.take_limit(columns.limit_)) return std::nullopt;
  columns.columns_.resize(columns.items_.size());
  return columns;
}

bool EngineColumns::find_source(PlanState* plan, int count) {
  std::vector<int> places;  // indexes in the node's rows; -1: constants
  places.reserve(count);
  for (int i = 0; i < count; ++i) places.push_back(i);
  items_.resize(places.size());
  for (PlanState* node = plan; node != nullptr; node = child_of(node)) {
    if (node->qual != nullptr) return false;
    passed_.push_back(node);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0) continue;
      const Node* expr = output_at(node, places[i]);
      places[i] = place_below(expr);
      if (places[i] >= 0) continue;
      if (!IsA(expr, Const)) return false;
      const auto* constant = reinterpret_cast<const Const*>(expr);
      items_[i] = {-1, constant->constvalue, constant->constisnull};
    }
    if (IsA(node, LimitState)) {
      if (limit_ != nullptr || !is_limit_without_offset(reinterpret_cast<LimitState*>(node))) return false;
      limit_ = reinterpret_cast<LimitState*>(node);
    }
    run_ = node::engine_run(node);
    if (run_ == nullptr) continue;
    source_ = reinterpret_cast<CustomScanState*>(node);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] >= static_cast<int>(run_->plan().outputs.size())) return false;
      if (places[i] >= 0) items_[i].output = places[i];
    }
    return run_->has_columns();
  }
  return false;
}

// False when the limit is invalid: LIMIT itself raises the error.
bool EngineColumns::take_limit(LimitState* limit) {
  if (limit->limitCount == nullptr) return true;
  struct Count {
    Datum value;
    bool is_null;
  };
  const Count count = guard([limit] {
    Count c{};
    c.value = ExecEvalExprSwitchContext(limit->limitCount, limit->ps.ps_ExprContext, &c.is_null);
    return c;
  });
  if (count.is_null) return true;
  left_ = DatumGetInt64(count.value);
  return left_ >= 0;
}

bool EngineColumns::next() {
  if (left_ == 0) return false;
  for (PlanState* node : passed_)
    if (node->instrument != nullptr) InstrStartNode(node->instrument);
  const bool found = node::advance_columns(run_);
  rows_ = !found ? 0 : run_->columns() == nullptr ? 1 : std::min(run_->columns()->rows, left_);
  left_ -= rows_;
  for (PlanState* node : passed_)
    if (node->instrument != nullptr) InstrStopNode(node->instrument, static_cast<double>(rows_));
  return found;
}

const std::vector<codec::RegisterColumn>& EngineColumns::columns() {
  const engine::op::ResultBatch* batch = run_->columns();
  TupleTableSlot* slot = source_->ss.ss_ScanTupleSlot;
  if (batch == nullptr) {  // a fallback row
    CustomScanState* source = source_;
    node::QueryRun* run = run_;
    guard([=] {
      ResetExprContext(source->ss.ps.ps_ExprContext);
      MemoryContext caller = MemoryContextSwitchTo(source->ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
      run->fill_row(slot);
      MemoryContextSwitchTo(caller);
    });
  }
  for (size_t i = 0; i < items_.size(); ++i) {
    const Item& item = items_[i];
    codec::RegisterColumn& to = columns_[i];
    to = {};
    if (item.output < 0) {
      to.constant = item.constant;
      to.is_null = item.is_null;
    } else if (batch == nullptr) {
      to.constant = slot->tts_values[item.output];
      to.is_null = slot->tts_isnull[item.output];
    } else {
      const node::OutputSpec& output = run_->plan().outputs[static_cast<size_t>(item.output)];
      const engine::op::ResultColumn& from = batch->columns[static_cast<size_t>(output.index)];
      to.type = output.type.type;
      to.scale = output.type.scale;
      to.length = output.length;
      to.values = from.values;
      to.flags = from.flags;
      to.check_text = run_->sources().may_have_invalid_text();
    }
  }
  return columns_;
}

std::string EngineColumns::origin() const {
  const node::PlanSpec& plan = run_->plan();
  if (limit_ != nullptr || plan.kind != node::PlanKind::kScan || plan.pipelines.size() != 1) return {};
  const node::PipelineSpec& table = plan.pipelines[0];
  const engine::plan::Pipeline& pipeline = plan.program.pipelines[0];
  if (table.relid == 0 || !table.leaves.empty() || table.block_selector >= 0 || !pipeline.quals.empty()) return {};
  std::vector<uint32_t> columns;
  for (const Item& item : items_) {
    if (item.output < 0) return {};
    const auto output = static_cast<size_t>(plan.outputs[static_cast<size_t>(item.output)].index);
    const engine::plan::Node& value = plan.program.nodes[pipeline.outputs[output]];
    if (value.kind != engine::plan::NodeKind::kColumn) return {};
    columns.push_back(value.imm);
  }
  return run_->sources().input(0).open()->origin(columns).name;
}

void EngineColumns::check() const { run_->check_result(); }

}  // namespace strom::pg::fdw_arrow
