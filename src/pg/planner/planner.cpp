// The hooks, chained behind those of other extensions.
#include "pg/planner/planner.hpp"

#include "pg/guc.hpp"
#include "pg/planner/paths.hpp"

namespace strom::pg::planner {

namespace {

set_rel_pathlist_hook_type next_rel_hook = nullptr;
set_join_pathlist_hook_type next_join_hook = nullptr;
create_upper_paths_hook_type next_upper_hook = nullptr;

bool is_enabled() { return guc::pg_strom::enabled && guc::pg_strom::device() != guc::DeviceChoice::kOff; }

void on_rel(PlannerInfo* root, RelOptInfo* rel, Index relid, RangeTblEntry* rte) {
  if (next_rel_hook != nullptr) next_rel_hook(root, rel, relid, rte);
  if (is_enabled()) offer_scan(root, rel, relid, rte);
}

void on_join(PlannerInfo* root, RelOptInfo* joinrel, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
             JoinPathExtraData* extra) {
  if (next_join_hook != nullptr) next_join_hook(root, joinrel, outer, inner, type, extra);
  if (is_enabled() && guc::pg_strom::enable_gpujoin && guc::pg_strom::enable_gpuhashjoin)
    offer_join(root, joinrel, outer, inner, type, extra);
}

void on_upper(PlannerInfo* root, UpperRelationKind stage, RelOptInfo* input_rel, RelOptInfo* output_rel, void* extra) {
  if (next_upper_hook != nullptr) next_upper_hook(root, stage, input_rel, output_rel, extra);
  if (!is_enabled()) return;
  if (stage == UPPERREL_GROUP_AGG)
    offer_grouping(root, input_rel, output_rel, static_cast<GroupPathExtraData*>(extra));
  else if (stage == UPPERREL_DISTINCT)
    offer_distinct(root, input_rel, output_rel);
  else if (stage == UPPERREL_ORDERED)
    offer_top_rows(root, input_rel, output_rel);
}

}  // namespace

void install() {
  next_rel_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = on_rel;
  next_join_hook = set_join_pathlist_hook;
  set_join_pathlist_hook = on_join;
  next_upper_hook = create_upper_paths_hook;
  create_upper_paths_hook = on_upper;
}

}  // namespace strom::pg::planner
