// UPDATE and DELETE that need only a scan of the store table: the scan itself changes the rows that it finds, so no row
// passes through the executor's nodes. May ereport.
#include "pg/fdw_gstore/callbacks.hpp"
#include "pg/fdw_gstore/changed_table.hpp"
#include "pg/fdw_gstore/plan_private.hpp"
#include "pg/fdw_gstore/row_change.hpp"
#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/fdw_gstore/store_scan.hpp"
#include "pg/store/server_headers.hpp"

namespace store = strom::pg::store;
namespace gstore = strom::pg::fdw_gstore;
using gstore::StoreScan;

/// Plain data for StoreScan::modify.
struct gstore::DirectModify {
  gstore::RowChange change;
  bool counts_rows;
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

/// True if the scan's rows have more than columns, as the sub-plan of `SET (a, b) = (SELECT …)`, whose results other
/// entries refer to.
bool has_other_junk(const List* targets) {
  ListCell* cell;
  foreach (cell, targets) {
    const auto* entry = lfirst_node(TargetEntry, cell);
    if (entry->resjunk && !IsA(entry->expr, Var) && !IsA(entry->expr, Const)) return true;
  }
  return false;
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

bool meets_conditions(ScanState* scan) {
  auto* node = reinterpret_cast<ForeignScanState*>(scan);
  ExprContext* context = scan->ps.ps_ExprContext;
  return ExecQual(node->fdw_recheck_quals, context) && ExecQual(scan->ps.qual, context);
}

}  // namespace

bool strom_gstore_plan_direct(PlannerInfo* root, ModifyTable* plan, Index rti, int subplan) {
  if (plan->operation != CMD_UPDATE && plan->operation != CMD_DELETE) return false;
  // RETURNING needs whole rows, old or new ones.
  if (plan->returningLists != NIL) return false;
  ForeignScan* scan = scan_below(plan, rti, subplan);
  if (scan == nullptr || has_other_junk(scan->scan.plan.targetlist)) return false;
  List* columns = NIL;
  if (plan->operation == CMD_UPDATE) {
    columns = static_cast<List*>(list_nth(plan->updateColnosLists, subplan));
    if (gstore::may_move(planner_rt_fetch(rti, root)->relid, columns)) return false;
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
  auto* modify = static_cast<DirectModify*>(palloc0(sizeof(DirectModify)));
  scan->modify = modify;
  modify->counts_rows = gstore::counts_rows(plan);
  modify->change = {.scan = &node->ss,
                    .table = scan->table,
                    .relation = node->ss.ss_currentRelation,
                    .target = node->resultRelInfo,
                    .command = node->ss.ps.state->es_output_cid,
                    .is_update = plan->operation == CMD_UPDATE,
                    .wanted = scan->wanted,
                    .meets_conditions = meets_conditions};
  gstore::begin_row_change(&modify->change, gstore::set_columns(plan));
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
    else if (gstore::change_row(&scan->modify->change, version) && scan->modify->counts_rows)
      ++node->ss.ps.state->es_processed;
    ResetExprContext(context);
  }
}
