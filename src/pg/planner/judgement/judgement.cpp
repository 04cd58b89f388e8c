#include "pg/planner/judgement/judgement.hpp"

#include "pg/compat/collation.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/catalog/referenced_columns.hpp"
#include "pg/guc/guc.hpp"
#include "pg/planner/paths/agg_path.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"
#include "pg/table/table_kind.hpp"

extern "C" {
#include "utils/ruleutils.h"
}

namespace strom::pg::planner {

namespace {

Judgements* current = nullptr;

// A form of `node` that can be printed without a plan: nodes that exist only during planning are removed, and
// parameters are shown by their numbers.
Node* shown(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (IsA(node, RestrictInfo))
    return shown(reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(node)->clause), context);
  if (IsA(node, PlaceHolderVar))
    return shown(reinterpret_cast<Node*>(reinterpret_cast<PlaceHolderVar*>(node)->phexpr), context);
  if (IsA(node, Param)) {
    auto* param = makeNode(Param);
    *param = *reinterpret_cast<Param*>(node);
    param->paramkind = PARAM_EXTERN;
    return reinterpret_cast<Node*>(param);
  }
  if (IsA(node, WindowFunc)) {  // as a call: its window would be looked up in the plan
    const auto* window = reinterpret_cast<const WindowFunc*>(node);
    auto* args = reinterpret_cast<List*>(shown(reinterpret_cast<Node*>(window->args), context));
    return reinterpret_cast<Node*>(makeFuncExpr(window->winfnoid, window->wintype, args, window->wincollid,
                                                window->inputcollid, COERCE_EXPLICIT_CALL));
  }
  return compat::mutate(node, shown, context);
}

// The expression's text as in EXPLAIN, with the names of tables.
const char* text_of(const PlannerInfo* root, const void* expr) {
  auto* plan = makeNode(PlannedStmt);
  plan->rtable = root->parse->rtable;
  Bitmapset* used = bms_add_range(nullptr, 1, list_length(plan->rtable));
  List* context = deparse_context_for_plan_tree(plan, select_rtable_names_for_explain(plan->rtable, used));
  Node* copy = shown(static_cast<Node*>(copyObjectImpl(expr)), nullptr);
  return deparse_expression(copy, context, true, false);
}

const char* table_text(const RangeTblEntry* rte) { return quote_identifier(rte->eref->aliasname); }

List* tables_of(const PlannerInfo* root, Relids relids) {
  List* tables = NIL;
  int relid = -1;
  while ((relid = bms_next_member(relids, relid)) >= 0)
    if (relid < root->simple_rel_array_size && root->simple_rte_array[relid] != nullptr)
      tables = lappend(tables, root->simple_rte_array[relid]->eref);
  return tables;
}

void note(const PlannerInfo* root, QueryPart part, const char* text, const char* reason, List* tables) {
  MemoryContext caller = MemoryContextSwitchTo(current->memory);
  auto* judgement = static_cast<Judgement*>(palloc(sizeof(Judgement)));
  *judgement = {part, pstrdup(text), reason == nullptr ? nullptr : pstrdup(reason), list_copy(tables), root};
  current->all = lappend(current->all, judgement);
  MemoryContextSwitchTo(caller);
}

// Each text is noted only once for the same tables.
bool is_noted(QueryPart part, const char* text, const List* tables) {
  ListCell* cell;
  foreach (cell, current->all) {
    const auto* judgement = static_cast<Judgement*>(lfirst(cell));
    if (judgement->part == part && strcmp(judgement->text, text) == 0 &&
        list_length(list_difference_ptr(judgement->tables, tables)) == 0)
      return true;
  }
  return false;
}

void note_expression(const PlannerInfo* root, QueryPart part, const void* expr, const char* reason, Relids relids) {
  const char* text = text_of(root, expr);
  List* tables = tables_of(root, relids);
  if (!is_noted(part, text, tables)) note(root, part, text, reason, tables);
}

void note_unread_columns(const PlannerInfo* root, const EngineScan* scan, Index relid) {
  const RangeTblEntry* rte = root->simple_rte_array[relid];
  for (int i = 1; i <= scan->column_count; ++i) {
    const ColumnFacts& facts = scan->columns[i];
    if (facts.readable || facts.reason == nullptr) continue;
    const char* text =
        psprintf("%s.%s", table_text(rte), quote_identifier(strVal(list_nth(rte->eref->colnames, i - 1))));
    note(root, QueryPart::kColumn, text, facts.reason, list_make1(rte->eref));
  }
}

bool is_known_table(const RelOptInfo* rel, const RangeTblEntry* rte) {
  if (rte->rtekind != RTE_RELATION) return false;
  return table::find_kind(rel, rte) != table::kNoKind || (rte->inh && rte->relid >= FirstNormalObjectId);
}

void judge_filters(PlannerInfo* root, RelOptInfo* rel, PlannerState* state) {
  ListCell* cell;
  foreach (cell, rel->baserestrictinfo) {
    auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    if (clause->pseudoconstant) continue;
    int operations = 0;
    const char* reason = why_not_lowered(state, reinterpret_cast<Node*>(clause->clause), &operations);
    if (reason != nullptr && membership_of(state, clause) != nullptr) reason = nullptr;
    note_expression(root, QueryPart::kFilter, clause->clause, reason, rel->relids);
  }
}

// The aggregates or window functions in `node`.
struct Found {
  NodeTag tag;
  List* nodes;
};
bool find(Node* node, void* context) {
  auto* found = static_cast<Found*>(context);
  if (node == nullptr) return false;
  if (nodeTag(node) == found->tag) {
    found->nodes = list_append_unique(found->nodes, node);
    return false;
  }
  return compat::walk(node, find, context);
}
List* nodes_in(const void* expr, NodeTag tag) {
  Found found = {tag, NIL};
  find(static_cast<Node*>(const_cast<void*>(expr)), &found);
  return found.nodes;
}

// Aggregates with DISTINCT have paths of their own, which depend on their arguments.
const char* why_not_aggregate(PlannerState* state, const Aggref* aggregate) {
  Aggref plain = *aggregate;
  int operations = 0;
  if (plain.aggkind == AGGKIND_NORMAL) plain.aggdistinct = NIL;
  if (aggregate->aggdistinct != NIL) plain.aggorder = NIL;
  return why_not_aggregated(state, &plain, &operations);
}

void judge_groups(PlannerInfo* root, PlannerState* state) {
  const Query* parse = root->parse;
  ListCell* cell;
  List* keys = list_concat_copy(parse->groupClause, parse->distinctClause);
  foreach (cell, keys) {
    Node* key = get_sortgroupclause_expr(lfirst_node(SortGroupClause, cell), root->processed_tlist);
    int operations = 0;
    if (nodes_in(key, T_Aggref) != NIL) continue;
    note_expression(root, QueryPart::kGroupKey, key, why_not_grouped(state, key, &operations), root->all_baserels);
  }
  List* aggregates = list_union(nodes_in(root->processed_tlist, T_Aggref), nodes_in(parse->havingQual, T_Aggref));
  foreach (cell, aggregates) {
    auto* aggregate = static_cast<Aggref*>(lfirst(cell));
    note_expression(root, QueryPart::kAggregate, aggregate, why_not_aggregate(state, aggregate), root->all_baserels);
  }
  foreach (cell, reinterpret_cast<List*>(parse->havingQual))
    note_expression(root, QueryPart::kHaving, lfirst(cell), "conditions on groups are evaluated by PostgreSQL",
                    root->all_baserels);
}

// Why a column that is an output is not read by the engine.
const char* why_not_read(PlannerState* state, const Var* var) {
  const EngineScan* scan = scan_of(state, var->varno);
  return scan != nullptr && scan->output_readable ? nullptr : "its table is not read by the engine";
}

void judge_outputs(PlannerInfo* root, PlannerState* state) {
  const bool is_grouped = root->parse->hasAggs || root->parse->groupClause != NIL;
  ListCell* cell;
  foreach (cell, root->processed_tlist) {
    const auto* entry = lfirst_node(TargetEntry, cell);
    auto* expr = reinterpret_cast<Node*>(entry->expr);
    if (entry->resjunk || IsA(expr, Aggref) || IsA(expr, WindowFunc) || IsA(expr, Const)) continue;
    if (is_grouped && entry->ressortgroupref != 0) continue;  // usually a key
    const char* reason = is_grouped       ? "computed by PostgreSQL from the groups"
                         : IsA(expr, Var) ? why_not_read(state, reinterpret_cast<const Var*>(expr))
                                          : "computed by PostgreSQL from the engine's rows";
    note_expression(root, QueryPart::kOutput, expr, reason, root->all_baserels);
  }
}

const char* why_not_ordered(PlannerState* state, const Node* key, Oid sort_operator) {
  if (!guc::pg_strom::enable_gpusort) return "pg_strom.enable_gpusort is off";
  const Oid collation = exprCollation(key);
  if (OidIsValid(collation) && !compat::collation_orders_bytes(collation))
    return psprintf("collation \"%s\" orders text differently from bytes", get_collation_name(collation));
  bool descending;
  if (is_engine_order(key, sort_operator, &descending) && is_sorted_by_engine(state, key)) return nullptr;
  return "the engine does not sort by such values";
}

void judge_order(PlannerInfo* root, PlannerState* state) {
  const Query* parse = root->parse;
  const bool is_after = parse->hasAggs || parse->groupClause != NIL || parse->hasWindowFuncs;
  ListCell* cell;
  foreach (cell, parse->sortClause) {
    const auto* clause = lfirst_node(SortGroupClause, cell);
    Node* key = get_sortgroupclause_expr(const_cast<SortGroupClause*>(clause), root->processed_tlist);
    if (is_after)
      note_expression(root, QueryPart::kLaterOrder, key, "groups and windows are sorted by PostgreSQL",
                      root->all_baserels);
    else
      note_expression(root, QueryPart::kOrder, key, why_not_ordered(state, key, clause->sortop), root->all_baserels);
  }
}

}  // namespace

const char* part_name(QueryPart part) {
  switch (part) {
    case QueryPart::kScan: return "table";
    case QueryPart::kColumn: return "column";
    case QueryPart::kFilter: return "filter";
    case QueryPart::kJoin: return "join clause";
    case QueryPart::kGroupKey: return "group key";
    case QueryPart::kAggregate: return "aggregate";
    case QueryPart::kHaving: return "having";
    case QueryPart::kWindow: return "window function";
    case QueryPart::kOutput: return "output";
    case QueryPart::kOrder:
    case QueryPart::kLaterOrder: return "sort key";
  }
  return "?";
}

Judgements* begin_judging() {
  auto* judgements = static_cast<Judgements*>(palloc0(sizeof(Judgements)));
  judgements->memory = CurrentMemoryContext;
  return judgements;
}

Judgements* set_judging(Judgements* judgements) {
  Judgements* before = current;
  current = judgements;
  return before;
}

bool is_judging() { return current != nullptr; }

void end_judging(Judgements* judgements, const PlannedStmt* plan) {
  MemoryContext caller = MemoryContextSwitchTo(judgements->memory);
  judgements->lines = not_offloaded(plan, judgements);
  judgements->uses_engine = uses_engine(plan);
  MemoryContextSwitchTo(caller);
}

void judge_table(PlannerInfo* root, RelOptInfo* rel, RangeTblEntry* rte, const char* statement_reason) {
  if (current == nullptr) return;
  if (!is_known_table(rel, rte)) {
    if (rte->rtekind == RTE_RELATION && rel->reloptkind == RELOPT_BASEREL)
      note(root, QueryPart::kScan, table_text(rte), "not a heap table or an Arrow table of a user's",
           list_make1(rte->eref));
    return;
  }
  MemoryContext caller = MemoryContextSwitchTo(current->memory);
  const Index parent = topmost_parent(root, rel->relid);
  if (parent != rel->relid) {
    current->members = lappend(current->members, rte->eref);
    current->parents = lappend(current->parents, root->simple_rte_array[parent]->eref);
  } else {
    current->known = lappend(current->known, rte->eref);
  }
  MemoryContextSwitchTo(caller);
  if (parent != rel->relid) return;
  PlannerState* state = make_state(root);
  const EngineScan* scan = scan_of(state, rel->relid);
  const char* reason = statement_reason != nullptr ? statement_reason : why_not_scanned(root, rel, rte);
  if (reason == nullptr && scan == nullptr && rte->inh) reason = "its partitions cannot be read as one";
  if (reason == nullptr && (scan == nullptr || !scan->output_readable))
    reason = scan != nullptr && scan->refusal != nullptr ? scan->refusal : "a column that is needed cannot be read";
  note(root, QueryPart::kScan, table_text(rte), reason, list_make1(rte->eref));
  if (scan != nullptr) note_unread_columns(root, scan, rel->relid);
  judge_filters(root, rel, state);
}

void judge_grouping(PlannerInfo* root, RelOptInfo* input_rel) {
  if (current == nullptr) return;
  const char* reason = nullptr;
  if (fusable_input(root, input_rel) == nullptr)
    reason =
        guc::pg_strom::enable_gpupreagg ? "its input does not run in the engine" : "pg_strom.enable_gpupreagg is off";
  else if (root->hasNonPartialAggs || root->hasNonSerialAggs)
    reason = "an aggregate cannot be computed in parts";
  List* tables = tables_of(root, root->all_baserels);
  MemoryContext caller = MemoryContextSwitchTo(current->memory);
  auto* judgement = static_cast<Judgement*>(palloc(sizeof(Judgement)));
  *judgement = {QueryPart::kAggregate, "", reason, list_copy(tables), root};
  current->groups = lappend(current->groups, judgement);
  MemoryContextSwitchTo(caller);
}

void judge_join(PlannerInfo* root, RelOptInfo* joinrel, const JoinPathExtraData* extra, JoinType type) {
  if (current == nullptr) return;
  PlannerState* state = make_state(root);
  if (input_of(state, joinrel) != nullptr) {
    List* tables = tables_of(root, joinrel->relids);
    MemoryContext caller = MemoryContextSwitchTo(current->memory);
    current->joins = lappend(current->joins, list_copy(tables));
    MemoryContextSwitchTo(caller);
  }
  ListCell* cell;
  foreach (cell, extra->restrictlist) {
    const auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    int operations = 0;
    const char* reason = why_not_lowered(state, reinterpret_cast<Node*>(clause->clause), &operations);
    if (reason == nullptr && clause->can_join && is_opclause(clause->clause) && clause->mergeopfamilies != NIL)
      reason = why_not_key(state, reinterpret_cast<OpExpr*>(clause->clause), &operations);
    if (reason == nullptr && type != JOIN_INNER && clause->mergeopfamilies == NIL &&
        can_fail(state, reinterpret_cast<Node*>(clause->clause)))
      reason = "can fail where it decides whether rows match";
    note_expression(root, QueryPart::kJoin, clause->clause, reason, clause->clause_relids);
  }
}

void judge_query(PlannerInfo* root) {
  if (current == nullptr) return;
  MemoryContext caller = MemoryContextSwitchTo(current->memory);
  current->roots = lappend(current->roots, root);
  MemoryContextSwitchTo(caller);
  if (bms_is_empty(root->all_baserels)) return;
  PlannerState* state = make_state(root);
  judge_groups(root, state);
  ListCell* cell;
  foreach (cell, nodes_in(root->processed_tlist, T_WindowFunc))
    note_expression(root, QueryPart::kWindow, lfirst(cell), "window functions are computed by PostgreSQL",
                    root->all_baserels);
  judge_outputs(root, state);
  judge_order(root, state);
}

}  // namespace strom::pg::planner
