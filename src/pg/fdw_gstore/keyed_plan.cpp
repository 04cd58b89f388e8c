// Planning of UPDATE and DELETE by key without PostgreSQL's planner. All that differs between such statements are
// expressions, so there is nothing to choose, and the plan is made from the parsed statement. May ereport.
#include "pg/compat/generated_columns.hpp"
#include "pg/compat/range_table.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/fdw_gstore/key_clause.hpp"
#include "pg/fdw_gstore/keyed_change.hpp"
#include "pg/guc/guc.hpp"
#include "pg/store/server_headers.hpp"

extern "C" {
#include "partitioning/partdesc.h"
}

namespace strom::pg::fdw_gstore {

namespace {

planner_hook_type next_hook = nullptr;

bool is_for_one_table(const Query* parse) {
  if (parse->commandType != CMD_UPDATE && parse->commandType != CMD_DELETE) return false;
  return list_length(parse->rtable) == 1 && parse->resultRelation == 1 && list_length(parse->jointree->fromlist) == 1 &&
         parse->jointree->quals != nullptr && parse->cteList == NIL && parse->returningList == NIL &&
         parse->withCheckOptions == NIL && parse->rowMarks == NIL && !parse->hasTargetSRFs && !parse->hasRowSecurity;
}

/// True if the rows of a store table can be changed without the executor's nodes for changes.
bool is_simple_table(Relation relation) {
  const TupleConstr* constraints = RelationGetDescr(relation)->constr;
  const bool is_generated =
      constraints != nullptr && (constraints->has_generated_stored || compat::has_virtual_columns(*constraints));
  return store::is_store_table(relation) && relation->trigdesc == nullptr && !is_generated &&
         store::open_table(relation)->key() >= 0;
}

AttrNumber key_of(Relation relation) {
  const store::Table* table = store::open_table(relation);
  return table->columns[static_cast<size_t>(table->key())].attnum;
}

bool has_columns_of(Relation partition, Relation parent) {
  const TupleDesc own = RelationGetDescr(partition), other = RelationGetDescr(parent);
  bool same = own->natts == other->natts;
  for (int i = 0; same && i < own->natts; ++i)
    same = TupleDescAttr(own, i)->attisdropped == TupleDescAttr(other, i)->attisdropped &&
           namestrcmp(&TupleDescAttr(own, i)->attname, NameStr(TupleDescAttr(other, i)->attname)) == 0;
  return same;
}

/// What a statement changes.
struct Target {
  const store::Table* table;  // the table, or the first partition
  List* leaves;               // OIDs of the partitions; NIL: not partitioned
  Oid family, collation;      // of the partition key
};

bool find_partitions(Relation parent, LOCKMODE mode, Target* target) {
  PartitionKey key = RelationGetPartitionKey(parent);
  if (key->partnatts != 1 || key->partattrs[0] == 0 || parent->trigdesc != nullptr) return false;
  target->family = key->partopfamily[0];
  target->collation = key->partcollation[0];
  PartitionDesc partitions = RelationGetPartitionDesc(parent, true);
  for (int i = 0; i < partitions->nparts; ++i) {
    Relation partition = try_relation_open(partitions->oids[i], mode);
    if (partition == nullptr) return false;
    const bool fits =
        is_simple_table(partition) && has_columns_of(partition, parent) && key_of(partition) == key->partattrs[0];
    if (fits && i == 0) target->table = store::open_table(partition);
    relation_close(partition, NoLock);
    if (!fits) return false;
    target->leaves = lappend_oid(target->leaves, partitions->oids[i]);
  }
  return partitions->nparts != 0;
}

bool find_target(const RangeTblEntry* entry, Target* target) {
  if (entry->rtekind != RTE_RELATION || entry->securityQuals != NIL) return false;
  if (entry->relkind == RELKIND_FOREIGN_TABLE) {
    if ((entry->inh && has_subclass(entry->relid)) || !store::is_store_table(entry->relid)) return false;
    Relation relation = table_open(entry->relid, NoLock);
    const bool fits = is_simple_table(relation);
    if (fits) target->table = store::open_table(relation);
    table_close(relation, NoLock);
    return fits;
  }
  if (entry->relkind != RELKIND_PARTITIONED_TABLE || !entry->inh) return false;
  Relation relation = table_open(entry->relid, NoLock);
  const bool fits = find_partitions(relation, entry->rellockmode, target);
  table_close(relation, NoLock);
  return fits;
}

/// The value of a sub-query that has no table, so that it is evaluated once; nullptr: it is another one.
Expr* value_of(const SubLink* link) {
  if (link->subLinkType != EXPR_SUBLINK) return nullptr;
  const auto* query = castNode(Query, link->subselect);
  const bool is_value = query->commandType == CMD_SELECT && query->rtable == NIL && query->jointree->fromlist == NIL &&
                        query->jointree->quals == nullptr && list_length(query->targetList) == 1 && !query->hasAggs &&
                        !query->hasWindowFuncs && !query->hasTargetSRFs && !query->hasSubLinks &&
                        query->groupClause == NIL && query->groupingSets == NIL && query->havingQual == nullptr &&
                        query->distinctClause == NIL && query->sortClause == NIL && query->limitOffset == nullptr &&
                        query->limitCount == nullptr && query->cteList == NIL && query->setOperations == nullptr &&
                        query->rowMarks == NIL;
  if (!is_value) return nullptr;
  Expr* value = linitial_node(TargetEntry, query->targetList)->expr;
  return contain_vars_of_level(reinterpret_cast<Node*>(value), 1) ? nullptr : value;
}

/// Replaces such sub-queries by parameters, whose values it adds to the list at `values`.
Node* without_values(Node* node, void* values) {
  if (node == nullptr) return nullptr;
  auto** list = static_cast<List**>(values);
  Expr* value = IsA(node, SubLink) ? value_of(reinterpret_cast<SubLink*>(node)) : nullptr;
  if (value == nullptr) return compat::mutate(node, without_values, values);
  auto* replacement = makeNode(Param);
  replacement->paramkind = PARAM_EXEC;
  replacement->paramid = list_length(*list);
  replacement->paramtype = exprType(reinterpret_cast<Node*>(value));
  replacement->paramtypmod = exprTypmod(reinterpret_cast<Node*>(value));
  replacement->paramcollid = exprCollation(reinterpret_cast<Node*>(value));
  replacement->location = -1;
  *list = lappend(*list, value);
  return reinterpret_cast<Node*>(replacement);
}

/// True if conditions on the row need values of sub-queries: these may not be evaluated where there is no row.
bool need_values(List* conditions, const List* values) {
  List* numbers = NIL;
  for (int i = 0; i < list_length(values); ++i) numbers = lappend_int(numbers, i);
  return numbers != NIL && contain_exec_param(reinterpret_cast<Node*>(conditions), numbers);
}

/// The numbers of the columns in an expression. False: it refers to the whole row or to columns of the system.
bool find_read(Node* node, List** read) {
  Bitmapset* attributes = nullptr;
  pull_varattnos(node, 1, &attributes);
  for (int member = -1; (member = bms_next_member(attributes, member)) >= 0;) {
    const int number = member + FirstLowInvalidHeapAttributeNumber;
    if (number <= 0) return false;
    *read = lappend_int(*read, number);
  }
  return true;
}

/// True if a clause with this operator tells the partition.
bool tells_partition(const Target& target, const Expr* clause) {
  if (target.leaves == NIL) return true;
  const auto* comparison = reinterpret_cast<const OpExpr*>(clause);
  return op_in_opfamily(comparison->opno, target.family) &&
         (!OidIsValid(target.collation) || target.collation == comparison->inputcollid);
}

/// Divides the conditions into one on the key and the rest. False: there is none on the key.
bool divide(const Target& target, List* clauses, KeyedChange* change) {
  ListCell* cell;
  foreach (cell, clauses) {
    auto* clause = static_cast<Expr*>(lfirst(cell));
    KeyClause match;
    const bool is_key = change->clause == nullptr && match_key_clause(nullptr, target.table, 1, clause, &match) &&
                        !match.is_array && tells_partition(target, clause);
    if (!is_key) {
      change->rest = lappend(change->rest, clause);
      continue;
    }
    change->clause = clause;
    change->value = match.value;
    change->type = match.type;
  }
  return change->clause != nullptr;
}

PlannedStmt* make_statement(const Query* parse, const Target& target, const KeyedChange& change) {
  const auto* entry = linitial_node(RangeTblEntry, parse->rtable);
  auto* plan = makeNode(PlannedStmt);
  plan->commandType = parse->commandType;
  plan->queryId = parse->queryId;
  plan->canSetTag = parse->canSetTag;
  plan->planTree = reinterpret_cast<Plan*>(keyed_change_plan(change, parse->commandType));
  plan->resultRelations = list_make1_int(1);
  plan->stmt_location = parse->stmt_location;
  plan->stmt_len = parse->stmt_len;
  List* entries = list_copy(parse->rtable);
  plan->relationOids = list_make1_oid(entry->relid);
  ListCell* cell;
  foreach (cell, target.leaves) {
    entries = lappend(entries, compat::partition_entry(entry, lfirst_oid(cell)));
    plan->relationOids = lappend_oid(plan->relationOids, lfirst_oid(cell));
  }
  compat::set_range_table(plan, entries, parse);
  foreach (cell, change.evaluated)
    plan->paramExecTypes = lappend_oid(plan->paramExecTypes, exprType(static_cast<Node*>(lfirst(cell))));
  return plan;
}

/// The new values of the columns. False: one of them is the key, or no column of the table.
bool find_set(const Query* parse, AttrNumber key, List** values, List** columns) {
  if (parse->commandType != CMD_UPDATE) return true;
  ListCell* cell;
  foreach (cell, parse->targetList) {
    const auto* entry = lfirst_node(TargetEntry, cell);
    if (entry->resjunk || entry->resno == key) return false;
    *values = lappend(*values, entry->expr);
    *columns = lappend_int(*columns, entry->resno);
  }
  return *columns != NIL;
}

/// A plan for the statement; nullptr: it is left to PostgreSQL's planner. Does not change the statement.
PlannedStmt* plan_change(const Query* parse) {
  if (!is_for_one_table(parse)) return nullptr;
  Target target = {};
  if (!find_target(linitial_node(RangeTblEntry, parse->rtable), &target)) return nullptr;
  KeyedChange change = {};
  change.leaves = target.leaves;
  change.key = target.table->columns[static_cast<size_t>(target.table->key())].attnum;
  List *values = NIL, *evaluated = NIL, *relations = NIL, *items = NIL;
  if (!find_set(parse, change.key, &values, &change.columns)) return nullptr;
  Node* conditions = parse->hasSubLinks ? without_values(parse->jointree->quals, &evaluated) : parse->jointree->quals;
  List* all = list_make3(conditions, values, evaluated);
  if (parse->hasSubLinks && checkExprHasSubLink(reinterpret_cast<Node*>(all))) return nullptr;
  all = reinterpret_cast<List*>(expression_planner_with_deps(reinterpret_cast<Expr*>(all), &relations, &items));
  change.evaluated = static_cast<List*>(lthird(all));
  if (!divide(target, make_ands_implicit(static_cast<Expr*>(linitial(all))), &change)) return nullptr;
  if (need_values(change.rest, change.evaluated)) return nullptr;
  if (!find_read(static_cast<Node*>(lsecond(all)), &change.read) ||
      !find_read(reinterpret_cast<Node*>(change.rest), &change.read))
    return nullptr;
  ListCell* cell;
  foreach (cell, static_cast<List*>(lsecond(all)))
    change.targets = lappend(change.targets,
                             makeTargetEntry(static_cast<Expr*>(lfirst(cell)),
                                             static_cast<AttrNumber>(foreach_current_index(cell) + 1), nullptr, false));
  PlannedStmt* plan = make_statement(parse, target, change);
  plan->relationOids = list_concat(plan->relationOids, relations);
  plan->invalItems = items;
  return plan;
}

PlannedStmt* on_statement(Query* parse, const char* text, int cursor_options, ParamListInfo parameters) {
  PlannedStmt* plan = guc::pg_strom::enabled && enable_indexscan ? plan_change(parse) : nullptr;
  if (plan != nullptr) return plan;
  return next_hook != nullptr ? next_hook(parse, text, cursor_options, parameters)
                              : standard_planner(parse, text, cursor_options, parameters);
}

}  // namespace

void install_keyed_changes() {
  register_keyed_change();
  next_hook = planner_hook;
  planner_hook = on_statement;
}

}  // namespace strom::pg::fdw_gstore
