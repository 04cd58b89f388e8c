// create_groupingsets_path(), whose last argument some versions have no use for. May ereport.
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

/// PostgreSQL's grouping sets over `path`, as `planned` has them over another one.
inline Path* grouping_sets_over(PlannerInfo* root, Path* path, const GroupingSetsPath* planned,
                                const AggClauseCosts* costs) {
  return reinterpret_cast<Path*>(call_with_groups(create_groupingsets_path, planned->path.rows, root,
                                                  planned->path.parent, path, planned->qual, planned->aggstrategy,
                                                  planned->rollups, costs));
}

/// PostgreSQL 18 refers to the columns of grouping sets by a range table entry of their own and marks them as nullable
/// by it, which expressions that are put below the grouping would have to lose.
constexpr bool kGroupedColumnsAreNullable = PG_VERSION_NUM >= 180000;

}  // namespace strom::pg::compat
