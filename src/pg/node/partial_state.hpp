// Transition states of aggregates in PostgreSQL's own formats, as partial aggregation passes them to final aggregation.
// May ereport; results are palloc'd.
#pragma once

#include "engine/exec/execution.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::node {

/// One aggregate of the plan: its accumulator in the engine, and the format of the state for PostgreSQL's combine
/// function.
struct PartialType {
  registry::AccKind acc;
  registry::PartialFormat format;
  registry::TypeId argument;  // kBool for count(*)
  int scale;                  // of a numeric argument
  int length;                 // -1
};

/// The state of group `row` of `aggregate`.
Datum partial_state(const PartialType& type, const engine::op::ResultAggregate& aggregate, int64_t row, bool* is_null);

/// True when final_value() can compute the result.
bool has_final_value(const PartialType& type);

/// The result of the aggregate for group `row`; the one of avg() if `average`.
Datum final_value(const PartialType& type, bool average, const engine::op::ResultAggregate& aggregate, int64_t row,
                  bool* is_null);

/// The state after a single input `argument` (of the aggregate's SQL argument type), with `second` for aggregates of
/// two arguments. `argument_null`: one of them is NULL. `counted`: the row passes the aggregate's filter.
Datum partial_state_of_row(const PartialType& type, Datum argument, Datum second, bool argument_null, bool counted,
                           bool* is_null);

}  // namespace strom::pg::node
