// Aggrefs to the engine's aggregates. C++ code: throws PostgresError; kUnsupported with a reason for EXPLAIN.
#pragma once

#include "pg/planner/lower.hpp"

namespace strom::pg::planner {

/// `aggregate` in plain or in partial form. Its ORDER BY, DISTINCT and direct arguments are declined.
Result<engine::plan::Aggregate> lower_aggregate(Lowering& lowering, engine::plan::Builder& builder,
                                                const Aggref& aggregate);

}  // namespace strom::pg::planner
