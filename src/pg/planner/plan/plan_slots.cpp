#include "pg/planner/plan/plan_slots.hpp"

namespace strom::pg::planner {

namespace {

struct Column {
  int32_t varno, attnum;
};

struct ColumnSlot {
  Column column;  // the key
  int slot;       // of the first one, from 1
  List* vars;     // since PostgreSQL 16 there may be several, above and below an outer join
};

/// False when the same Var already has a place.
bool note_place(PlanSlots* slots, Var* var) {
  const Column column = {static_cast<int32_t>(var->varno), var->varattno};
  bool found;
  auto* place = static_cast<ColumnSlot*>(hash_search(slots->places, &column, HASH_ENTER, &found));
  if (!found) {
    place->slot = list_length(slots->exprs) + 1;
    place->vars = NIL;
  }
  if (list_member(place->vars, var)) return false;
  place->vars = lappend(place->vars, var);
  return true;
}

}  // namespace

PlanSlots* make_slots() {
  HASHCTL control;
  MemSet(&control, 0, sizeof(control));
  control.keysize = sizeof(Column);
  control.entrysize = sizeof(ColumnSlot);
  control.hcxt = CurrentMemoryContext;
  auto* slots = static_cast<PlanSlots*>(palloc0(sizeof(PlanSlots)));
  slots->places = hash_create("engine plan's columns", 32, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  return slots;
}

void add_vars(PlanSlots* slots, const void* exprs) {
  constexpr int kPullAll = PVC_RECURSE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS;
  ListCell* cell;
  foreach (cell, pull_var_clause(static_cast<Node*>(const_cast<void*>(exprs)), kPullAll))
    if (note_place(slots, static_cast<Var*>(lfirst(cell)))) slots->exprs = lappend(slots->exprs, lfirst(cell));
}

void add_exprs(PlanSlots* slots, const List* exprs) {
  ListCell* cell;
  foreach (cell, exprs) {
    if (IsA(lfirst(cell), Var)) note_place(slots, static_cast<Var*>(lfirst(cell)));
    slots->exprs = lappend(slots->exprs, lfirst(cell));
  }
}

int slot_of(const PlanSlots* slots, Index varno, AttrNumber attnum) {
  const Column column = {static_cast<int32_t>(varno), attnum};
  const auto* place = static_cast<const ColumnSlot*>(hash_search(slots->places, &column, HASH_FIND, nullptr));
  return place != nullptr ? place->slot : 0;
}

}  // namespace strom::pg::planner
