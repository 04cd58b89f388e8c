// INSERT, COPY, UPDATE, DELETE and TRUNCATE on store tables. May ereport.
#include "pg/boundary/new_row.hpp"
#include "pg/fdw_gstore/callbacks.hpp"
#include "pg/fdw_gstore/change_rules.hpp"
#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/visibility.hpp"

namespace store = strom::pg::store;
namespace gstore = strom::pg::fdw_gstore;
namespace boundary = strom::pg::boundary;

namespace {

/// ResultRelInfo::ri_FdwState: plain data.
struct Modify {
  store::Table* table;
  ModifyTableState* state;  // nullptr: COPY
  CommandId command;
  AttrNumber tid;         // in the plan's rows, for UPDATE and DELETE
  bool skips_duplicates;  // ON CONFLICT DO NOTHING
  store::CellSpace* spaces;
  store::rows::Cell* cells;
};

constexpr int kTogether = 64;  // rows of a batch

Modify* begin(ModifyTableState* state, ResultRelInfo* target, bool skips_duplicates) {
  auto* modify = static_cast<Modify*>(palloc0(sizeof(Modify)));
  modify->table = store::open_table(target->ri_RelationDesc);
  modify->state = state;
  // COPY has no plan, and its state has no command number.
  modify->command =
      state != nullptr && state->ps.plan != nullptr ? state->ps.state->es_output_cid : GetCurrentCommandId(true);
  const size_t columns = modify->table->columns.size();
  modify->spaces = static_cast<store::CellSpace*>(palloc(columns * sizeof(store::CellSpace)));
  modify->cells = static_cast<store::rows::Cell*>(palloc(columns * sizeof(store::rows::Cell)));
  modify->skips_duplicates = skips_duplicates;
  target->ri_FdwState = modify;
  return modify;
}

const store::rows::Cell* cells_of(EState* estate, Modify* modify, TupleTableSlot* slot) {
  MemoryContext before = MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
  gstore::cells_of(modify->table, slot, modify->spaces, modify->cells);
  MemoryContextSwitchTo(before);
  return modify->cells;
}

store::Slot row_of(const Modify* modify, TupleTableSlot* plan_slot) {
  bool is_null;
  const Datum tid = ExecGetJunkAttribute(plan_slot, modify->tid, &is_null);
  if (is_null) elog(ERROR, "ctid is NULL");
  return gstore::slot_of(reinterpret_cast<ItemPointer>(DatumGetPointer(tid)));
}

/// fill_slot() with memory that lives until the statement's next row.
void fill_for_row(EState* estate, const Modify* modify, store::Slot row, TupleTableSlot* slot) {
  MemoryContext before = MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
  gstore::fill_slot(modify->table, row, nullptr, slot);
  MemoryContextSwitchTo(before);
}

/// Called when the row has a newer version than the statement's snapshot sees. Returns the statement's result for that
/// version; nullptr: it does not apply.
TupleTableSlot* look_again(const Modify* modify, ResultRelInfo* target, store::Slot version) {
  gstore::check_updated();
  EPQState* again = &modify->state->mt_epqstate;
  TupleTableSlot* slot = EvalPlanQualSlot(again, target->ri_RelationDesc, target->ri_RangeTableIndex);
  fill_for_row(modify->state->ps.state, modify, version, slot);
  slot->tts_tableOid = RelationGetRelid(target->ri_RelationDesc);
  TupleTableSlot* plan_slot = EvalPlanQual(again, target->ri_RelationDesc, target->ri_RangeTableIndex, slot);
  return TupIsNull(plan_slot) ? nullptr : plan_slot;
}

}  // namespace

int strom_gstore_updatable(Relation) { return (1 << CMD_INSERT) | (1 << CMD_UPDATE) | (1 << CMD_DELETE); }

void strom_gstore_add_targets(PlannerInfo* root, Index rti, RangeTblEntry*, Relation) {
  Var* tid = makeVar(static_cast<int>(rti), SelfItemPointerAttributeNumber, TIDOID, -1, InvalidOid, 0);
  add_row_identity_var(root, tid, rti, "ctid");
}

List* strom_gstore_plan_modify(PlannerInfo*, ModifyTable* plan, Index, int) {
  return list_make1(makeInteger(plan->onConflictAction == ONCONFLICT_NOTHING ? 1 : 0));
}

void strom_gstore_begin_modify(ModifyTableState* state, ResultRelInfo* target, List* fdw_private, int, int eflags) {
  if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0) return;
  Modify* modify = begin(state, target, intVal(linitial(fdw_private)) != 0);
  if (state->operation == CMD_INSERT) return;
  modify->tid = ExecFindJunkAttributeInTlist(outerPlanState(state)->plan->targetlist, "ctid");
  if (!AttributeNumberIsValid(modify->tid)) elog(ERROR, "could not find junk ctid column");
}

void strom_gstore_begin_insert(ModifyTableState* state, ResultRelInfo* target) {
  // An UPDATE moves rows of other partitions to one of its targets, whose rows it changes as well.
  if (target->ri_FdwState != nullptr) return;
  const auto* plan = state != nullptr ? reinterpret_cast<const ModifyTable*>(state->ps.plan) : nullptr;
  begin(state, target, plan != nullptr && plan->onConflictAction == ONCONFLICT_NOTHING);
}

TupleTableSlot* strom_gstore_insert(EState* estate, ResultRelInfo* target, TupleTableSlot* slot, TupleTableSlot*) {
  auto* modify = static_cast<Modify*>(target->ri_FdwState);
  boundary::check_policies(estate, target, slot, WCO_RLS_INSERT_CHECK);
  boundary::check_constraints(estate, target, slot, false);
  const store::Slot made = store::insert_row(modify->table, target->ri_RelationDesc, cells_of(estate, modify, slot),
                                             modify->command, modify->skips_duplicates);
  if (made == store::rows::kNoSlot) return nullptr;
  gstore::set_tid(made, &slot->tts_tid);
  return slot;
}

/// Rows of COPY are inserted together, unless triggers or checks look at them; it asks for no batches where volatile
/// functions may do so. What INSERT can do together is done by bulk_insert.cpp.
int strom_gstore_batch_size(ResultRelInfo* target) {
  const auto* modify = static_cast<const Modify*>(target->ri_FdwState);
  const TriggerDesc* triggers = target->ri_TrigDesc;
  const bool has_triggers =
      triggers != nullptr && (triggers->trig_insert_before_row || triggers->trig_insert_after_row);
  const bool is_looked_at = target->ri_projectReturning != nullptr || target->ri_WithCheckOptions != NIL;
  const bool is_copy = modify != nullptr && modify->state != nullptr && modify->state->ps.plan == nullptr;
  return has_triggers || is_looked_at || !is_copy || modify->table->key() < 0 ? 1 : kTogether;
}

/// Inserting waits for memory of the index, at random places. So the memory for all rows of the batch is prefetched
/// first.
TupleTableSlot** strom_gstore_insert_batch(EState* estate, ResultRelInfo* target, TupleTableSlot** slots,
                                           TupleTableSlot**, int* count) {
  const auto* modify = static_cast<const Modify*>(target->ri_FdwState);
  const store::StoreColumn& column = modify->table->key_column();
  store::CellSpace spaces[kTogether];
  store::rows::Cell keys[kTogether];
  int known = 0;
  MemoryContext before = MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
  for (int i = 0; i < *count && known < kTogether; ++i) {
    bool is_null;
    const Datum key = slot_getattr(slots[i], column.attnum, &is_null);
    if (is_null) continue;
    store::set_cell(column, key, false, &spaces[known], &keys[known]);
    ++known;
  }
  MemoryContextSwitchTo(before);
  store::fetch_index(modify->table, keys, known);
  for (int i = 0; i < *count; ++i) strom_gstore_insert(estate, target, slots[i], nullptr);
  return slots;
}

TupleTableSlot* strom_gstore_update(EState* estate, ResultRelInfo* target, TupleTableSlot* slot,
                                    TupleTableSlot* plan_slot) {
  auto* modify = static_cast<Modify*>(target->ri_FdwState);
  Relation relation = target->ri_RelationDesc;
  store::Slot row = row_of(modify, plan_slot);
  for (;;) {
    boundary::check_policies(estate, target, slot, WCO_RLS_UPDATE_CHECK);
    boundary::check_constraints(estate, target, slot, true);
    const store::EndOutcome outcome = store::end_row(modify->table, relation, row, modify->command);
    switch (outcome.result) {
      case store::EndResult::kDone:
        row = store::replace_row(modify->table, relation, row, cells_of(estate, modify, slot), modify->command);
        gstore::set_tid(row, &slot->tts_tid);
        return slot;
      case store::EndResult::kOwn: gstore::check_own(outcome, modify->command, "updated"); return nullptr;
      case store::EndResult::kDeleted: gstore::check_deleted(); return nullptr;
      case store::EndResult::kUpdated: break;
    }
    row = outcome.follower;
    TupleTableSlot* again = look_again(modify, target, row);
    if (again == nullptr) return nullptr;
    fill_for_row(estate, modify, row, target->ri_oldTupleSlot);
    slot = ExecGetUpdateNewTuple(target, again, target->ri_oldTupleSlot);
    slot->tts_tableOid = RelationGetRelid(relation);
    if (relation->rd_att->constr != nullptr && relation->rd_att->constr->has_generated_stored)
      ExecComputeStoredGenerated(target, estate, slot, CMD_UPDATE);
  }
}

TupleTableSlot* strom_gstore_delete(EState* estate, ResultRelInfo* target, TupleTableSlot* slot,
                                    TupleTableSlot* plan_slot) {
  auto* modify = static_cast<Modify*>(target->ri_FdwState);
  store::Slot row = row_of(modify, plan_slot);
  for (;;) {
    const store::EndOutcome outcome = store::end_row(modify->table, target->ri_RelationDesc, row, modify->command);
    switch (outcome.result) {
      case store::EndResult::kDone:
        if (target->ri_projectReturning != nullptr) fill_for_row(estate, modify, row, slot);
        return slot;
      case store::EndResult::kOwn: gstore::check_own(outcome, modify->command, "deleted"); return nullptr;
      case store::EndResult::kDeleted: gstore::check_deleted(); return nullptr;
      case store::EndResult::kUpdated: break;
    }
    row = outcome.follower;
    if (look_again(modify, target, row) == nullptr) return nullptr;
  }
}

void strom_gstore_truncate(List* relations, DropBehavior, bool) {
  ListCell* cell;
  foreach (cell, relations) {
    auto* relation = static_cast<Relation>(lfirst(cell));
    store::Table* table = store::open_table(relation);
    const CommandId command = GetCurrentCommandId(true);
    const uint32_t used = table->rows->used_slots();
    // No other session uses the table now. Older snapshots must still see the rows.
    for (store::Slot slot = 1; slot < used; ++slot) {
      constexpr store::Slot kOften = 0xFFF;
      if ((slot & kOften) == 0) CHECK_FOR_INTERRUPTS();
      if (table->rows->has_row(slot)) store::end_row(table, relation, slot, command);
    }
  }
}
