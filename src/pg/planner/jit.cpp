// PostgreSQL chooses JIT compilation by the cost of the whole plan. The engine's work does not profit from it.
// Compiling the few expressions above our nodes costs more than it saves.
#include "pg/planner/jit.hpp"

#include "pg/node/node.hpp"

namespace strom::pg::planner {

namespace {

Cost engine_cost(const Plan* plan);

Cost engine_cost(const List* plans) {
  Cost sum = 0;
  ListCell* cell;
  foreach (cell, plans) sum += engine_cost(static_cast<const Plan*>(lfirst(cell)));
  return sum;
}

/// The engine's part of a plan's cost. Unknown kinds of plans count as PostgreSQL's.
Cost engine_cost(const Plan* plan) {
  if (plan == nullptr) return 0;
  switch (nodeTag(plan)) {
    case T_CustomScan: {
      const auto* scan = reinterpret_cast<const CustomScan*>(plan);
      Cost inner = engine_cost(scan->custom_plans);
      if (!node::is_engine_plan(scan)) return inner;
      inner += plan->total_cost;
      ListCell* cell;
      foreach (cell, scan->custom_plans) inner -= static_cast<const Plan*>(lfirst(cell))->total_cost;
      return inner;
    }
    case T_Append: return engine_cost(reinterpret_cast<const Append*>(plan)->appendplans);
    case T_MergeAppend: return engine_cost(reinterpret_cast<const MergeAppend*>(plan)->mergeplans);
    case T_SubqueryScan: return engine_cost(reinterpret_cast<const SubqueryScan*>(plan)->subplan);
    default: return engine_cost(plan->lefttree) + engine_cost(plan->righttree);
  }
}

}  // namespace

void choose_jit(PlannedStmt* statement) {
  if ((statement->jitFlags & PGJIT_PERFORM) == 0) return;
  const Cost engine = engine_cost(statement->planTree) + engine_cost(statement->subplans);
  if (engine <= 0) return;
  const Cost rest = statement->planTree->total_cost - engine;
  if (rest <= jit_above_cost) statement->jitFlags = PGJIT_NONE;
  if (jit_optimize_above_cost >= 0 && rest <= jit_optimize_above_cost) statement->jitFlags &= ~PGJIT_OPT3;
  if (jit_inline_above_cost >= 0 && rest <= jit_inline_above_cost) statement->jitFlags &= ~PGJIT_INLINE;
}

}  // namespace strom::pg::planner
