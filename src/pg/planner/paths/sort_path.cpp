// ORDER BY without LIMIT over one of our scans or joins. Engine threads sort the rows, and the node returns them in
// order. If the rows do not fit into memory, or if there are fallback rows, the node uses PostgreSQL's sort. May
// ereport.
#include "pg/guc/guc.hpp"
#include "pg/planner/costs/cost.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

namespace {

// Additional bytes in the engine's sort: kRowBytes for the row's place in the order, and kColumnBytes for each column
// (a text's overhead, or the difference between the engine's 16 bytes and PostgreSQL's narrower value).
constexpr double kRowBytes = 8, kColumnBytes = 17;

double row_bytes(const PathTarget* target) {
  return kRowBytes + kColumnBytes * list_length(target->exprs) + target->width;
}

// The columns of the query's order. NIL when one is not an output of the node, or the engine cannot sort by its type.
List* sort_keys(PlannerInfo* root) {
  PlannerState* state = find_state(root);
  List* keys = NIL;
  ListCell* cell;
  foreach (cell, root->parse->sortClause) {
    const auto* clause = lfirst_node(SortGroupClause, cell);
    auto* column =
        reinterpret_cast<Var*>(get_sortgroupclause_expr(const_cast<SortGroupClause*>(clause), root->processed_tlist));
    auto* key = static_cast<EngineSortKey*>(palloc0(sizeof(EngineSortKey)));
    *key = {column, clause->sortop, exprCollation(reinterpret_cast<Node*>(column)), false, clause->nulls_first};
    if (!IsA(column, Var)) return NIL;
    if (!is_engine_order(reinterpret_cast<Node*>(column), clause->sortop, &key->descending)) return NIL;
    if (!is_sorted_by_engine(state, reinterpret_cast<Node*>(column))) return NIL;
    keys = lappend(keys, key);
  }
  return keys;
}

// True if the first key, as a number, decides most comparisons. Only then the engine is faster than PostgreSQL's sort;
// it is not for texts, nor if many rows have the same first key.
bool is_decided_by_first(PlannerInfo* root, const List* keys, double rows) {
  constexpr double kMostAlike = 16;
  Var* first = static_cast<EngineSortKey*>(linitial(keys))->column;
  if (!is_numeric(first->vartype) && get_typlen(first->vartype) < 0) return false;
  return estimate_num_groups(root, list_make1(first), rows, nullptr, nullptr) * kMostAlike >= rows;
}

}  // namespace

void offer_sorted_rows(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel) {
  const Query* parse = root->parse;
  if (parse->sortClause == NIL || root->sort_pathkeys == NIL || parse->limitCount != nullptr ||
      parse->limitOffset != nullptr)
    return;
  if (parse->hasTargetSRFs || parse->hasWindowFuncs || parse->distinctClause != NIL || root->tuple_fraction > 0) return;
  PlannerState* state = find_state(root);
  if (state == nullptr || !guc::pg_strom::enable_gpuscan || !guc::pg_strom::enable_gpusort || !enable_sort) return;
  if (input_rel->reloptkind != RELOPT_BASEREL && input_rel->reloptkind != RELOPT_JOINREL) return;
  EngineInput* input = input_of(state, input_rel);
  if (input == nullptr || input->rows * row_bytes(input_rel->reltarget) > guc::pg_strom::work_memory * 1024.0) return;
  List* keys = sort_keys(root);
  if (keys == NIL || !is_decided_by_first(root, keys, input->rows)) return;
  EnginePath* rows = make_engine_path(input_rel, input_rel->reltarget, input, nullptr);
  rows->order = keys;
  rows->custom.path.pathkeys = root->sort_pathkeys;
  cost_order(rows);
  Path* path = reinterpret_cast<Path*>(rows);
  PathTarget* ordered = root->upper_targets[UPPERREL_FINAL];
  if (path->pathtarget != ordered) path = apply_projection_to_path(root, ordered_rel, path, ordered);
  add_path(ordered_rel, path);
}

}  // namespace strom::pg::planner
