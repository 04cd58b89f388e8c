// The columns of an engine plan's custom_scan_tlist. All expressions that the node evaluates or shows refer to them.
// May ereport. Used by make_plan.cpp.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// Expressions in their order; columns are found by their numbers.
struct PlanSlots {
  List* exprs;
  HTAB* places;  // of Vars
};

PlanSlots* make_slots();

/// Appends the columns of `exprs`, a List or Node, that are not in the list yet.
void add_vars(PlanSlots* slots, const void* exprs);

/// Appends all of `exprs`, columns or not.
void add_exprs(PlanSlots* slots, const List* exprs);

/// The number of a column, from 1; 0 when it is not in the list.
int slot_of(const PlanSlots* slots, Index varno, AttrNumber attnum);

}  // namespace strom::pg::planner
