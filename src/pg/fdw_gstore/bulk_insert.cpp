#include "pg/fdw_gstore/bulk_insert.hpp"

#include <algorithm>
#include <iterator>

#include "pg/boundary/custom_node.hpp"
#include "pg/boundary/new_row.hpp"
#include "pg/compat/range_table.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/fdw_gstore/changed_table.hpp"
#include "pg/fdw_gstore/row_slot.hpp"
#include "pg/store/change.hpp"
#include "pg/store/server_headers.hpp"

extern "C" {
#include "catalog/pg_aggregate.h"
#include "catalog/pg_language.h"
#include "partitioning/partdesc.h"
#include "utils/ruleutils.h"
#include "utils/typcache.h"
}

namespace strom::pg::fdw_gstore {

namespace {

constexpr int kTogether = store::kFetchedTogether;

/// The places in CustomScan::custom_private. scanrelid is the statement's table.
enum : int { kLeaves, kFirstLeaf, kColumn, kMostWaiting };

/// A table that gets rows: plain data.
struct Inserted {
  store::Table* table;  // nullptr: no row came yet
  Relation relation;
  ResultRelInfo* target;  // for checks of constraints; nullptr: none
  store::CellSpace* spaces;
  store::rows::Cell* cells;  // of the rows that wait, row by row
  int count;                 // of these rows
};

struct InsertState {
  CustomScanState custom;  // first, so that PostgreSQL sees it
  Inserted* tables;        // one, or one for each partition
  MemoryContext memory;    // for values of rows that wait
  TupleTableSlot* checked;
  CommandId command;
  int most_waiting;  // rows of a table
};

const CustomScan* plan_of(const InsertState* state) { return castNode(CustomScan, state->custom.ss.ps.plan); }
const List* leaves_of(const CustomScan* plan) {
  return static_cast<const List*>(list_nth(plan->custom_private, kLeaves));
}
int number(const CustomScan* plan, int place) {
  return intVal(static_cast<const Node*>(list_nth(plan->custom_private, place)));
}
InsertState* state_of(CustomScanState* node) { return reinterpret_cast<InsertState*>(node); }
PlanState* child_of(const InsertState* state) { return static_cast<PlanState*>(linitial(state->custom.custom_ps)); }

void begin(CustomScanState* node, EState* estate, int eflags) {
  InsertState* state = state_of(node);
  const CustomScan* plan = plan_of(state);
  node->custom_ps = list_make1(ExecInitNode(static_cast<Plan*>(linitial(plan->custom_plans)), estate, eflags));
  const int tables = std::max(1, list_length(leaves_of(plan)));
  state->tables = static_cast<Inserted*>(palloc0(static_cast<Size>(tables) * sizeof(Inserted)));
  state->memory = AllocSetContextCreate(estate->es_query_cxt, "rows for a store table", ALLOCSET_DEFAULT_SIZES);
  state->command = estate->es_output_cid;
  state->most_waiting = number(plan, kMostWaiting);
}

void open(InsertState* state, Inserted* inserted, Index place) {
  EState* estate = state->custom.ss.ps.state;
  Relation root = state->custom.ss.ss_currentRelation;
  const Index root_place = plan_of(state)->scan.scanrelid;
  MemoryContext before = MemoryContextSwitchTo(estate->es_query_cxt);
  inserted->relation = place == root_place ? root : compat::relation_of(estate, place);
  inserted->table = store::open_table(inserted->relation);
  const bool is_checked =
      inserted->relation->rd_att->constr != nullptr || (place == root_place && root->rd_rel->relispartition);
  if (is_checked) inserted->target = make_target(root, root_place, inserted->relation, place);
  if (is_checked && state->checked == nullptr)
    state->checked = ExecInitExtraTupleSlot(estate, RelationGetDescr(root), &TTSOpsVirtual);
  const size_t cells = inserted->table->columns.size() * kTogether;
  inserted->spaces = static_cast<store::CellSpace*>(palloc(cells * sizeof(store::CellSpace)));
  inserted->cells = static_cast<store::rows::Cell*>(palloc(cells * sizeof(store::rows::Cell)));
  MemoryContextSwitchTo(before);
}

[[noreturn]] void raise_no_partition(Relation parent, AttrNumber column, Datum value, bool is_null) {
  const FormData_pg_attribute* attribute = TupleDescAttr(RelationGetDescr(parent), column - 1);
  Oid output;
  bool is_varlena;
  getTypeOutputInfo(attribute->atttypid, &output, &is_varlena);
  constexpr int kMostShown = 64;  // as in PostgreSQL's own message
  const char* text = is_null ? "null" : OidOutputFunctionCall(output, value);
  if (const int length = static_cast<int>(strlen(text)); length > kMostShown)
    text = psprintf("%.*s...", pg_mbcliplen(text, length, kMostShown), text);
  const bool may_see = pg_class_aclcheck(RelationGetRelid(parent), GetUserId(), ACL_SELECT) == ACLCHECK_OK ||
                       pg_attribute_aclcheck(RelationGetRelid(parent), column, GetUserId(), ACL_SELECT) == ACLCHECK_OK;
  ereport(ERROR, (errcode(ERRCODE_CHECK_VIOLATION),
                  errmsg("no partition of relation \"%s\" found for row", RelationGetRelationName(parent)),
                  may_see ? errdetail("Partition key of the failing row contains (%s) = (%s).",
                                      quote_identifier(NameStr(attribute->attname)), text)
                          : 0,
                  errtable(parent)));
}

/// The table for a row, which is open.
Inserted* table_for(InsertState* state, const TupleTableSlot* row) {
  const CustomScan* plan = plan_of(state);
  const List* leaves = leaves_of(plan);
  int at = 0;
  Index place = plan->scan.scanrelid;
  if (leaves != NIL) {
    Relation parent = state->custom.ss.ss_currentRelation;
    const auto column = static_cast<AttrNumber>(number(plan, kColumn));
    const Datum value = row->tts_values[column - 1];
    const bool is_null = row->tts_isnull[column - 1];
    const int partition = partition_at(parent, value, is_null);
    if (partition < 0) raise_no_partition(parent, column, value, is_null);
    at = place_among(leaves, parent, partition);
    if (at < 0)
      ereport(ERROR, (errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                      errmsg("partition \"%s\" was added while rows were inserted",
                             get_rel_name(RelationGetPartitionDesc(parent, true)->oids[partition])),
                      errhint("Repeat the statement.")));
    place = static_cast<Index>(number(plan, kFirstLeaf) + at);
  }
  Inserted* found = &state->tables[at];
  if (found->table == nullptr) open(state, found, place);
  return found;
}

/// Inserts the rows that wait for a table. Their insertion waits for memory of the index, at random places. So the
/// memory for all of them is asked for first.
void insert_waiting(const InsertState* state, Inserted* inserted) {
  store::Table* table = inserted->table;
  const size_t columns = table->columns.size();
  if (table->key() >= 0 && inserted->count > 1) {
    store::rows::Cell keys[kTogether];
    int known = 0;
    for (int i = 0; i < inserted->count; ++i) {
      const store::rows::Cell& key =
          inserted->cells[static_cast<size_t>(i) * columns + static_cast<size_t>(table->key())];
      if (!key.is_null) keys[known++] = key;
    }
    store::fetch_index(table, keys, known);
  }
  for (int i = 0; i < inserted->count; ++i)
    store::insert_row(table, inserted->relation, &inserted->cells[static_cast<size_t>(i) * columns], state->command,
                      false);
  state->custom.ss.ps.state->es_processed += static_cast<uint64>(inserted->count);
  inserted->count = 0;
}

void insert_all_waiting(const InsertState* state) {
  const int tables = std::max(1, list_length(leaves_of(plan_of(state))));
  for (int i = 0; i < tables; ++i)
    if (state->tables[i].count != 0) insert_waiting(state, &state->tables[i]);
  MemoryContextReset(state->memory);
}

void check(const InsertState* state, const Inserted* inserted, const TupleTableSlot* row) {
  TupleTableSlot* checked = state->checked;
  copy_values(row, checked);
  ExecStoreVirtualTuple(checked);
  boundary::check_constraints(state->custom.ss.ps.state, inserted->target, checked, false);
}

/// Adds a row to those that wait. The values of its cells are in `memory`, or in the cells' spaces.
void add_row(Inserted* inserted, const TupleTableSlot* row) {
  const store::Table* table = inserted->table;
  const size_t first = static_cast<size_t>(inserted->count) * table->columns.size();
  for (size_t i = 0; i < table->columns.size(); ++i) {
    const store::StoreColumn& column = table->columns[i];
    const int at = column.attnum - 1;
    Datum value = row->tts_values[at];
    const bool is_null = row->tts_isnull[at];
    const bool is_by_value = TupleDescAttr(RelationGetDescr(inserted->relation), at)->attbyval;
    if (!is_null && !is_by_value) value = datumCopy(value, false, column.length);
    store::set_cell(column, value, is_null, &inserted->spaces[first + i], &inserted->cells[first + i]);
  }
  ++inserted->count;
}

TupleTableSlot* exec(CustomScanState* node) {
  constexpr Size kMostMemory = 4 << 20;  // of values that wait
  InsertState* state = state_of(node);
  EState* estate = node->ss.ps.state;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    ResetPerTupleExprContext(estate);
    TupleTableSlot* row = ExecProcNode(child_of(state));
    if (TupIsNull(row)) break;
    slot_getallattrs(row);
    Inserted* inserted = table_for(state, row);
    if (inserted->target != nullptr) check(state, inserted, row);
    MemoryContext before = MemoryContextSwitchTo(state->memory);
    add_row(inserted, row);
    MemoryContextSwitchTo(before);
    if (inserted->count == state->most_waiting) insert_waiting(state, inserted);
    if (MemoryContextMemAllocated(state->memory, false) > kMostMemory) insert_all_waiting(state);
  }
  insert_all_waiting(state);
  return nullptr;
}

void end(CustomScanState* node) { ExecEndNode(child_of(state_of(node))); }
void rescan(CustomScanState*) {}
void explain(CustomScanState*, List*, ExplainState*) {}

constexpr const char* kName = "StoreInsert";
constexpr CustomExecMethods kMethods = boundary::exec_methods(kName, begin, exec, end, rescan, explain);
Node* create_state(CustomScan*) { return boundary::make_state<InsertState>(&kMethods); }
constexpr CustomScanMethods kPlan = {kName, create_state};

bool may_look(Oid function, void*);

/// An aggregate is called immutable, whatever its functions are.
bool aggregate_looks(Oid aggregate) {
  HeapTuple tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggregate));
  if (!HeapTupleIsValid(tuple)) return true;
  const auto* parts = reinterpret_cast<const FormData_pg_aggregate*>(GETSTRUCT(tuple));
  const Oid functions[] = {parts->aggtransfn,    parts->aggfinalfn,  parts->aggcombinefn,   parts->aggserialfn,
                           parts->aggdeserialfn, parts->aggmtransfn, parts->aggminvtransfn, parts->aggmfinalfn};
  ReleaseSysCache(tuple);
  return std::any_of(std::begin(functions), std::end(functions),
                     [](Oid function) { return OidIsValid(function) && may_look(function, nullptr); });
}

/// For check_functions_in_node(). PostgreSQL's own functions that run queries do so by the statement's snapshot.
bool may_look(Oid function, void*) {
  if (get_func_prokind(function) == PROKIND_AGGREGATE) return aggregate_looks(function);
  if (func_volatile(function) != PROVOLATILE_VOLATILE) return false;
  HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(tuple)) return true;
  const bool is_internal = reinterpret_cast<const FormData_pg_proc*>(GETSTRUCT(tuple))->prolang == INTERNALlanguageId;
  ReleaseSysCache(tuple);
  return !is_internal;
}

bool calls_looking(Node* node, void* context);

bool domain_looks(Oid domain) {
  // The memory context refers to it until its end.
  auto* constraints = static_cast<DomainConstraintRef*>(palloc0(sizeof(DomainConstraintRef)));
  InitDomainConstraintRef(domain, constraints, CurrentMemoryContext, false);
  ListCell* cell;
  foreach (cell, constraints->constraints)
    if (calls_looking(reinterpret_cast<Node*>(static_cast<DomainConstraintState*>(lfirst(cell))->check_expr), nullptr))
      return true;
  return false;
}

bool calls_looking(Node* node, void* context) {
  if (node == nullptr) return false;
  if (check_functions_in_node(node, may_look, context)) return true;
  if (IsA(node, CoerceToDomain) && domain_looks(reinterpret_cast<CoerceToDomain*>(node)->resulttype)) return true;
  return IsA(node, Query) ? compat::walk_query(reinterpret_cast<Query*>(node), calls_looking, context)
                          : compat::walk(node, calls_looking, context);
}

/// True if checks of the table's rows may look at its other rows.
bool checks_look(Oid relid) {
  Relation relation = table_open(relid, NoLock);
  const TupleConstr* rules = RelationGetDescr(relation)->constr;
  bool found = false;
  for (int i = 0; rules != nullptr && i < rules->num_check && !found; ++i)
    found = calls_looking(static_cast<Node*>(stringToNode(rules->check[i].ccbin)), nullptr);
  table_close(relation, NoLock);
  return found;
}

/// The same for the table and its partitions.
bool any_checks_look(Oid relid, const ChangedTable& table) {
  bool found = checks_look(relid);
  ListCell* cell;
  foreach (cell, table.leaves) found = found || checks_look(lfirst_oid(cell));
  return found;
}

bool is_plain_insert(const PlannedStmt* plan) {
  if (plan->commandType != CMD_INSERT || plan->hasReturning || plan->hasModifyingCTE ||
      !IsA(plan->planTree, ModifyTable))
    return false;
  const auto* node = reinterpret_cast<const ModifyTable*>(plan->planTree);
  return node->operation == CMD_INSERT && node->canSetTag && node->onConflictAction == ONCONFLICT_NONE &&
         node->returningLists == NIL && node->withCheckOptionLists == NIL && node->rowMarks == NIL &&
         list_length(node->resultRelations) == 1;
}

}  // namespace

void register_bulk_insert() { RegisterCustomScanMethods(&kPlan); }

bool may_see_own_rows(const Query* statement) {
  const char kind = rt_fetch(statement->resultRelation, statement->rtable)->relkind;
  if (kind != RELKIND_FOREIGN_TABLE && kind != RELKIND_PARTITIONED_TABLE) return true;
  return calls_looking(reinterpret_cast<Node*>(const_cast<Query*>(statement)), nullptr);
}

void replace_insert(PlannedStmt* plan, bool waits) {
  if (!is_plain_insert(plan)) return;
  const auto* node = reinterpret_cast<const ModifyTable*>(plan->planTree);
  const auto place = static_cast<Index>(linitial_int(node->resultRelations));
  const RangeTblEntry* entry = rt_fetch(place, plan->rtable);
  ChangedTable table = {};
  if (!find_changed_table(entry, &table)) return;
  // A partitioned partition has a condition of its own.
  if (table.leaves != NIL && get_rel_relispartition(entry->relid)) return;
  waits = waits && !any_checks_look(entry->relid, table);
  auto* scan = makeNode(CustomScan);
  scan->methods = &kPlan;
  Plan* own = &scan->scan.plan;
  const Plan* other = &node->plan;
  own->startup_cost = other->startup_cost;
  own->total_cost = other->total_cost;
  own->plan_rows = other->plan_rows;
  own->plan_width = other->plan_width;
  own->plan_node_id = other->plan_node_id;
  own->initPlan = other->initPlan;
  own->extParam = other->extParam;
  own->allParam = other->allParam;
  scan->scan.scanrelid = place;
  scan->custom_plans = list_make1(outerPlan(node));
  scan->custom_private = list_make4(table.leaves, makeInteger(list_length(plan->rtable) + 1),
                                    makeInteger(table.partitioned_by), makeInteger(waits ? kTogether : 1));
  plan->planTree = own;
  add_partitions(plan, entry, table);
}

}  // namespace strom::pg::fdw_gstore
