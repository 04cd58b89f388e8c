// create_groupingsets_path(), whose parameters differ between versions. May ereport.
#pragma once

#include <type_traits>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

template <class Create, class... Args>
GroupingSetsPath* call_with_groups(Create create, double groups, Args... args) {
  if constexpr (std::is_invocable_v<Create, Args..., double>)
    return create(args..., groups);
  else
    return create(args...);
}

/// PostgreSQL's grouping sets over `path`, with the same sets as `planned`.
inline Path* grouping_sets_over(PlannerInfo* root, Path* path, const GroupingSetsPath* planned,
                                const AggClauseCosts* costs) {
  return reinterpret_cast<Path*>(call_with_groups(create_groupingsets_path, planned->path.rows, root,
                                                  planned->path.parent, path, planned->qual, planned->aggstrategy,
                                                  planned->rollups, costs));
}

/// PostgreSQL 18 marks columns of grouping sets as nullable by the grouping. They then differ from the same columns
/// below the grouping.
constexpr bool kGroupedColumnsAreNullable = PG_VERSION_NUM >= 180000;

/// `expr` in the form that it has below the grouping.
inline Node* below_grouping([[maybe_unused]] PlannerInfo* root, Node* expr) {
#if PG_VERSION_NUM >= 180000
  if (root->group_rtindex > 0) return remove_nulling_relids(expr, bms_make_singleton(root->group_rtindex), nullptr);
#endif
  return expr;
}

}  // namespace strom::pg::compat
