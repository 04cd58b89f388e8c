// CpuScan of all partitions of a table that is alone in its query. PostgreSQL drops the paths of such a table and makes
// new ones from its partitions' paths, with the query's outputs. Our path is added again after that. May ereport.
#include "pg/guc/guc.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

namespace {

// A path that returns the rows of `rel`; nullptr unless `rel` is a partitioned table that the engine reads in one scan.
Path* rows_of_partitions(PlannerInfo* root, RelOptInfo* rel) {
  PlannerState* state = find_state(root);
  if (state == nullptr || !guc::pg_strom::enable_gpuscan || root->parse->hasTargetSRFs) return nullptr;
  if (rel->reloptkind != RELOPT_BASEREL || !IS_PARTITIONED_REL(rel) || IS_DUMMY_REL(rel)) return nullptr;
  EngineInput* input = input_of(state, rel);
  // Without columns, no rows can be passed to PostgreSQL.
  if (input == nullptr || input->scan->leaves == NIL || rel->reltarget->exprs == NIL) return nullptr;
  return reinterpret_cast<Path*>(make_engine_path(rel, rel->reltarget, input, nullptr));
}

void add_final_path(PlannerInfo* root, RelOptInfo* rel, Path* path) {
  PathTarget* target = root->upper_targets[UPPERREL_FINAL];
  if (path->pathtarget != target) path = apply_projection_to_path(root, rel, path, target);
  add_path(rel, path);
}

}  // namespace

void offer_sorted_partitions(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel) {
  if (root->sort_pathkeys == NIL) return;
  Path* rows = rows_of_partitions(root, input_rel);
  if (rows == nullptr) return;
  add_final_path(
      root, ordered_rel,
      reinterpret_cast<Path*>(create_sort_path(root, ordered_rel, rows, root->sort_pathkeys, root->limit_tuples)));
}

void offer_partitions(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* final_rel) {
  const Query* parse = root->parse;
  if (parse->commandType != CMD_SELECT || parse->limitCount != nullptr || parse->limitOffset != nullptr) return;
  if (Path* rows = rows_of_partitions(root, input_rel)) add_final_path(root, final_rel, rows);
}

}  // namespace strom::pg::planner
