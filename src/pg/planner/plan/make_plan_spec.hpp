// Makes the PlanSpec of a plan from a path and its program. C++ code: throws StatusError and PostgresError. Used by
// make_plan.cpp.
#pragma once

#include "pg/node/plan_spec.hpp"
#include "pg/planner/state/engine_rel.hpp"
#include "pg/planner/plan/plan_slots.hpp"
#include "pg/planner/plan/program_writer.hpp"

namespace strom::pg::planner {

/// The bare clauses of filters, as they are stored in a plan.
inline List* bare_clauses(List* quals) { return extract_actual_clauses(quals, false); }

/// Child plans that select what to read of a table, in planner memory.
struct BlockSelectors {
  List* numbers;  // for each pipeline an Integer: PipelineSpec::block_selector
  List* filters;  // for each pipeline a List of Expr: PipelineSpec::range_filters, not yet mapped to slots
};

/// `writer` has written the program, which this function takes from it.
node::PlanSpec make_plan_spec(PlannerInfo* root, const EnginePath* path, ProgramWriter& writer, PlanSlots* slots,
                              const BlockSelectors& selectors);

}  // namespace strom::pg::planner
