// Differences between PostgreSQL versions in making foreign paths. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

extern "C" {
#include "optimizer/appendinfo.h"
}

namespace strom::pg::compat {

/// A scan path of a foreign table. `disabled`: the user has switched this kind of path off, so any other path should
/// win. Versions before 18 express this by a high cost.
inline ForeignPath* make_foreign_scan_path(PlannerInfo* root, RelOptInfo* rel, double rows, bool disabled,
                                           Cost startup_cost, Cost total_cost, List* fdw_private) {
#if PG_VERSION_NUM >= 180000
  return create_foreignscan_path(root, rel, nullptr, rows, disabled ? 1 : 0, startup_cost, total_cost, NIL,
                                 rel->lateral_relids, nullptr, NIL, fdw_private);
#else
  if (disabled) {
    startup_cost += disable_cost;
    total_cost += disable_cost;
  }
#if PG_VERSION_NUM >= 170000
  return create_foreignscan_path(root, rel, nullptr, rows, startup_cost, total_cost, NIL, rel->lateral_relids, nullptr,
                                 NIL, fdw_private);
#else
  return create_foreignscan_path(root, rel, nullptr, rows, startup_cost, total_cost, NIL, rel->lateral_relids, nullptr,
                                 fdw_private);
#endif
#endif
}

/// An expression about a parent, as one about its child `child`.
inline Node* for_child(PlannerInfo* root, Node* node, RelOptInfo* child) {
#if PG_VERSION_NUM >= 160000
  return adjust_appendrel_attrs_multilevel(root, node, child, child->top_parent);
#else
  return adjust_appendrel_attrs_multilevel(root, node, child->relids, child->top_parent_relids);
#endif
}

}  // namespace strom::pg::compat
