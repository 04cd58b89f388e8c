// See early_value.hpp.
#include "pg/eval/early_value.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/compat/tree_walk.hpp"

namespace strom::pg::eval {

using boundary::guard;
using boundary::PostgresError;

namespace {

// Runs the sub-queries behind parameters in `node`. They must not run first inside of a subtransaction: its end would
// release the pages that they pin.
bool run_subqueries(Node* node, void* context) {
  if (node == nullptr) return false;
  if (IsA(node, Param) && reinterpret_cast<Param*>(node)->paramkind == PARAM_EXEC) {
    auto* expressions = static_cast<ExprContext*>(context);
    const ParamExecData& value = expressions->ecxt_param_exec_vals[reinterpret_cast<Param*>(node)->paramid];
    if (value.execPlan != nullptr) ExecSetParamPlan(static_cast<SubPlanState*>(value.execPlan), expressions);
  }
  return compat::walk(node, run_subqueries, context);
}

// False for errors that end the query whatever it computes: cancellation, lack of memory.
bool is_about_values(int code) {
  switch (ERRCODE_TO_CATEGORY(code)) {
    case ERRCODE_TRANSACTION_ROLLBACK:
    case ERRCODE_INSUFFICIENT_RESOURCES:
    case ERRCODE_OPERATOR_INTERVENTION: return false;
    default: return true;
  }
}

}  // namespace

std::optional<EarlyValue> evaluate_early(ExprState* compiled, ExprContext* context) {
  guard([=] { run_subqueries(reinterpret_cast<Node*>(compiled->expr), context); });
  const MemoryContext caller = CurrentMemoryContext;
  const ResourceOwner owner = CurrentResourceOwner;
  guard([=] {
    BeginInternalSubTransaction(nullptr);
    MemoryContextSwitchTo(caller);
  });
  const auto end = [=](void (*how)()) {
    guard([=] {
      how();
      MemoryContextSwitchTo(caller);
      CurrentResourceOwner = owner;
    });
  };
  try {
    const EarlyValue value = guard([=] {
      EarlyValue result;
      result.datum = ExecEvalExprSwitchContext(compiled, context, &result.is_null);
      return result;
    });
    end(ReleaseCurrentSubTransaction);
    return value;
  } catch (const PostgresError& error) {
    end(RollbackAndReleaseCurrentSubTransaction);
    if (error.data() == nullptr || !is_about_values(error.data()->sqlerrcode)) throw;
    return std::nullopt;
  }
}

}  // namespace strom::pg::eval
