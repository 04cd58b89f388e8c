#include "pg/fdw_gstore/existing_rows.hpp"

#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/visibility.hpp"

extern "C" {
#include "catalog/partition.h"
#include "catalog/pg_constraint.h"
#include "rewrite/rewriteHandler.h"
}

namespace strom::pg::fdw_gstore {

namespace {

struct Check {
  const char* name;
  ExprState* state;
};

/// What this transaction has added.
struct Rules {
  List* columns = NIL;  // their numbers: NOT NULL
  List* checks = NIL;   // of Check
  ExprState* bounds = nullptr;
  bool is_default = false;  // a default partition, whose bounds are those that no other partition has
};

/// True if this transaction has made or changed the row of a catalog.
bool is_fresh(HeapTuple tuple) { return TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(tuple->t_data)); }

/// Constraints are enforced for new rows from the beginning; those that are not valid say nothing of older ones.
void add_constraint(const FormData_pg_constraint* constraint, Relation relation, EState* estate, Rules* rules) {
  const char* name = NameStr(constraint->conname);
  const TupleConstr* known = RelationGetDescr(relation)->constr;
  if (constraint->contype != CONSTRAINT_CHECK || !constraint->convalidated || known == nullptr) return;
  for (int i = 0; i < known->num_check; ++i) {
    if (strcmp(known->check[i].ccname, name) != 0) continue;
    Node* expression = static_cast<Node*>(stringToNode(known->check[i].ccbin));
#if PG_VERSION_NUM >= 180000
    expression = expand_generated_columns_in_expr(expression, relation, 1);
#endif
    auto* check = static_cast<Check*>(palloc(sizeof(Check)));
    *check = {known->check[i].ccname, ExecPrepareExpr(reinterpret_cast<Expr*>(expression), estate)};
    rules->checks = lappend(rules->checks, check);
  }
}

#if PG_VERSION_NUM >= 180000
/// NOT NULL is a constraint.
void add_column(HeapTuple tuple, const FormData_pg_constraint* constraint, Rules* rules) {
  if (constraint->contype == CONSTRAINT_NOTNULL && constraint->convalidated)
    rules->columns = list_append_unique_int(rules->columns, extractNotNullColumn(tuple));
}
#else
/// NOT NULL is a property of the column.
void add_columns(Relation relation, Rules* rules) {
  const TupleDesc descriptor = RelationGetDescr(relation);
  for (int i = 0; i < descriptor->natts; ++i) {
    const Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
    if (attribute->attisdropped || !attribute->attnotnull) continue;
    HeapTuple tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(RelationGetRelid(relation)), Int16GetDatum(i + 1));
    if (!HeapTupleIsValid(tuple)) continue;
    if (is_fresh(tuple)) rules->columns = lappend_int(rules->columns, i + 1);
    ReleaseSysCache(tuple);
  }
}
#endif

void add_constraints(Relation relation, EState* estate, Rules* rules) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_constraint_conrelid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(RelationGetRelid(relation)));
  Relation catalog = table_open(ConstraintRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, ConstraintRelidTypidNameIndexId, true, nullptr, 1, &key);
  for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple); tuple = systable_getnext(scan)) {
    if (!is_fresh(tuple)) continue;
    const auto* constraint = reinterpret_cast<const FormData_pg_constraint*>(GETSTRUCT(tuple));
    add_constraint(constraint, relation, estate, rules);
#if PG_VERSION_NUM >= 180000
    add_column(tuple, constraint, rules);
#endif
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
}

/// The bounds of a partition, if this transaction may have made them narrower: it has changed the table or a table that
/// it is a partition of, or one of these is a default partition, which gives up what a new partition takes.
List* new_bounds(Relation relation, bool* is_default) {
  if (!relation->rd_rel->relispartition) return NIL;
  bool is_new = false;
  ListCell* cell;
  foreach (cell, lcons_oid(RelationGetRelid(relation), get_partition_ancestors(RelationGetRelid(relation)))) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(lfirst_oid(cell)));
    if (!HeapTupleIsValid(tuple)) continue;
    is_new = is_new || is_fresh(tuple);
    if (reinterpret_cast<const FormData_pg_class*>(GETSTRUCT(tuple))->relispartition)
      *is_default =
          *is_default || get_default_partition_oid(get_partition_parent(lfirst_oid(cell), true)) == lfirst_oid(cell);
    ReleaseSysCache(tuple);
  }
  return is_new || *is_default ? RelationGetPartitionQual(relation) : NIL;
}

Rules added_rules(Relation relation, bool is_attached, EState* estate) {
  Rules rules;
  add_constraints(relation, estate, &rules);
#if PG_VERSION_NUM < 180000
  add_columns(relation, &rules);
#endif
  List* bounds = is_attached ? new_bounds(relation, &rules.is_default) : NIL;
  if (bounds != NIL) rules.bounds = ExecPrepareCheck(bounds, estate);
  return rules;
}

/// As PostgreSQL's ATRewriteTable() does. May ereport.
void check_row(Relation relation, const Rules& rules, TupleTableSlot* slot, ExprContext* context) {
  const char* table = RelationGetRelationName(relation);
  ListCell* cell;
  foreach (cell, rules.columns) {
    const int column = lfirst_int(cell);
    if (!slot->tts_isnull[column - 1]) continue;
    ereport(ERROR, (errcode(ERRCODE_NOT_NULL_VIOLATION),
                    errmsg("column \"%s\" of relation \"%s\" contains null values",
                           NameStr(TupleDescAttr(slot->tts_tupleDescriptor, column - 1)->attname), table),
                    errtablecol(relation, column)));
  }
  context->ecxt_scantuple = slot;
  foreach (cell, rules.checks) {
    const auto* check = static_cast<const Check*>(lfirst(cell));
    if (ExecCheck(check->state, context)) continue;
    ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
                    errmsg("check constraint \"%s\" of relation \"%s\" is violated by some row", check->name, table),
                    errtableconstraint(relation, check->name)));
  }
  if (rules.bounds == nullptr || ExecCheck(rules.bounds, context)) return;
  ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
                  errmsg(rules.is_default
                             ? "updated partition constraint for default partition \"%s\" would be violated by some row"
                             : "partition constraint of relation \"%s\" is violated by some row",
                         table),
                  errtable(relation)));
}

void check_rows(Relation relation, const Rules& rules, EState* estate) {
  constexpr uint32_t kBits = 64;
  const store::Table* table = store::open_table(relation);
  const uint32_t used = table->rows->used_slots();
  auto* bits = static_cast<uint64_t*>(palloc(store::rows::kChunkRows / kBits * sizeof(uint64_t)));
  TupleTableSlot* slot = MakeSingleTupleTableSlot(RelationGetDescr(relation), &TTSOpsVirtual);
  slot->tts_tableOid = RelationGetRelid(relation);
  ExprContext* context = GetPerTupleExprContext(estate);
  for (uint64_t chunk = 0; table->rows->used_in(chunk, used) != 0; ++chunk) {
    const uint32_t count = table->rows->used_in(chunk, used);
    if (store::visible_bits(table, chunk, count, GetActiveSnapshot(), bits) == 0) continue;
    for (uint32_t i = 0; i < count; ++i) {
      if ((bits[i / kBits] >> (i % kBits) & 1) == 0) continue;
      CHECK_FOR_INTERRUPTS();
      ResetPerTupleExprContext(estate);
      MemoryContext before = MemoryContextSwitchTo(GetPerTupleMemoryContext(estate));
      fill_slot(table, static_cast<store::Slot>(chunk * table->layout.chunk_rows + i), nullptr, slot);
      MemoryContextSwitchTo(before);
      check_row(relation, rules, slot, context);
    }
  }
  ExecDropSingleTupleTableSlot(slot);
  pfree(bits);
}

}  // namespace

List* beside_default_partition(Oid relid) {
  if (!get_rel_relispartition(relid)) return NIL;
  const Oid other = get_default_partition_oid(get_partition_parent(relid, true));
  return OidIsValid(other) && other != relid ? find_all_inheritors(other, NoLock, nullptr) : NIL;
}

void check_existing_rows(Relation relation, bool is_attached) {
  EState* estate = CreateExecutorState();
  const Rules rules = added_rules(relation, is_attached, estate);
  if (rules.columns != NIL || rules.checks != NIL || rules.bounds != nullptr) {
    PushActiveSnapshot(GetLatestSnapshot());
    check_rows(relation, rules, estate);
    PopActiveSnapshot();
  }
  FreeExecutorState(estate);
}

}  // namespace strom::pg::fdw_gstore
