// Asks whether an expression can be lowered, without writing a program. Used by the path files; everything may ereport.
#pragma once

#include "pg/planner/state/engine_rel.hpp"

namespace strom::pg::planner {

/// The reason why the engine cannot compute `expr`, palloc'd; nullptr when it can. In that case its number of
/// operations for each row is added to `operations`. Columns of engine tables are resolved by `state`, others by their
/// SQL type.
const char* why_not_lowered(PlannerState* state, const Node* expr, int* operations);

/// False if the engine can compute `expr` for all rows without an error.
bool can_fail(PlannerState* state, const Node* expr);

/// True when the engine computes `expr` and sorts by its values; see engine::plan::is_sortable().
bool is_sorted_by_engine(PlannerState* state, const Node* expr);

/// Like why_not_lowered(), for the key of a hash join. `clause` is an OpExpr that compares the key's two sides.
const char* why_not_key(PlannerState* state, const OpExpr* clause, int* operations);

/// Like why_not_key(), where the right side must not have fallback rows.
const char* why_not_membership_key(PlannerState* state, const OpExpr* clause, int* operations);

/// Drops cached results, because facts about columns have changed.
void forget_judgements(PlannerState* state);

/// Like why_not_lowered(), for an aggregate in its plain (not partial) form.
const char* why_not_aggregated(PlannerState* state, const Aggref* aggregate, int* operations);

}  // namespace strom::pg::planner
