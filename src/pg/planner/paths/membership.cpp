// x IN (sub-query) and x NOT IN (sub-query), where PostgreSQL keeps a SubPlan; for NOT IN it always does. They become a
// semi or anti join of the scan with the rows of the sub-query. NOT IN is true for every row if the sub-query has no
// rows. Otherwise it is true for rows whose x is not NULL and not among the sub-query's rows, provided that these
// contain no NULL. May ereport.
#include <algorithm>

#include "engine/exec/execution.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/guc/guc.hpp"
#include "pg/planner/costs/cost.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

namespace {

// The SubPlan of `clause`, if its rows do not depend on the filtered row. x <> ALL is NOT IN.
SubPlan* constant_rows(Node* clause, bool* negated) {
  *negated = is_notclause(clause);
  if (*negated) clause = reinterpret_cast<Node*>(get_notclausearg(reinterpret_cast<Expr*>(clause)));
  if (!IsA(clause, SubPlan)) return nullptr;
  auto* subplan = reinterpret_cast<SubPlan*>(clause);
  if (subplan->parParam != NIL || subplan->args != NIL || list_length(subplan->paramIds) != 1) return nullptr;
  if (subplan->subLinkType == ALL_SUBLINK && !*negated) {
    *negated = true;
    return subplan;
  }
  return subplan->subLinkType == ANY_SUBLINK ? subplan : nullptr;
}

// A relation number that the query does not use.
Index relation_of_rows(const PlannerState* state) {
  return static_cast<Index>(std::max(state->scan_count, state->root->simple_rel_array_size));
}

// The comparison with a column instead of the SubPlan's parameter; nullptr when it is not of the form `x = column`.
OpExpr* comparison_with_rows(const PlannerState* state, const SubPlan* subplan) {
  if (!IsA(subplan->testexpr, OpExpr)) return nullptr;
  auto* comparison = static_cast<OpExpr*>(copyObjectImpl(subplan->testexpr));
  if (list_length(comparison->args) != 2) return nullptr;
  if (subplan->subLinkType == ALL_SUBLINK) {
    comparison->opno = get_negator(comparison->opno);
    if (!OidIsValid(comparison->opno)) return nullptr;
    comparison->opfuncid = get_opcode(comparison->opno);
  }
  Node** place = reinterpret_cast<Node**>(&lsecond(comparison->args));
  while (IsA(*place, RelabelType)) place = reinterpret_cast<Node**>(&reinterpret_cast<RelabelType*>(*place)->arg);
  if (IsA(*place, FuncExpr) && reinterpret_cast<FuncExpr*>(*place)->funcformat != COERCE_EXPLICIT_CALL &&
      reinterpret_cast<FuncExpr*>(*place)->args != NIL)
    place = reinterpret_cast<Node**>(&linitial(reinterpret_cast<FuncExpr*>(*place)->args));
  const auto* param = reinterpret_cast<const Param*>(*place);
  if (!IsA(param, Param) || param->paramkind != PARAM_EXEC || param->paramid != linitial_int(subplan->paramIds))
    return nullptr;
  *place = reinterpret_cast<Node*>(makeVar(static_cast<int>(relation_of_rows(state)), 1, param->paramtype,
                                           param->paramtypmod, param->paramcollid, 0));
  return comparison;
}

bool mentions_parameter(Node* expr, const SubPlan* subplan) {
  struct Walk {
    static bool visit(Node* node, void* context) {
      if (node == nullptr) return false;
      const auto* param = reinterpret_cast<const Param*>(node);
      if (IsA(node, Param) && param->paramkind == PARAM_EXEC && param->paramid == *static_cast<int*>(context))
        return true;
      return compat::walk(node, visit, context);
    }
  };
  int parameter = linitial_int(subplan->paramIds);
  return Walk::visit(expr, &parameter);
}

// A relation with the estimates of the sub-query.
RelOptInfo* expected_rows(const Plan* plan) {
  auto* rows = makeNode(RelOptInfo);
  rows->rows = clamp_row_est(plan->plan_rows);
  rows->reltarget = create_empty_pathtarget();
  rows->reltarget->width = plan->plan_width;
  return rows;
}

}  // namespace

EngineMembership* membership_of(PlannerState* state, RestrictInfo* clause) {
  if (!guc::pg_strom::enable_gpujoin || !guc::pg_strom::enable_gpuhashjoin) return nullptr;
  PlannerInfo* root = state->root;
  bool negated;
  SubPlan* subplan = constant_rows(reinterpret_cast<Node*>(clause->clause), &negated);
  if (subplan == nullptr) return nullptr;
  const auto* planned = static_cast<PlannerInfo*>(list_nth(root->glob->subroots, subplan->plan_id - 1));
  // PostgreSQL evaluates the sub-query at the first row that needs it, or never.
  if (contain_volatile_functions(reinterpret_cast<Node*>(planned->parse))) return nullptr;
  OpExpr* comparison = comparison_with_rows(state, subplan);
  if (comparison == nullptr) return nullptr;
  auto* membership = static_cast<EngineMembership*>(palloc0(sizeof(EngineMembership)));
  membership->clause = clause;
  membership->subplan = subplan;
  membership->plan = static_cast<Plan*>(list_nth(root->glob->subplans, subplan->plan_id - 1));
  if (pass_count(expected_rows(membership->plan)) > static_cast<double>(engine::exec::kMostPasses)) return nullptr;
  membership->outer_key = static_cast<Expr*>(linitial(comparison->args));
  membership->inner_key = static_cast<Expr*>(lsecond(comparison->args));
  membership->negated = negated;
  if (why_not_membership_key(state, comparison, &membership->operations) != nullptr) return nullptr;
  if (mentions_parameter(reinterpret_cast<Node*>(membership->outer_key), subplan)) return nullptr;
  return membership;
}

void join_memberships(PlannerInfo* root, EngineInput* input) {
  ListCell* cell;
  foreach (cell, input->scan->memberships) {
    const auto* membership = static_cast<EngineMembership*>(lfirst(cell));
    RelOptInfo* rows = expected_rows(membership->plan);
    auto* join = static_cast<EngineJoin*>(palloc0(sizeof(EngineJoin)));
    join->inner = rows;
    join->membership = membership;
    join->kind = membership->negated ? engine::plan::JoinKind::kAnti : engine::plan::JoinKind::kSemi;
    join->outer_keys = list_make1(membership->outer_key);
    join->inner_keys = list_make1(membership->inner_key);
    join->passes = pass_count(rows);
    join->rows = clamp_row_est(
        input->rows * clause_selectivity(root, reinterpret_cast<Node*>(membership->clause), 0, JOIN_INNER, nullptr));
    const EngineInput probing = *input;
    input->joins = lappend(list_copy(input->joins), join);
    input->rows = join->rows;
    cost_join(input, &probing, join, membership->operations, join->rows);
  }
}

}  // namespace strom::pg::planner
