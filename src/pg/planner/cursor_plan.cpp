#include "pg/planner/cursor_plan.hpp"

#include "pg/node/node.hpp"
#include "pg/node/plan_spec.hpp"

namespace strom::pg::planner {

namespace {

// True if the planner may replace the function, which is in SQL, by its statement.
bool may_be_inlined(const RangeTblEntry* entry) {
  ListCell* cell;
  foreach (cell, entry->functions) {
    const auto* call = reinterpret_cast<const FuncExpr*>(static_cast<RangeTblFunction*>(lfirst(cell))->funcexpr);
    if (IsA(call, FuncExpr) && call->funcid >= FirstNormalObjectId) return true;
  }
  return false;
}

// False for catalogs, which are left to PostgreSQL, and foreign tables, whose scans never move backwards.
bool may_be_replaced(const RangeTblEntry* entry) {
  switch (entry->rtekind) {
    case RTE_RELATION: return entry->relid >= FirstNormalObjectId && entry->relkind != RELKIND_FOREIGN_TABLE;
    case RTE_SUBQUERY: return may_replace_scan(entry->subquery);
    case RTE_FUNCTION: return may_be_inlined(entry);
    default: return false;
  }
}

bool replaces_scan(const Plan* plan, const List* tables);

bool replaces_scan(const List* plans, const List* tables) {
  ListCell* cell;
  foreach (cell, plans)
    if (replaces_scan(static_cast<const Plan*>(lfirst(cell)), tables)) return true;
  return false;
}

bool replaces_scan(const Plan* plan, const List* tables) {
  if (plan == nullptr) return false;
  switch (nodeTag(plan)) {
    case T_Result:
    case T_Limit:
    case T_LockRows: return replaces_scan(plan->lefttree, tables);
    case T_SubqueryScan: return replaces_scan(reinterpret_cast<const SubqueryScan*>(plan)->subplan, tables);
    case T_Append: return replaces_scan(reinterpret_cast<const Append*>(plan)->appendplans, tables);
    case T_CustomScan: {
      const auto* scan = reinterpret_cast<const CustomScan*>(plan);
      return node::is_engine_plan(scan) && node::plan_kind(scan) == node::PlanKind::kScan &&
             list_nth_node(RangeTblEntry, tables, static_cast<int>(scan->scan.scanrelid) - 1)->relkind !=
                 RELKIND_FOREIGN_TABLE;
    }
    default: return false;
  }
}

}  // namespace

bool may_replace_scan(const Query* parse) {
  check_stack_depth();
  if (parse->commandType != CMD_SELECT || parse->hasAggs) return false;
  ListCell* cell;
  foreach (cell, parse->rtable)
    if (may_be_replaced(static_cast<const RangeTblEntry*>(lfirst(cell)))) return true;
  foreach (cell, parse->cteList) {
    const auto* query = reinterpret_cast<const Query*>(static_cast<CommonTableExpr*>(lfirst(cell))->ctequery);
    if (may_replace_scan(query)) return true;  // the planner may inline its query
  }
  return false;
}

bool replaces_scan(const PlannedStmt* plan) { return replaces_scan(plan->planTree, plan->rtable); }

}  // namespace strom::pg::planner
