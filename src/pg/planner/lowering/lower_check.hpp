// Asks whether an expression lowers, without writing a program. Used by the path files; everything may ereport.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// Reason why the engine cannot compute `expr`, palloc'd; nullptr when it can, and then `operations` is increased by
/// what it costs for each row. Columns of engine tables are resolved by `state`, others by their SQL type.
const char* why_not_lowered(PlannerState* state, const Node* expr, int* operations);

/// True unless the engine can compute `expr` for all rows without an error.
bool can_fail(PlannerState* state, const Node* expr);

/// True when the engine computes `expr` and sorts by its values; see engine::plan::is_sortable().
bool is_sorted_by_engine(PlannerState* state, const Node* expr);

/// The same as why_not_lowered() for the two sides of a hash join's key, compared by `clause`, an OpExpr over exactly
/// them.
const char* why_not_key(PlannerState* state, const OpExpr* clause, int* operations);

/// The same where rows of the right side that the engine cannot decide are nobody's.
const char* why_not_membership_key(PlannerState* state, const OpExpr* clause, int* operations);

/// Judges anew what has been asked about, because what is known of columns has changed.
void forget_judgements(PlannerState* state);

/// And for an aggregate in its plain (not partial) form.
const char* why_not_aggregated(PlannerState* state, const Aggref* aggregate, int* operations);

}  // namespace strom::pg::planner
