// Lowers Aggrefs to aggregates of the engine. C++ code: throws PostgresError; kUnsupported with a reason for EXPLAIN.
#pragma once

#include "pg/planner/lowering/lower.hpp"

namespace strom::pg::planner {

/// Like registry::find_aggregate(), but includes any_value(), for which any value will do, so the engine takes the
/// lowest.
const registry::AggregateInfo* aggregate_of(std::string_view name, int nargs, registry::TypeId type);

/// Lowers `aggregate` in plain or partial form. ORDER BY, DISTINCT and direct arguments are unsupported.
Result<engine::plan::Aggregate> lower_aggregate(Lowering& lowering, engine::plan::Builder& builder,
                                                const Aggref& aggregate);

}  // namespace strom::pg::planner
