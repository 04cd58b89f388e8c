// ORDER BY … LIMIT n over one of our scans or joins. The engine returns the rows that can be among the first n by the
// first sort key, and PostgreSQL's Sort above decides. The same for the first rows of each partition of a window.
// May ereport.
#include <cmath>

#include "pg/codec/type_map.hpp"
#include "pg/compat/collation.hpp"
#include "pg/compat/ordering.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/compat/window.hpp"
#include "pg/guc/guc.hpp"
#include "pg/planner/costs/cost.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

namespace {

// With more rows, each worker would hold more of them for less gain.
constexpr double kMostRows = 100000;

// root->limit_tuples is an estimate unless LIMIT and OFFSET are literals.
bool is_literal(const Node* node) { return node == nullptr || IsA(node, Const); }

// Rows that are not returned are not projected either, which must not hide an error. So the engine computes expressions
// that can fail for all rows, and also returns the rows for which they fail. False when it cannot compute them.
bool hides_no_error(PlannerState* state, const EngineInput* input, const PathTarget* target, EngineTop* top) {
  int all = 0;
  ListCell* cell;
  foreach (cell, target->exprs) {
    auto* expr = static_cast<Node*>(lfirst(cell));
    if (IsA(expr, Var) || equal(expr, top->key) || !can_fail(state, expr)) continue;
    int operations = 0;
    if (why_not_lowered(state, expr, &operations) != nullptr) return false;
    top->checked = lappend(top->checked, expr);
    all += operations;
  }
  return has_room_for(state, input, top->checked, all);
}

}  // namespace

bool is_engine_order(const Node* key, Oid sort_operator, bool* descending) {
  Oid family;
  if (!compat::ordering_of(sort_operator, &family, descending)) return false;
  if (lookup_type_cache(exprType(key), TYPECACHE_BTREE_OPFAMILY)->btree_opf != family) return false;
  const Oid collation = exprCollation(key);
  if (OidIsValid(collation) && !compat::collation_orders_bytes(collation)) return false;
  const registry::TypeInfo* info = codec::engine_type(exprType(key));
  return info != nullptr && registry::orders_as_register(info->id);
}

void offer_top_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel) {
  const Query* parse = root->parse;
  if (root->limit_tuples < 1 || root->limit_tuples > kMostRows || parse->sortClause == NIL ||
      root->sort_pathkeys == NIL)
    return;
  if (!is_literal(parse->limitCount) || !is_literal(parse->limitOffset)) return;
  PlannerState* state = find_state(root);
  if (state == nullptr || !guc::pg_strom::enable_gpuscan || !guc::pg_strom::enable_gpusort) return;
  if (input_rel->reloptkind != RELOPT_BASEREL && input_rel->reloptkind != RELOPT_JOINREL) return;
  EngineInput* input = input_of(state, input_rel);
  if (input == nullptr || input->host_quals != NIL) return;

  const auto* clause = linitial_node(SortGroupClause, parse->sortClause);
  auto* top = static_cast<EngineTop*>(palloc0(sizeof(EngineTop)));
  top->key = get_sortgroupclause_expr(const_cast<SortGroupClause*>(clause), root->processed_tlist);
  top->nulls_first = clause->nulls_first;
  top->rows = root->limit_tuples;
  int operations = 0;
  if (!is_engine_order(top->key, clause->sortop, &top->descending)) return;
  if (why_not_lowered(state, top->key, &operations) != nullptr) return;
  PathTarget* target = input_rel->reltarget;
  if (!hides_no_error(state, input, target, top)) return;

  auto* rows = make_engine_path(input_rel, target, input, nullptr, top);
  Path* path = reinterpret_cast<Path*>(
      create_sort_path(root, ordered_rel, reinterpret_cast<Path*>(rows), root->sort_pathkeys, root->limit_tuples));
  PathTarget* ordered = root->upper_targets[UPPERREL_FINAL];
  if (path->pathtarget != ordered) path = apply_projection_to_path(root, ordered_rel, path, ordered);
  add_path(ordered_rel, path);
}

namespace {

// With more rows of each partition, keeping them in order costs more and gains less.
constexpr int64_t kMostOfPartition = 1000;
// It is worth it if at most this share of the rows is returned.
constexpr double kWorthwhileTop = 0.5;

List* window_functions(List* exprs) {
  struct Walk {
    static bool visit(Node* node, void* context) {
      if (node == nullptr) return false;
      if (!IsA(node, WindowFunc)) return compat::walk(node, visit, context);
      auto** found = static_cast<List**>(context);
      *found = lappend(*found, node);
      return false;
    }
  };
  List* found = NIL;
  Walk::visit(reinterpret_cast<Node*>(exprs), &found);
  return found;
}

// True for functions whose result depends on no later row, except on rows that are equal in the order.
bool is_numbering(const WindowFunc* function) {
  return function->winfnoid == F_ROW_NUMBER || function->winfnoid == F_RANK_ || function->winfnoid == F_DENSE_RANK_;
}

// The highest row number that passes the limit; 0 when planning does not know it, or when too many rows pass.
int64_t highest_number(const compat::WindowLimit* limit) {
  const auto* literal = reinterpret_cast<const Const*>(limit->limit);
  if (!IsA(literal, Const) || literal->constisnull) return 0;
  int64_t value = 0;
  switch (literal->consttype) {
    case INT2OID: value = DatumGetInt16(literal->constvalue); break;
    case INT4OID: value = DatumGetInt32(literal->constvalue); break;
    case INT8OID: value = DatumGetInt64(literal->constvalue); break;
    default: return 0;
  }
  const int strategy =
      get_op_opfamily_strategy(limit->op, lookup_type_cache(INT8OID, TYPECACHE_BTREE_OPFAMILY)->btree_opf);
  const bool less = strategy == (limit->function_is_left ? BTLessStrategyNumber : BTGreaterStrategyNumber);
  if (!less && strategy != (limit->function_is_left ? BTLessEqualStrategyNumber : BTGreaterEqualStrategyNumber))
    return 0;
  if (value < 1 || value > kMostOfPartition) return 0;
  return less ? value - 1 : value;
}

// Uses the first suitable one of the conditions, all of which must hold.
bool find_limit(const WindowClause* window, List* functions, EngineTop* top) {
  ListCell* cell;
  foreach (cell, functions) {
    const auto* function = static_cast<const WindowFunc*>(lfirst(cell));
    ListCell* condition;
    foreach (condition, compat::add_window_limits(NIL, window, function)) {
      const int64_t rows = highest_number(static_cast<const compat::WindowLimit*>(lfirst(condition)));
      if (rows < 1) continue;
      top->rows = static_cast<double>(rows);
      top->distinct = function->winfnoid == F_DENSE_RANK_;
      return true;
    }
  }
  return false;
}

// The query's only window if its functions only number its rows; else nullptr.
const WindowClause* numbering_window(List* functions, const Query* parse) {
  const WindowClause* window = nullptr;
  ListCell* cell;
  foreach (cell, functions) {
    const auto* function = static_cast<const WindowFunc*>(lfirst(cell));
    if (!is_numbering(function) || function->aggfilter != nullptr) return nullptr;
    const auto* own = list_nth_node(WindowClause, parse->windowClause, static_cast<int>(function->winref) - 1);
    if (window != nullptr && own != window) return nullptr;
    window = own;
  }
  return window;
}

// True if the engine can distinguish the partitions within the available memory.
bool take_partition(PlannerInfo* root, PlannerState* state, const WindowClause* window, double input_rows,
                    EngineTop* top) {
  constexpr double kPartitionBytes = 256;  // in addition to the places of its rows
  ListCell* cell;
  foreach (cell, window->partitionClause) {
    Node* expr = get_sortgroupclause_expr(lfirst_node(SortGroupClause, cell), root->processed_tlist);
    int operations = 0;
    if (why_not_lowered(state, expr, &operations) != nullptr) return false;
    top->partition = lappend(top->partition, expr);
  }
  if (top->partition == NIL) return !top->distinct;
  top->partitions = estimate_num_groups(root, top->partition, input_rows, nullptr, nullptr);
  if (top->partitions * (kPartitionBytes + top->rows * sizeof(int64_t)) > guc::pg_strom::work_memory * 1024.0)
    return false;
  return top_rows_left(top, input_rows) < input_rows * kWorthwhileTop;
}

// A copy of PostgreSQL's planned node over another path, `sorted`.
Path* window_over(const WindowAggPath* planned, Path* sorted) {
  auto* path = makeNode(WindowAggPath);
  *path = *planned;
  path->subpath = sorted;
  const Path* other = planned->subpath;
  const Cost own = planned->path.total_cost - other->total_cost;
  path->path.startup_cost = sorted->startup_cost + (planned->path.startup_cost - other->startup_cost);
  path->path.total_cost = sorted->total_cost + own * fmin(1, sorted->rows / fmax(1, other->rows));
  path->path.parallel_safe = false;
  return reinterpret_cast<Path*>(path);
}

const WindowAggPath* planned_window(const RelOptInfo* window_rel) {
  ListCell* cell;
  foreach (cell, window_rel->pathlist) {
    const auto* path = static_cast<WindowAggPath*>(lfirst(cell));
    if (IsA(path, WindowAggPath) && !IsA(path->subpath, WindowAggPath)) return path;
  }
  return nullptr;
}

}  // namespace

void offer_window_top_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* window_rel) {
  const Query* parse = root->parse;
  PlannerState* state = find_state(root);
  if (state == nullptr || !guc::pg_strom::enable_gpuscan || !guc::pg_strom::enable_gpusort) return;
  if (parse->hasTargetSRFs || root->window_pathkeys == NIL) return;
  if (input_rel->reloptkind != RELOPT_BASEREL && input_rel->reloptkind != RELOPT_JOINREL) return;
  EngineInput* input = input_of(state, input_rel);
  if (input == nullptr || input->host_quals != NIL) return;
  List* functions = window_functions(get_tlist_exprs(root->processed_tlist, true));
  const WindowClause* window = numbering_window(functions, parse);
  if (window == nullptr || window->orderClause == NIL) return;
  auto* top = static_cast<EngineTop*>(palloc0(sizeof(EngineTop)));
  if (!find_limit(window, functions, top)) return;

  const auto* clause = linitial_node(SortGroupClause, window->orderClause);
  top->key = get_sortgroupclause_expr(const_cast<SortGroupClause*>(clause), root->processed_tlist);
  top->nulls_first = clause->nulls_first;
  int operations = 0;
  if (!is_engine_order(top->key, clause->sortop, &top->descending)) return;
  if (why_not_lowered(state, top->key, &operations) != nullptr) return;
  if (!take_partition(root, state, window, input->rows, top) ||
      !hides_no_error(state, input, input_rel->reltarget, top))
    return;
  const WindowAggPath* planned = planned_window(window_rel);
  if (planned == nullptr) return;
  auto* rows = make_engine_path(input_rel, input_rel->reltarget, input, nullptr, top);
  Path* sorted = reinterpret_cast<Path*>(
      create_sort_path(root, window_rel, reinterpret_cast<Path*>(rows), root->window_pathkeys, -1));
  add_path(window_rel, window_over(planned, sorted));
}

}  // namespace strom::pg::planner
