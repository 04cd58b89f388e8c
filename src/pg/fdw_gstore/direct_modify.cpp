// UPDATE and DELETE that need only a scan of the store table: the scan itself changes the rows that it finds, so no row
// passes through the executor's nodes. May ereport.
#include "pg/fdw_gstore/callbacks.hpp"
#include "pg/fdw_gstore/change_rules.hpp"
#include "pg/fdw_gstore/plan_private.hpp"
#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/fdw_gstore/store_scan.hpp"
#include "pg/store/server_headers.hpp"

namespace store = strom::pg::store;
namespace gstore = strom::pg::fdw_gstore;
using gstore::StoreScan;

/// Plain data for StoreScan::modify.
struct gstore::DirectModify {
  CommandId command;
  bool is_update, counts_rows;
  int* set;  // for each column of the table: index of its new value in the scan's output; -1: not changed
  store::CellSpace* spaces;
  store::rows::Cell* cells;
  TupleTableSlot* checked;  // new rows, to check constraints; nullptr: no constraints
};

using gstore::DirectModify;

namespace {

/// The scan of table `rti` directly below the statement; nullptr: there is a node between them.
ForeignScan* scan_below(ModifyTable* plan, Index rti, int subplan) {
  Plan* below = outerPlan(plan);
  if (IsA(below, Append)) {
    const List* parts = reinterpret_cast<Append*>(below)->appendplans;
    if (subplan >= list_length(parts)) return nullptr;
    below = static_cast<Plan*>(list_nth(parts, subplan));
  }
  if (!IsA(below, ForeignScan)) return nullptr;
  auto* scan = reinterpret_cast<ForeignScan*>(below);
  return scan->scan.scanrelid == rti ? scan : nullptr;
}

/// True if setting the columns may move a row to another partition.
bool may_move(Oid relid, const List* columns) {
  if (!get_rel_relispartition(relid)) return false;
  Relation relation = table_open(relid, NoLock);
  Bitmapset* attributes = nullptr;
  pull_varattnos(reinterpret_cast<Node*>(RelationGetPartitionQual(relation)), 1, &attributes);
  table_close(relation, NoLock);
  bool found = false;
  ListCell* cell;
  foreach (cell, columns)
    found = found || bms_is_member(lfirst_int(cell) - FirstLowInvalidHeapAttributeNumber, attributes);
  return found;
}

/// Replaces ctid and whole rows by NULL. Only ModifyTable needs them, and it gets no rows.
List* without_junk(List* targets) {
  List* kept = NIL;
  ListCell* cell;
  foreach (cell, targets) {
    TargetEntry* entry = flatCopyTargetEntry(lfirst_node(TargetEntry, cell));
    Node* value = reinterpret_cast<Node*>(entry->expr);
    if (entry->resjunk)
      entry->expr = reinterpret_cast<Expr*>(makeNullConst(exprType(value), exprTypmod(value), exprCollation(value)));
    kept = lappend(kept, entry);
  }
  return kept;
}

bool has_constraints(const Relation relation) {
  const TupleConstr* constraints = RelationGetDescr(relation)->constr;
  return constraints != nullptr && (constraints->has_not_null || constraints->num_check > 0);
}

/// Checks constraints for the old row with the new values, which were computed from it.
void check_new_row(ForeignScanState* node, const StoreScan* scan, const TupleTableSlot* values) {
  const DirectModify* modify = scan->modify;
  const TupleTableSlot* row = node->ss.ss_ScanTupleSlot;
  TupleTableSlot* checked = modify->checked;
  ExecClearTuple(checked);
  const auto attributes = static_cast<size_t>(checked->tts_tupleDescriptor->natts);
  std::memcpy(checked->tts_values, row->tts_values, attributes * sizeof(Datum));
  std::memcpy(checked->tts_isnull, row->tts_isnull, attributes * sizeof(bool));
  for (size_t i = 0; i < scan->table->columns.size(); ++i) {
    if (modify->set[i] < 0) continue;
    const int at = scan->table->columns[i].attnum - 1;
    checked->tts_values[at] = values->tts_values[modify->set[i]];
    checked->tts_isnull[at] = values->tts_isnull[modify->set[i]];
  }
  ExecStoreVirtualTuple(checked);
  gstore::check_constraints(node->ss.ps.state, node->resultRelInfo, checked, false);
}

/// The values of the new version: those that the statement sets, and for other columns those of `version`.
const store::rows::Cell* new_cells(ForeignScanState* node, const StoreScan* scan, store::Slot version) {
  const DirectModify* modify = scan->modify;
  TupleTableSlot* values =
      node->ss.ps.ps_ProjInfo != nullptr ? ExecProject(node->ss.ps.ps_ProjInfo) : node->ss.ss_ScanTupleSlot;
  slot_getallattrs(values);
  if (modify->checked != nullptr) check_new_row(node, scan, values);
  for (uint32_t i = 0; i < scan->table->columns.size(); ++i) {
    const int from = modify->set[i];
    if (from < 0)
      modify->cells[i] = scan->table->rows->read(version, i);
    else
      store::set_cell(scan->table->columns[i], values->tts_values[from], values->tts_isnull[from], &modify->spaces[i],
                      &modify->cells[i]);
  }
  return modify->cells;
}

/// Changes the version in the scan's slot. If the row has a newer version, changes that one if it meets the conditions.
bool change_row(ForeignScanState* node, const StoreScan* scan, store::Slot version) {
  const DirectModify* modify = scan->modify;
  ExprContext* context = node->ss.ps.ps_ExprContext;
  Relation relation = node->ss.ss_currentRelation;
  for (;;) {
    const store::rows::Cell* cells = modify->is_update ? new_cells(node, scan, version) : nullptr;
    const store::EndOutcome outcome = store::end_row(scan->table, relation, version, modify->command);
    switch (outcome.result) {
      case store::EndResult::kDone:
        if (modify->is_update) store::replace_row(scan->table, relation, version, cells, modify->command);
        return true;
      case store::EndResult::kOwn:
        gstore::check_own(outcome, modify->command, modify->is_update ? "updated" : "deleted");
        return false;
      case store::EndResult::kDeleted: gstore::check_deleted(); return false;
      case store::EndResult::kUpdated: break;
    }
    gstore::check_updated();
    version = outcome.follower;
    gstore::fill_slot(scan->table, version, scan->wanted, node->ss.ss_ScanTupleSlot);
    if (!ExecQual(node->fdw_recheck_quals, context) || !ExecQual(node->ss.ps.qual, context)) return false;
  }
}

}  // namespace

bool strom_gstore_plan_direct(PlannerInfo* root, ModifyTable* plan, Index rti, int subplan) {
  if (plan->operation != CMD_UPDATE && plan->operation != CMD_DELETE) return false;
  // RETURNING needs whole rows, old or new ones.
  if (plan->returningLists != NIL) return false;
  ForeignScan* scan = scan_below(plan, rti, subplan);
  if (scan == nullptr) return false;
  List* columns = NIL;
  if (plan->operation == CMD_UPDATE) {
    columns = static_cast<List*>(list_nth(plan->updateColnosLists, subplan));
    if (may_move(planner_rt_fetch(rti, root)->relid, columns)) return false;
  }
  scan->operation = plan->operation;
  scan->resultRelation = rti;
  scan->scan.plan.targetlist = without_junk(scan->scan.plan.targetlist);
  if (scan->fdw_private == NIL) scan->fdw_private = list_make2(makeInteger(0), makeInteger(0));
  scan->fdw_private = lappend(scan->fdw_private, makeInteger(plan->canSetTag ? 1 : 0));
  scan->fdw_private = lappend(scan->fdw_private, columns);
  return true;
}

void strom_gstore_begin_direct(ForeignScanState* node, int eflags) {
  strom_gstore_begin(node, eflags);
  if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0) return;
  const auto* plan = castNode(ForeignScan, node->ss.ps.plan);
  StoreScan* scan = gstore::scan_of(node);
  const size_t columns = scan->table->columns.size();
  auto* modify = static_cast<DirectModify*>(palloc0(sizeof(DirectModify)));
  scan->modify = modify;
  modify->command = node->ss.ps.state->es_output_cid;
  modify->is_update = plan->operation == CMD_UPDATE;
  modify->counts_rows = gstore::counts_rows(plan);
  modify->spaces = static_cast<store::CellSpace*>(palloc(columns * sizeof(store::CellSpace)));
  modify->cells = static_cast<store::rows::Cell*>(palloc(columns * sizeof(store::rows::Cell)));
  modify->set = static_cast<int*>(palloc(columns * sizeof(int)));
  for (size_t i = 0; i < columns; ++i) {
    modify->set[i] = -1;
    ListCell* cell;
    foreach (cell, gstore::set_columns(plan))
      if (lfirst_int(cell) == scan->table->columns[i].attnum) modify->set[i] = foreach_current_index(cell);
  }
  if (!modify->is_update || !has_constraints(node->ss.ss_currentRelation)) return;
  modify->checked =
      ExecInitExtraTupleSlot(node->ss.ps.state, RelationGetDescr(node->ss.ss_currentRelation), &TTSOpsVirtual);
  for (size_t i = 0; i < columns; ++i) scan->wanted[i] = true;
}

TupleTableSlot* strom_gstore_iterate_direct(ForeignScanState* node) {
  StoreScan* scan = gstore::scan_of(node);
  TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
  ExprContext* context = node->ss.ps.ps_ExprContext;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    const store::Slot version = gstore::next_row(node, scan);
    if (version == store::rows::kNoSlot) return ExecClearTuple(slot);
    gstore::fill_slot(scan->table, version, scan->wanted, slot);
    slot->tts_tableOid = RelationGetRelid(node->ss.ss_currentRelation);
    context->ecxt_scantuple = slot;
    if (!ExecQual(node->ss.ps.qual, context))
      InstrCountFiltered1(node, 1);
    else if (change_row(node, scan, version) && scan->modify->counts_rows)
      ++node->ss.ps.state->es_processed;
    ResetExprContext(context);
  }
}
