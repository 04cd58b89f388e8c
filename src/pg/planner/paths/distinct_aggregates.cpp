// Aggregates with DISTINCT give the same result if duplicate rows are removed. So the engine groups by the keys and the
// aggregates' arguments, and PostgreSQL's Aggregate above processes the remaining rows. May ereport.
#include "pg/compat/grouping_path.hpp"
#include "pg/planner/paths/agg_path.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"
#include "registry/aggregates.hpp"

namespace strom::pg::planner {

namespace {

List* aggregates_of(const PathTarget* target, Node* having) {
  List* exprs = list_copy(target->exprs);
  if (having != nullptr) exprs = lappend(exprs, having);
  return pull_var_clause(reinterpret_cast<Node*>(exprs),
                         PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_RECURSE_PLACEHOLDERS);
}

// True for aggregates whose result does not depend on how often a row occurs.
bool ignores_copies(const Aggref* aggregate) {
  if (aggregate->aggdistinct != NIL) return true;
  if (get_func_namespace(aggregate->aggfnoid) != PG_CATALOG_NAMESPACE) return false;
  const char* name = get_func_name(aggregate->aggfnoid);
  if (name == nullptr) return false;
  return name == registry::kAnyValue || registry::any_aggregate(name, [](const registry::AggregateInfo& row) {
           return registry::ignores_copies(row.acc);
         });
}

void add_input(PathTarget* target, Node* expr) {
  if (!list_member(target->exprs, expr) && !IsA(expr, Const))
    add_column_to_pathtarget(target, reinterpret_cast<Expr*>(expr), 0);
}

// Adds the arguments and conditions of `aggregate` to `target` as columns. Returns the reason why not, or nullptr.
const char* add_inputs(PlannerState* state, PathTarget* target, const Aggref* aggregate) {
  if (aggregate->aggkind != AGGKIND_NORMAL) return "ordered-set aggregate";
  ListCell* cell;
  foreach (cell, aggregate->args) {
    auto* expr = reinterpret_cast<Node*>(lfirst_node(TargetEntry, cell)->expr);
    // The engine evaluates arguments also for rows that FILTER excludes.
    if (aggregate->aggfilter != nullptr && can_fail(state, expr)) return "argument that can fail, under FILTER";
    add_input(target, expr);
  }
  if (aggregate->aggfilter != nullptr) add_input(target, reinterpret_cast<Node*>(aggregate->aggfilter));
  return nullptr;
}

// The grouping expressions and the aggregates' inputs; nullptr when the engine cannot group by them.
PathTarget* distinct_target(PlannerInfo* root, PathTarget* grouping_target, Node* having, EngineInput* input) {
  PlannerState* state = find_state(root);
  PathTarget* target = create_empty_pathtarget();
  ListCell* cell;
  int i = 0;
  foreach (cell, grouping_target->exprs) {
    const Index ref = get_pathtarget_sortgroupref(grouping_target, i++);
    const bool is_key = ref != 0 && get_sortgroupref_clause_noerr(ref, root->parse->groupClause) != nullptr;
    // PostgreSQL would not take a constant from the node below, where a grouping set makes it NULL.
    if (is_key && root->parse->groupingSets != NIL && !contain_var_clause(static_cast<Node*>(lfirst(cell))))
      return nullptr;
    if (is_key) add_column_to_pathtarget(target, static_cast<Expr*>(lfirst(cell)), ref);
  }
  foreach (cell, aggregates_of(grouping_target, having)) {
    auto* expr = static_cast<Node*>(lfirst(cell));
    if (IsA(expr, GroupingFunc) && root->parse->groupingSets != NIL) continue;  // known from the grouping set
    if (IsA(expr, GroupingFunc)) return nullptr;
    if (!IsA(expr, Aggref)) {
      add_input(target, expr);
      continue;
    }
    const char* reason = add_inputs(state, target, reinterpret_cast<Aggref*>(expr));
    if (reason == nullptr) continue;
    refuse(input, make_refusal(expr, reason));
    return nullptr;
  }
  if (target->exprs == NIL) return nullptr;  // all arguments are constants
  int operations = 0;
  Refusal* refusal = refused_output(state, input, target, &operations);
  if (refusal == nullptr) return set_pathtarget_cost_width(root, target);
  refuse(input, refusal);
  return nullptr;
}

}  // namespace

// True if the engine may drop duplicate rows altogether.
static bool all_ignore_copies(const PathTarget* grouping_target, Node* having) {
  ListCell* cell;
  foreach (cell, aggregates_of(grouping_target, having))
    if (IsA(lfirst(cell), Aggref) && !ignores_copies(lfirst_node(Aggref, cell))) return false;
  return true;
}

// Offers PostgreSQL's own grouping sets, as planned for sorted rows, over `path`. `path` is sorted for the first set.
static void offer_sorted_sets(PlannerInfo* root, RelOptInfo* grouped_rel, Path* path, const AggClauseCosts* costs) {
  const GroupingSetsPath* planned = nullptr;
  ListCell* cell;
  foreach (cell, grouped_rel->pathlist) {
    const auto* known = static_cast<GroupingSetsPath*>(lfirst(cell));
    if (IsA(known, GroupingSetsPath) && known->aggstrategy == AGG_SORTED) planned = known;
  }
  if (planned == nullptr) return;
  add_path(grouped_rel, compat::grouping_sets_over(root, path, planned, costs));
}

bool has_distinct_aggregates(const PathTarget* grouping_target, Node* having) {
  ListCell* cell;
  foreach (cell, aggregates_of(grouping_target, having)) {
    const auto* expr = static_cast<Node*>(lfirst(cell));
    if (IsA(expr, Aggref) && reinterpret_cast<const Aggref*>(expr)->aggdistinct != NIL) return true;
  }
  return false;
}

void offer_distinct_aggregates(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel,
                               GroupPathExtraData* extra, EngineInput* input) {
  const Query* parse = root->parse;
  // PostgreSQL's own grouping sets would have to remove the columns' marks as nullable.
  const bool marked = parse->groupingSets != NIL && compat::kGroupedColumnsAreNullable;
  const bool copies_count = marked || !all_ignore_copies(grouped_rel->reltarget, extra->havingQual);
  offer_mixed_aggregates(root, input_rel, grouped_rel, extra, input, copies_count);
  if (copies_count) return;
  if (!grouping_is_sortable(parse->groupClause)) return;
  PathTarget* target = distinct_target(root, grouped_rel->reltarget, extra->havingQual, input);
  if (target == nullptr) return;
  const double rows = estimate_num_groups(root, target->exprs, input->rows, nullptr, nullptr);
  if (rows > input->rows * kWorthwhileShare) return;
  EnginePath* engine = make_engine_path(input_rel, target, input, make_aggregation(target, rows));
  Path* path = reinterpret_cast<Path*>(engine);
  if (root->group_pathkeys != NIL)
    path = reinterpret_cast<Path*>(create_sort_path(root, grouped_rel, path, root->group_pathkeys, -1));
  AggClauseCosts costs;
  MemSet(&costs, 0, sizeof(costs));
  get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
  if (parse->groupingSets != NIL) {
    offer_sorted_sets(root, grouped_rel, path, &costs);
    return;
  }
  const bool grouped = parse->groupClause != NIL;
  const double groups = grouped
                            ? estimate_num_groups(root, get_sortgrouplist_exprs(parse->groupClause, extra->targetList),
                                                  input->rows, nullptr, nullptr)
                            : 1;
  add_path(grouped_rel,
           reinterpret_cast<Path*>(create_agg_path(
               root, grouped_rel, path, grouped_rel->reltarget, grouped ? AGG_SORTED : AGG_PLAIN, AGGSPLIT_SIMPLE,
               parse->groupClause, reinterpret_cast<List*>(extra->havingQual), &costs, groups)));
}

}  // namespace strom::pg::planner
