// From a path and its program to the PlanSpec of its plan. C++ code: throws StatusError and PostgresError. Used by
// make_plan.cpp.
#pragma once

#include "pg/node/plan_spec.hpp"
#include "pg/planner/state/engine_rel.hpp"
#include "pg/planner/plan/plan_slots.hpp"
#include "pg/planner/plan/program_writer.hpp"

namespace strom::pg::planner {

/// Filters of a plan as they are stored: bare clauses.
inline List* bare_clauses(List* quals) { return extract_actual_clauses(quals, false); }

/// Child plans that tell what to read of a table, in planner memory.
struct BlockSelectors {
  List* numbers;  // for each pipeline an Integer: PipelineSpec::block_selector
  List* filters;  // for each pipeline a List of Expr: PipelineSpec::range_filters before they are mapped to slots
};

/// `writer` has written the program, which is taken from it.
node::PlanSpec make_plan_spec(PlannerInfo* root, const EnginePath* path, ProgramWriter& writer, PlanSlots* slots,
                              const BlockSelectors& selectors);

}  // namespace strom::pg::planner
