#include "pg/fdw_gstore/row_change.hpp"

#include "pg/boundary/new_row.hpp"
#include "pg/fdw_gstore/change_rules.hpp"
#include "pg/fdw_gstore/row_slot.hpp"

namespace strom::pg::fdw_gstore {

namespace {

/// Checks constraints for the old row with the new values, which were computed from it.
void check_new_row(const RowChange* change, const TupleTableSlot* values) {
  TupleTableSlot* checked = change->checked;
  copy_values(change->scan->ss_ScanTupleSlot, checked);
  for (size_t i = 0; i < change->table->columns.size(); ++i) {
    if (change->set[i] < 0) continue;
    const int at = change->table->columns[i].attnum - 1;
    checked->tts_values[at] = values->tts_values[change->set[i]];
    checked->tts_isnull[at] = values->tts_isnull[change->set[i]];
  }
  ExecStoreVirtualTuple(checked);
  boundary::check_constraints(change->scan->ps.state, change->target, checked, false);
}

/// The values of the new version: those that the statement sets, and for other columns those of `version`.
const store::rows::Cell* new_cells(const RowChange* change, store::Slot version) {
  ProjectionInfo* projection = change->scan->ps.ps_ProjInfo;
  TupleTableSlot* values = projection != nullptr ? ExecProject(projection) : change->scan->ss_ScanTupleSlot;
  slot_getallattrs(values);
  if (change->checked != nullptr) check_new_row(change, values);
  for (uint32_t i = 0; i < change->table->columns.size(); ++i) {
    const int from = change->set[i];
    if (from < 0)
      change->cells[i] = change->table->rows->read(version, i);
    else
      store::set_cell(change->table->columns[i], values->tts_values[from], values->tts_isnull[from], &change->spaces[i],
                      &change->cells[i]);
  }
  return change->cells;
}

}  // namespace

bool has_constraints(const Relation relation) {
  const TupleConstr* constraints = RelationGetDescr(relation)->constr;
  return constraints != nullptr && (constraints->has_not_null || constraints->num_check > 0);
}

void begin_row_change(RowChange* change, const List* columns) {
  const size_t count = change->table->columns.size();
  change->spaces = static_cast<store::CellSpace*>(palloc(count * sizeof(store::CellSpace)));
  change->cells = static_cast<store::rows::Cell*>(palloc(count * sizeof(store::rows::Cell)));
  change->set = static_cast<int*>(palloc(count * sizeof(int)));
  change->checked = nullptr;
  for (size_t i = 0; i < count; ++i) {
    change->set[i] = -1;
    ListCell* cell;
    foreach (cell, columns)
      if (lfirst_int(cell) == change->table->columns[i].attnum) change->set[i] = foreach_current_index(cell);
  }
  if (!change->is_update || !has_constraints(change->relation)) return;
  change->checked = ExecInitExtraTupleSlot(change->scan->ps.state, RelationGetDescr(change->relation), &TTSOpsVirtual);
  for (size_t i = 0; i < count; ++i) change->wanted[i] = true;
}

bool change_row(const RowChange* change, store::Slot version) {
  for (;;) {
    const store::rows::Cell* cells = change->is_update ? new_cells(change, version) : nullptr;
    const store::EndOutcome outcome = store::end_row(change->table, change->relation, version, change->command);
    switch (outcome.result) {
      case store::EndResult::kDone:
        if (change->is_update) store::replace_row(change->table, change->relation, version, cells, change->command);
        return true;
      case store::EndResult::kOwn:
        check_own(outcome, change->command, change->is_update ? "updated" : "deleted");
        return false;
      case store::EndResult::kDeleted: check_deleted(); return false;
      case store::EndResult::kUpdated: break;
    }
    check_updated();
    version = outcome.follower;
    fill_slot(change->table, version, change->wanted, change->scan->ss_ScanTupleSlot);
    if (!change->meets_conditions(change->scan)) return false;
  }
}

}  // namespace strom::pg::fdw_gstore
