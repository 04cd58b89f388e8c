// Planning of UPDATE and DELETE by key without PostgreSQL's planner. All that differs between such statements are
// expressions, so there is nothing to choose, and the plan is made from the parsed statement. May ereport.
#include "pg/compat/range_table.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/fdw_gstore/changed_table.hpp"
#include "pg/fdw_gstore/key_clause.hpp"
#include "pg/fdw_gstore/keyed_change.hpp"
#include "pg/guc/guc.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::fdw_gstore {

namespace {

bool is_for_one_table(const Query* parse) {
  if (parse->commandType != CMD_UPDATE && parse->commandType != CMD_DELETE) return false;
  return list_length(parse->rtable) == 1 && parse->resultRelation == 1 && list_length(parse->jointree->fromlist) == 1 &&
         parse->jointree->quals != nullptr && parse->cteList == NIL && parse->returningList == NIL &&
         parse->withCheckOptions == NIL && parse->rowMarks == NIL && !parse->hasTargetSRFs && !parse->hasRowSecurity;
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

/// True if some of the expression's arguments may not be evaluated.
bool skips_arguments(const Node* node) {
  return IsA(node, CaseExpr) || IsA(node, CoalesceExpr) || IsA(node, BoolExpr) || IsA(node, SubscriptingRef) ||
         IsA(node, RowCompareExpr);
}

/// Replaces such sub-queries by parameters, whose values it adds to the list at `values`, where they are always needed.
Node* without_values(Node* node, void* values) {
  if (node == nullptr || skips_arguments(node)) return node;
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

/// True if the key needs each value of a sub-query, and nothing else does: the conditions on the row may not be looked
/// at where there is no row.
bool has_values_in_key(const KeyedChange& change) {
  for (int i = 0; i < list_length(change.evaluated); ++i) {
    List* number = list_make1_int(i);
    if (!contain_exec_param(reinterpret_cast<Node*>(change.value), number) ||
        contain_exec_param(reinterpret_cast<Node*>(change.rest), number))
      return false;
  }
  return true;
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
bool tells_partition(const ChangedTable& target, const Expr* clause) {
  if (target.leaves == NIL) return true;
  const auto* comparison = reinterpret_cast<const OpExpr*>(clause);
  return op_in_opfamily(comparison->opno, target.family) &&
         (!OidIsValid(target.collation) || target.collation == comparison->inputcollid);
}

/// Divides the conditions into one on the key and the rest. False: there is none on the key.
bool divide(const ChangedTable& target, List* clauses, KeyedChange* change) {
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

PlannedStmt* make_statement(const Query* parse, const ChangedTable& target, const KeyedChange& change) {
  const auto* entry = linitial_node(RangeTblEntry, parse->rtable);
  auto* plan = makeNode(PlannedStmt);
  plan->commandType = parse->commandType;
  plan->queryId = parse->queryId;
  plan->canSetTag = parse->canSetTag;
  plan->planTree = reinterpret_cast<Plan*>(keyed_change_plan(change, parse->commandType));
  plan->resultRelations = list_make1_int(1);
  plan->stmt_location = parse->stmt_location;
  plan->stmt_len = parse->stmt_len;
  plan->rtable = list_copy(parse->rtable);
  plan->relationOids = list_make1_oid(entry->relid);
  compat::set_rights(plan, parse);
  add_partitions(plan, entry, target);
  ListCell* cell;
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

}  // namespace

PlannedStmt* plan_keyed_change(const Query* parse) {
  if (!is_for_one_table(parse)) return nullptr;
  ChangedTable target = {};
  const auto* entry = linitial_node(RangeTblEntry, parse->rtable);
  // Neither tables that inherit from this one, nor a partitioned table without its partitions.
  const bool has_others =
      entry->relkind == RELKIND_FOREIGN_TABLE ? entry->inh && has_subclass(entry->relid) : !entry->inh;
  if (has_others || !find_changed_table(entry, &target) || !target.has_key) return nullptr;
  KeyedChange change = {};
  change.leaves = target.leaves;
  change.key = target.table->key_column().attnum;
  List *values = NIL, *evaluated = NIL, *relations = NIL, *items = NIL;
  if (!find_set(parse, change.key, &values, &change.columns) || may_move(entry->relid, change.columns)) return nullptr;
  Node* conditions = parse->jointree->quals;
  if (parse->hasSubLinks) {
    List* quals = make_ands_implicit(reinterpret_cast<Expr*>(conditions));
    quals = reinterpret_cast<List*>(without_values(reinterpret_cast<Node*>(quals), &evaluated));
    conditions = reinterpret_cast<Node*>(make_ands_explicit(quals));
  }
  List* all = list_make3(conditions, values, evaluated);
  if (parse->hasSubLinks && checkExprHasSubLink(reinterpret_cast<Node*>(all))) return nullptr;
  all = reinterpret_cast<List*>(expression_planner_with_deps(reinterpret_cast<Expr*>(all), &relations, &items));
  change.evaluated = static_cast<List*>(lthird(all));
  if (!divide(target, make_ands_implicit(static_cast<Expr*>(linitial(all))), &change)) return nullptr;
  if (!has_values_in_key(change)) return nullptr;
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

}  // namespace strom::pg::fdw_gstore
