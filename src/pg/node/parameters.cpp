#include "pg/node/parameters.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/compat/tree_walk.hpp"

namespace strom::pg::node {

using boundary::guard;
using engine::plan::Constant;

namespace {

// Replaces references to the node's outputs by the expressions behind them. setrefs.c makes such references, but a
// parameter cannot read outputs. May ereport.
Node* without_references(Node* node, void* tlist) {
  if (node != nullptr && IsA(node, Var) && reinterpret_cast<Var*>(node)->varno == INDEX_VAR) {
    const int position = reinterpret_cast<Var*>(node)->varattno;
    return reinterpret_cast<Node*>(list_nth_node(TargetEntry, static_cast<List*>(tlist), position - 1)->expr);
  }
  return node == nullptr ? nullptr : compat::mutate(node, without_references, tlist);
}

}  // namespace

ExprState* Parameters::compiled(int param) {
  const auto index = static_cast<size_t>(param);
  if (expressions_.size() <= index) expressions_.resize(index + 1);
  if (expressions_[index] != nullptr) return expressions_[index];
  auto* expression = static_cast<Node*>(list_nth(plan_.custom_scan->custom_exprs, param));
  List* tlist = plan_.custom_scan->custom_scan_tlist;
  PlanState* parent = &state_->ss.ps;
  expressions_[index] = guard([=] {
    MemoryContext caller = MemoryContextSwitchTo(parent->state->es_query_cxt);
    ExprState* made = ExecInitExpr(reinterpret_cast<Expr*>(without_references(expression, tlist)), parent);
    MemoryContextSwitchTo(caller);
    return made;
  });
  return expressions_[index];
}

// nullopt: evaluation raised an error. It only counts for rows that need the value; PostgreSQL will raise it for them.
std::optional<eval::EarlyValue> Parameters::value_of(ExprState* expression, bool may_raise) {
  ExprContext* context = state_->ss.ps.ps_ExprContext;
  if (may_raise && !IsInParallelMode()) return eval::evaluate_early(expression, context);
  return guard([=] {
    eval::EarlyValue result;
    result.datum = ExecEvalExprSwitchContext(expression, context, &result.is_null);
    return result;
  });
}

Constant Parameters::evaluate(const Constant& constant) {
  const std::optional<eval::EarlyValue> found = value_of(compiled(constant.param), constant.may_raise);
  Constant value{constant.type, false, -1, {}, !found};
  if (!found) return value;
  value.is_null = found->is_null;
  if (!value.is_null)
    value.unheld = codec::register_bytes(constant.type.type, constant.type.scale, found->datum, &value.bytes) !=
                   codec::Encoded::kDone;
  return value;
}

std::vector<Constant> Parameters::evaluate(const Subplans& subplans) {
  std::vector<Constant> values;
  for (const Constant& constant : plan_.program.constants) {
    if (constant.param < 0) continue;
    const auto index = static_cast<size_t>(constant.param);
    if (values.size() <= index) values.resize(index + 1);
    if (subplans.is_fact(constant.param))
      values[index] = {constant.type, false, -1, {}, true};
    else
      values[index] = evaluate(constant);
  }
  return values;
}

}  // namespace strom::pg::node
