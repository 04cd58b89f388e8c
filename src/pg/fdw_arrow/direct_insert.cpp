// INSERT of rows that PostgreSQL only has to make. It is planned as a direct modification: a foreign scan that takes
// the rows of the plan below it without ModifyTable, or the columns of an engine node. Everything else goes through
// modify.cpp, such as COPY and rows that are routed to partitions.
#include "pg/boundary/boundary.hpp"
#include "pg/compat/generated_columns.hpp"
#include "pg/boundary/context_owned.hpp"
#include "pg/codec/decode.hpp"
#include "pg/fdw_arrow/callbacks.hpp"
#include "pg/fdw_arrow/engine_columns.hpp"
#include "pg/files/pending.hpp"

namespace fdw = strom::pg::fdw_arrow;
namespace boundary = strom::pg::boundary;
namespace files = strom::pg::files;
namespace codec = strom::pg::codec;
using boundary::entry;
using boundary::guard;

namespace {

/// ForeignScanState::fdw_state: plain data.
struct DirectInsert {
  files::PendingWrite* write;
  CommandId command;
  ResultRelInfo* target;
  boundary::ContextOwned<fdw::EngineColumns> columns;  // none: rows come one by one
  TupleTableSlot* refused;                             // a row that violates a constraint, for the message
  AttrNumber* required;                                // attributes that are NOT NULL
  int required_count;
};

DirectInsert* state_of(ForeignScanState* node) { return static_cast<DirectInsert*>(node->fdw_state); }

// True if ModifyTable has to see the rows: to check them against a view or a partition's bound, or to return them.
bool needs_rows(PlannerInfo* root, const ModifyTable* plan, Index rti) {
  if (plan->operation != CMD_INSERT || list_length(plan->resultRelations) != 1 || plan->rootRelation != 0 ||
      plan->returningLists != NIL || plan->onConflictAction != ONCONFLICT_NONE)
    return true;
  Relation relation = table_open(planner_rt_fetch(rti, root)->relid, NoLock);
  const TupleConstr* constraints = relation->rd_att->constr;
  const bool needs = relation->rd_rel->relispartition || relation->rd_rel->relkind != RELKIND_FOREIGN_TABLE ||
                     strom::pg::compat::has_generated_columns(constraints) ||
                     (constraints != nullptr && constraints->num_check > 0);
  table_close(relation, NoLock);
  return needs;
}

// The plan should not be older than the table's columns; checks that it is not. May ereport.
void check_columns(const Plan* plan, TupleDesc row) {
  const auto refuse = [](const char* detail) {
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("table row type and query-specified row type do not match"), errdetail("%s", detail)));
  };
  int count = 0;
  ListCell* cell;
  foreach (cell, plan->targetlist) {
    const auto* item = static_cast<const TargetEntry*>(lfirst(cell));
    if (item->resjunk) continue;
    if (count >= row->natts) refuse("The query has too many columns.");
    const auto* attribute = TupleDescAttr(row, count++);
    if (!attribute->attisdropped && exprType(reinterpret_cast<Node*>(item->expr)) != attribute->atttypid)
      refuse("A column of the table has another type than the query's.");
  }
  if (count != row->natts) refuse("The query has too few columns.");
}

// Raises the error in PostgreSQL's words.
void refuse(ForeignScanState* node, const DirectInsert* insert) {
  TupleTableSlot* slot = insert->refused;
  slot->tts_tableOid = RelationGetRelid(insert->target->ri_RelationDesc);
  ExecConstraints(insert->target, ExecStoreVirtualTuple(slot), node->ss.ps.state);
}

bool lacks_value(const DirectInsert* insert, const bool* nulls) {
  for (int i = 0; i < insert->required_count; ++i)
    if (nulls[insert->required[i] - 1]) return true;
  return false;
}

uint64 insert_rows(ForeignScanState* node, const DirectInsert* insert) {
  PlanState* child = outerPlanState(node);
  const int count = insert->refused->tts_tupleDescriptor->natts;
  uint64 rows = 0;
  for (;; ++rows) {
    CHECK_FOR_INTERRUPTS();
    TupleTableSlot* slot = ExecProcNode(child);
    if (TupIsNull(slot)) return rows;
    slot_getsomeattrs(slot, count);
    if (lacks_value(insert, slot->tts_isnull)) {
      ExecClearTuple(insert->refused);
      for (int i = 0; i < count; ++i) {
        insert->refused->tts_values[i] = slot->tts_values[i];
        insert->refused->tts_isnull[i] = slot->tts_isnull[i];
      }
      refuse(node, insert);
    }
    entry([=] { files::write_row(insert->write, slot, insert->command); });
  }
}

// The index of the first row with NULL in a required column, or -1.
int64 row_to_refuse(const DirectInsert* insert, const codec::RegisterColumn* columns, int64 rows) {
  int64 first = -1;
  for (int i = 0; i < insert->required_count; ++i) {
    const codec::RegisterColumn& column = columns[insert->required[i] - 1];
    if (column.values == nullptr ? !column.is_null : column.flags == nullptr) continue;
    for (int64 row = 0; row < (first < 0 ? rows : first); ++row)
      if (column.values == nullptr || (column.flags[row] & 1) != 0) first = row;
  }
  return first;
}

void refuse_row(ForeignScanState* node, const DirectInsert* insert, const codec::RegisterColumn* columns, int64 row) {
  TupleTableSlot* slot = ExecClearTuple(insert->refused);
  for (int i = 0; i < slot->tts_tupleDescriptor->natts; ++i) {
    const codec::RegisterColumn& from = columns[i];
    slot->tts_isnull[i] = from.values == nullptr ? from.is_null : from.flags != nullptr && (from.flags[row] & 1) != 0;
    if (slot->tts_isnull[i]) continue;
    slot->tts_values[i] = from.values == nullptr ? from.constant
                                                 : codec::datum_from_register(from.type, from.scale, from.length,
                                                                              from.values, row, from.check_text);
  }
  refuse(node, insert);
}

uint64 insert_columns(ForeignScanState* node, const DirectInsert* insert) {
  fdw::EngineColumns* source = insert->columns.get();
  uint64 count = 0;
  while (source->next()) {
    CHECK_FOR_INTERRUPTS();
    const int64 rows = source->rows();
    const codec::RegisterColumn* columns = entry([=] { return source->columns().data(); });
    const int64 bad = row_to_refuse(insert, columns, rows);
    // The rows before the refused row are written first, because they may raise errors of their own.
    if (bad != 0) {
      entry([=] {
        try {
          guard([=] { files::write_columns(insert->write, columns, bad < 0 ? rows : bad, insert->command); });
        } catch (const boundary::PostgresError&) {
          source->check();  // the value may come from a file that has changed
          throw;
        }
      });
    }
    if (bad >= 0) refuse_row(node, insert, columns, bad);
    count += static_cast<uint64>(rows);
  }
  return count;
}

// The state is allocated in the query's memory context.
DirectInsert* make_state(ForeignScanState* node) {
  ResultRelInfo* target = node->resultRelInfo;
  TupleDesc row = RelationGetDescr(target->ri_RelationDesc);
  check_columns(outerPlanState(node)->plan, row);
  auto* insert = static_cast<DirectInsert*>(palloc0(sizeof(DirectInsert)));
  insert->target = target;
  insert->command = node->ss.ps.state->es_output_cid;
  insert->refused = ExecInitExtraTupleSlot(node->ss.ps.state, row, &TTSOpsVirtual);
  insert->required = static_cast<AttrNumber*>(palloc0(sizeof(AttrNumber) * static_cast<Size>(row->natts + 1)));
  for (int i = 0; i < row->natts; ++i)
    if (TupleDescAttr(row, i)->attnotnull) insert->required[insert->required_count++] = static_cast<AttrNumber>(i + 1);
  return insert;
}

}  // namespace

bool strom_arrow_plan_direct(PlannerInfo* root, ModifyTable* plan, Index rti, int subplan) {
  strom_arrow_plan_modify(root, plan, rti, subplan);
  if (needs_rows(root, plan, rti)) return false;
  Plan* rows = outerPlan(plan);
  ForeignScan* scan = make_foreignscan(NIL, NIL, rti, NIL, list_make1_int(plan->canSetTag ? 1 : 0), NIL, NIL, rows);
  scan->operation = CMD_INSERT;
  scan->resultRelation = rti;
  scan->fs_server = GetForeignServerIdByRelId(planner_rt_fetch(rti, root)->relid);
  scan->fs_relids = bms_make_singleton(static_cast<int>(rti));
  scan->scan.plan.startup_cost = rows->startup_cost;
  scan->scan.plan.total_cost = rows->total_cost;
  scan->scan.plan.plan_rows = rows->plan_rows;
  scan->scan.plan.plan_width = rows->plan_width;
  outerPlan(plan) = &scan->scan.plan;
  return true;
}

void strom_arrow_begin_direct(ForeignScanState* node, int eflags) {
  if (eflags & EXEC_FLAG_EXPLAIN_ONLY) return;
  MemoryContext caller = MemoryContextSwitchTo(node->ss.ps.state->es_query_cxt);
  DirectInsert* insert = make_state(node);
  const Oid relid = RelationGetRelid(insert->target->ri_RelationDesc);
  insert->write = entry([relid] { return files::begin_write(relid); });
  node->fdw_state = insert;
  MemoryContextSwitchTo(caller);
}

// Inserts all rows in one call; returns no row.
TupleTableSlot* strom_arrow_iterate_direct(ForeignScanState* node) {
  DirectInsert* insert = state_of(node);
  EState* estate = node->ss.ps.state;
  MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);
  const int count = insert->refused->tts_tupleDescriptor->natts;
  entry([=] {
    if (auto columns = fdw::EngineColumns::of(outerPlanState(node), count))
      insert->columns = boundary::ContextOwned<fdw::EngineColumns>::make(CurrentMemoryContext, std::move(*columns));
  });
  const uint64 rows = insert->columns ? insert_columns(node, insert) : insert_rows(node, insert);
  MemoryContextSwitchTo(caller);
  const auto* plan = reinterpret_cast<ForeignScan*>(node->ss.ps.plan);
  if (linitial_int(plan->fdw_private) != 0) estate->es_processed += rows;
  return ExecClearTuple(node->ss.ss_ScanTupleSlot);
}

void strom_arrow_end_direct(ForeignScanState* node) {
  if (DirectInsert* insert = state_of(node)) insert->columns.reset();
}
