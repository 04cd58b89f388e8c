// Our paths in the form of PostgreSQL, and the chains of scans and joins behind them. May ereport.
#include "pg/planner/costs/cost.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

namespace {

bool is_engine_path(const Path* path) {
  return IsA(path, CustomPath) && reinterpret_cast<const CustomPath*>(path)->methods == engine_path_methods();
}

}  // namespace

EngineInput* input_of(PlannerState* state, RelOptInfo* rel) {
  if (IS_DUMMY_REL(rel)) return nullptr;  // this may become known after a path was offered
  EngineInput* best = nullptr;
  ListCell* cell;
  foreach (cell, rel->pathlist) {
    auto* path = static_cast<Path*>(lfirst(cell));
    if (IsA(path, ProjectionPath)) path = reinterpret_cast<ProjectionPath*>(path)->subpath;
    if (!is_engine_path(path)) continue;
    auto* engine_path = reinterpret_cast<EnginePath*>(path);
    if (engine_path->aggregation != nullptr || !bms_equal(engine_path->input->relids, rel->relids)) continue;
    if (best == nullptr || is_cheaper(engine_path->input, best)) best = engine_path->input;
  }
  EngineInput* known = remembered(state, rel->relids);
  return known != nullptr && (best == nullptr || is_cheaper(known, best)) ? known : best;
}

EnginePath* make_engine_path(RelOptInfo* parent, PathTarget* target, EngineInput* input, EngineAggregation* aggregation,
                             EngineTop* top) {
  auto* path = reinterpret_cast<EnginePath*>(palloc0(sizeof(EnginePath)));
  path->custom.path.type = T_CustomPath;
  path->custom.path.pathtype = T_CustomScan;
  path->custom.path.parent = parent;
  path->custom.path.pathtarget = target;
  path->custom.path.parallel_aware = false;
  path->custom.path.parallel_safe = false;  // engine threads instead of worker processes
  path->custom.flags = aggregation != nullptr ? 0 : CUSTOMPATH_SUPPORT_PROJECTION;
  path->custom.methods = engine_path_methods();
  path->input = input;
  path->aggregation = aggregation;
  path->top = top;
  ListCell* cell;
  foreach (cell, input->joins) {
    auto* join = static_cast<EngineJoin*>(lfirst(cell));
    if (join->path != nullptr) path->custom.custom_paths = lappend(path->custom.custom_paths, join->path);
  }
  // Child paths of joins follow, in the order of the pipelines.
  foreach (cell, input->joins) {
    const EngineScan* scan = static_cast<EngineJoin*>(lfirst(cell))->scan;
    if (scan != nullptr && scan->chooser != nullptr)
      path->custom.custom_paths = lappend(path->custom.custom_paths, scan->chooser);
  }
  if (input->scan->chooser != nullptr)
    path->custom.custom_paths = lappend(path->custom.custom_paths, input->scan->chooser);
  cost_path(path);
  return path;
}

}  // namespace strom::pg::planner
