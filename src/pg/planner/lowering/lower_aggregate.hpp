// Aggrefs to the engine's aggregates. C++ code: throws PostgresError; kUnsupported with a reason for EXPLAIN.
#pragma once

#include "pg/planner/lowering/lower.hpp"

namespace strom::pg::planner {

/// registry::find_aggregate(), which also knows any_value(): any value will do, the lowest as well.
const registry::AggregateInfo* aggregate_of(std::string_view name, int nargs, registry::TypeId type);

/// `aggregate` in plain or in partial form. Its ORDER BY, DISTINCT and direct arguments are declined.
Result<engine::plan::Aggregate> lower_aggregate(Lowering& lowering, engine::plan::Builder& builder,
                                                const Aggref& aggregate);

}  // namespace strom::pg::planner
