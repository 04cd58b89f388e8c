// The columns of an engine plan's custom_scan_tlist, which everything that the node evaluates or shows refers to. May
// ereport. Used by make_plan.cpp.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::planner {

/// Expressions in their order, found by the column that they are.
struct PlanSlots {
  List* exprs;
  HTAB* places;  // of Vars
};

PlanSlots* make_slots();

/// Appends the columns of `exprs`, a List or Node, that are not there yet.
void add_vars(PlanSlots* slots, const void* exprs);

/// Appends all of `exprs`, columns or not.
void add_exprs(PlanSlots* slots, const List* exprs);

/// The number of a column, from 1 on; 0 when it is not there.
int slot_of(const PlanSlots* slots, Index varno, AttrNumber attnum);

}  // namespace strom::pg::planner
