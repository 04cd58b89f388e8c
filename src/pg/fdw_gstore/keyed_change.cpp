#include "pg/fdw_gstore/keyed_change.hpp"

#include "pg/boundary/custom_node.hpp"
#include "pg/compat/explain.hpp"
#include "pg/compat/range_table.hpp"
#include "pg/fdw_gstore/changed_table.hpp"
#include "pg/fdw_gstore/key_clause.hpp"
#include "pg/fdw_gstore/row_change.hpp"
#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::fdw_gstore {

namespace {

/// The places in CustomScan::custom_private. custom_exprs has the value of the key, then the evaluated expressions.
enum : int { kColumns, kRead, kLeaves, kClause, kType, kKey };

struct KeyedState {
  CustomScanState custom;  // first, so that PostgreSQL sees it
  ExprState* value;
  List* evaluated;
  RowChange change;
  store::rows::Cell key;  // valid while the node runs
};

const CustomScan* plan_of(const CustomScanState* node) { return castNode(CustomScan, node->ss.ps.plan); }
const List* fact(const CustomScan* plan, int place) {
  return static_cast<const List*>(list_nth(plan->custom_private, place));
}
int number(const CustomScan* plan, int place) {
  return intVal(static_cast<const Node*>(list_nth(plan->custom_private, place)));
}
bool is_update(const CustomScan* plan) { return plan->scan.plan.targetlist != NIL; }

void begin(CustomScanState* node, EState*, int) {
  auto* state = reinterpret_cast<KeyedState*>(node);
  List* states = ExecInitExprList(plan_of(node)->custom_exprs, &node->ss.ps);
  state->value = static_cast<ExprState*>(linitial(states));
  state->evaluated = list_delete_first(states);
}

/// The place in the range table of the table that may have the row; 0: none has it.
Index table_with(const CustomScanState* node, Datum value) {
  const List* leaves = fact(plan_of(node), kLeaves);
  if (leaves == NIL) return 1;
  Relation parent = node->ss.ss_currentRelation;
  const int16 length = TupleDescAttr(RelationGetDescr(parent), number(plan_of(node), kKey) - 1)->attlen;
  if (!to_key_type(length, static_cast<Oid>(number(plan_of(node), kType)), &value)) return 0;
  const int partition = partition_at(parent, value, false);
  if (partition < 0) return 0;
  const int at = place_among(leaves, parent, partition);
  return at < 0 ? 0 : static_cast<Index>(at) + 2;  // a partition that was added later has no row for the snapshot
}

/// The row's key and its other columns may have changed.
bool meets_conditions(ScanState* scan) {
  const auto* state = reinterpret_cast<const KeyedState*>(scan);
  const store::Table* table = state->change.table;
  const store::Slot version = slot_of(&scan->ss_ScanTupleSlot->tts_tid);
  const store::rows::Cell key = table->rows->read(version, static_cast<uint32_t>(table->key()));
  return key.view() == state->key.view() && ExecQual(scan->ps.qual, scan->ps.ps_ExprContext);
}

void prepare(KeyedState* state, Relation relation, Index place) {
  CustomScanState* node = &state->custom;
  const CustomScan* plan = plan_of(node);
  MemoryContext before = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
  store::Table* table = store::open_table(relation);
  const bool updates = is_update(plan);
  state->change = {.scan = &node->ss,
                   .table = table,
                   .relation = relation,
                   .target = updates && has_constraints(relation)
                                 ? make_target(node->ss.ss_currentRelation, 1, relation, place)
                                 : nullptr,
                   .command = node->ss.ps.state->es_output_cid,
                   .is_update = updates,
                   .wanted = static_cast<bool*>(palloc(table->columns.size() * sizeof(bool))),
                   .meets_conditions = meets_conditions};
  for (size_t i = 0; i < table->columns.size(); ++i)
    state->change.wanted[i] = list_member_int(fact(plan, kRead), table->columns[i].attnum);
  begin_row_change(&state->change, fact(plan, kColumns));
  MemoryContextSwitchTo(before);
}

/// Called in the row's memory.
void run(CustomScanState* node) {
  auto* state = reinterpret_cast<KeyedState*>(node);
  EState* estate = node->ss.ps.state;
  ExprContext* context = node->ss.ps.ps_ExprContext;
  ListCell* cell;
  foreach (cell, state->evaluated) {
    ParamExecData* parameter = &estate->es_param_exec_vals[foreach_current_index(cell)];
    parameter->value = ExecEvalExpr(static_cast<ExprState*>(lfirst(cell)), context, &parameter->isnull);
  }
  bool is_null;
  const Datum value = ExecEvalExpr(state->value, context, &is_null);
  if (is_null) return;
  const Index place = table_with(node, value);
  if (place == 0) return;
  Relation relation = place == 1 ? node->ss.ss_currentRelation : compat::relation_of(estate, place);
  prepare(state, relation, place);
  const RowChange& change = state->change;
  const store::StoreColumn& column = change.table->key_column();
  store::CellSpace space;
  if (!key_cell(column, static_cast<Oid>(number(plan_of(node), kType)), value, &space, &state->key)) return;
  TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
  context->ecxt_scantuple = slot;
  for (store::Slot version = store::find_by_key(change.table, state->key, estate->es_snapshot);
       version != store::rows::kNoSlot; version = store::find_further(change.table, version, estate->es_snapshot)) {
    fill_slot(change.table, version, change.wanted, slot);
    if (!ExecQual(node->ss.ps.qual, context))
      InstrCountFiltered1(node, 1);
    else if (change_row(&change, version))
      ++estate->es_processed;
  }
}

TupleTableSlot* exec(CustomScanState* node) {
  boundary::fill_in_tuple_memory(node, [node] { run(node); });
  return nullptr;
}

void end(CustomScanState*) {}
void rescan(CustomScanState*) {}

void explain(CustomScanState* node, List*, ExplainState* es) {
  List* context = set_deparse_context_plan(es->deparse_cxt, node->ss.ps.plan, NIL);
  auto* clause = static_cast<Node*>(linitial(fact(plan_of(node), kClause)));
  ExplainPropertyText("Store Key", deparse_expression(clause, context, es->verbose, false), es);
}

constexpr const char *kUpdateName = "StoreUpdate", *kDeleteName = "StoreDelete";

constexpr CustomExecMethods kUpdateMethods = boundary::exec_methods(kUpdateName, begin, exec, end, rescan, explain),
                            kDeleteMethods = boundary::exec_methods(kDeleteName, begin, exec, end, rescan, explain);

Node* create_state(CustomScan* plan) {
  return boundary::make_state<KeyedState>(is_update(plan) ? &kUpdateMethods : &kDeleteMethods);
}

constexpr CustomScanMethods kUpdatePlan = {kUpdateName, create_state}, kDeletePlan = {kDeleteName, create_state};

}  // namespace

void register_keyed_change() {
  RegisterCustomScanMethods(&kUpdatePlan);
  RegisterCustomScanMethods(&kDeletePlan);
}

CustomScan* keyed_change_plan(const KeyedChange& change, CmdType operation) {
  auto* scan = makeNode(CustomScan);
  scan->methods = operation == CMD_UPDATE ? &kUpdatePlan : &kDeletePlan;
  scan->scan.scanrelid = 1;
  scan->scan.plan.targetlist = change.targets;
  scan->scan.plan.qual = change.rest;
  scan->scan.plan.total_cost = cpu_index_tuple_cost + cpu_tuple_cost;
  scan->custom_exprs = lcons(change.value, change.evaluated);
  scan->custom_private = list_make5(change.columns, change.read, change.leaves, list_make1(change.clause),
                                    makeInteger(static_cast<int>(change.type)));
  scan->custom_private = lappend(scan->custom_private, makeInteger(change.key));
  return scan;
}

}  // namespace strom::pg::fdw_gstore
