// ORDER BY … LIMIT n over a scan or join of ours: the engine hands over rows that can be among the first n by the first
// sort key, and PostgreSQL's Sort above decides. May ereport.
#include "pg/codec/type_map.hpp"
#include "pg/compat/collation.hpp"
#include "pg/compat/ordering.hpp"
#include "pg/guc.hpp"
#include "pg/planner/lower_check.hpp"
#include "pg/planner/paths.hpp"

namespace strom::pg::planner {

namespace {

// More would be kept by each worker, for less gain.
constexpr double kMostRows = 100000;

// root->limit_tuples is an estimate unless both are literals.
bool is_literal(const Node* node) { return node == nullptr || IsA(node, Const); }

// The order of the type's default operator class, which is the engine's; texts by bytes.
bool is_engine_order(const Node* key, Oid sort_operator, bool* descending) {
  Oid family;
  if (!compat::ordering_of(sort_operator, &family, descending)) return false;
  if (lookup_type_cache(exprType(key), TYPECACHE_BTREE_OPFAMILY)->btree_opf != family) return false;
  const Oid collation = exprCollation(key);
  if (OidIsValid(collation) && !compat::collation_orders_bytes(collation)) return false;
  const registry::TypeInfo* info = codec::engine_type(exprType(key));
  return info != nullptr && registry::orders_as_register(info->id);
}

// Rows that are not handed over are not projected either, and must not hide an error by that: the engine computes what
// can fail for all rows, and hands over those for which it does. False when it cannot.
bool hides_no_error(PlannerState* state, const PathTarget* target, EngineTop* top) {
  ListCell* cell;
  foreach (cell, target->exprs) {
    auto* expr = static_cast<Node*>(lfirst(cell));
    if (IsA(expr, Var) || equal(expr, top->key) || !can_fail(state, expr)) continue;
    int operations = 0;
    if (why_not_lowered(state, expr, &operations) != nullptr) return false;
    top->checked = lappend(top->checked, expr);
  }
  return true;
}

}  // namespace

void offer_top_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel) {
  const Query* parse = root->parse;
  if (root->limit_tuples < 1 || root->limit_tuples > kMostRows || parse->sortClause == NIL || root->sort_pathkeys == NIL)
    return;
  if (!is_literal(parse->limitCount) || !is_literal(parse->limitOffset)) return;
  PlannerState* state = find_state(root);
  if (state == nullptr || !guc::pg_strom::enable_gpuscan) return;
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
  if (!hides_no_error(state, target, top)) return;

  auto* rows = make_engine_path(root, input_rel, target, input, nullptr, top);
  Path* path = reinterpret_cast<Path*>(create_sort_path(root, ordered_rel, reinterpret_cast<Path*>(rows),
                                                        root->sort_pathkeys, root->limit_tuples));
  PathTarget* ordered = root->upper_targets[UPPERREL_FINAL];
  if (path->pathtarget != ordered) path = apply_projection_to_path(root, ordered_rel, path, ordered);
  add_path(ordered_rel, path);
}

}  // namespace strom::pg::planner
