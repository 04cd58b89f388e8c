// The conditions that let PostgreSQL stop a window early (`row_number() <= 3` of an outer query). Versions keep them in
// different places. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// A condition `function <operator> limit` or `limit <operator> function`.
struct WindowLimit {
  const WindowFunc* function;
  Oid op;
  bool function_is_left;
  const Node* limit;
};

/// Appends the conditions on `function` to `limits`, a list of WindowLimit*.
inline List* add_window_limits(List* limits, const WindowClause* window, const WindowFunc* function) {
  ListCell* cell;
#if PG_VERSION_NUM >= 170000
  (void)window;
  foreach (cell, function->runCondition) {
    const auto* condition = lfirst_node(WindowFuncRunCondition, cell);
    auto* limit = static_cast<WindowLimit*>(palloc(sizeof(WindowLimit)));
    *limit = {function, condition->opno, condition->wfunc_left, reinterpret_cast<const Node*>(condition->arg)};
    limits = lappend(limits, limit);
  }
#else
  foreach (cell, window->runCondition) {
    const auto* condition = static_cast<const OpExpr*>(lfirst(cell));
    if (!IsA(condition, OpExpr) || list_length(condition->args) != 2) continue;
    const bool left = equal(linitial(condition->args), function);
    if (!left && !equal(lsecond(condition->args), function)) continue;
    auto* limit = static_cast<WindowLimit*>(palloc(sizeof(WindowLimit)));
    *limit = {function, condition->opno, left,
              static_cast<const Node*>(left ? lsecond(condition->args) : linitial(condition->args))};
    limits = lappend(limits, limit);
  }
#endif
  return limits;
}

}  // namespace strom::pg::compat
