// The planner hooks. They call the hooks of other extensions first.
#include "pg/planner/planner.hpp"

#include "pg/guc/guc.hpp"
#include "pg/planner/cursor_plan.hpp"
#include "pg/planner/jit.hpp"
#include "pg/planner/stored_form.hpp"
#include "pg/planner/costs/device_cost.hpp"
#include "pg/planner/judgement/judgement.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

namespace {

set_rel_pathlist_hook_type next_rel_hook = nullptr;
set_join_pathlist_hook_type next_join_hook = nullptr;
create_upper_paths_hook_type next_upper_hook = nullptr;

bool is_enabled() { return guc::pg_strom::enabled && guc::pg_strom::device() != guc::DeviceChoice::kOff; }

planner_hook_type next_planner_hook = nullptr;

// Facts about the statement that is being planned.
struct StatementFacts {
  bool is_cursor = false;  // PostgreSQL tells only the planner
  bool asks_stored_form = false;
  bool keeps_scans = false;  // it is planned again, with PostgreSQL's scans
  int depth = 0;             // nesting depth of planning
};
StatementFacts statement;

PlannedStmt* plan_statement(Query* parse, const char* text, int cursor_options, ParamListInfo params) {
  return next_planner_hook != nullptr ? next_planner_hook(parse, text, cursor_options, params)
                                      : standard_planner(parse, text, cursor_options, params);
}

PlannedStmt* on_statement(Query* parse, const char* text, int cursor_options, ParamListInfo params) {
  const StatementFacts outer = statement;
  PlannedStmt* volatile plan = nullptr;  // volatile: set between PG_TRY and PG_END_TRY
  begin_device_costs();
  statement = {(cursor_options & (CURSOR_OPT_PARALLEL_OK | kForwardCursor)) == 0,
               is_enabled() && asks_stored_form(parse), false, outer.depth + 1};
  const bool may_be_planned_again = statement.is_cursor && is_enabled() && may_replace_scan(parse);
  auto* again = may_be_planned_again ? static_cast<Query*>(copyObjectImpl(parse)) : nullptr;
  Judgements* judgements = set_judging(nullptr);
  if (outer.depth == 0) set_judging(judgements);  // not for statements that run during planning
  PG_TRY();
  {
    plan = plan_statement(parse, text, cursor_options, params);
    if (again != nullptr && replaces_scan(plan)) {
      statement.keeps_scans = true;
      plan = plan_statement(again, text, cursor_options, params);
    }
  }
  PG_FINALLY();
  {
    statement = outer;
    set_judging(judgements);
  }
  PG_END_TRY();
  if (judgements != nullptr && outer.depth == 0) {
    set_judging(nullptr);
    end_judging(judgements, plan);
  }
  choose_jit(plan);
  return plan;
}

// True if a scan of PostgreSQL must stay available for a cursor over one table: programs rely on moving the cursor
// backwards and on updating its row by WHERE CURRENT OF. Whether one table remains of a view, of UNION ALL or of an
// outer join is only known from the plan: see replaces_scan().
bool serves_simple_cursor(const PlannerInfo* root) {
  const Query* parse = root->parse;
  return statement.is_cursor && root->query_level == 1 && list_length(parse->jointree->fromlist) == 1 &&
         IsA(linitial(parse->jointree->fromlist), RangeTblRef) && parse->groupClause == NIL && !parse->hasAggs &&
         parse->distinctClause == NIL && !parse->hasWindowFuncs && parse->sortClause == NIL;
}

void on_rel(PlannerInfo* root, RelOptInfo* rel, Index relid, RangeTblEntry* rte) {
  if (next_rel_hook != nullptr) next_rel_hook(root, rel, relid, rte);
  if (!is_enabled()) return;
  const bool moves_backwards = statement.keeps_scans || serves_simple_cursor(root);
  const char* reason = statement.asks_stored_form ? "the query asks how values are stored"
                       : moves_backwards          ? "a cursor can be moved backwards"
                                                  : nullptr;
  if (reason == nullptr) offer_scan(root, rel, relid, rte, is_judging());
  judge_table(root, rel, rte, reason);
}

void on_join(PlannerInfo* root, RelOptInfo* joinrel, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
             JoinPathExtraData* extra) {
  if (next_join_hook != nullptr) next_join_hook(root, joinrel, outer, inner, type, extra);
  if (!is_enabled()) return;
  if (guc::pg_strom::enable_gpujoin && guc::pg_strom::enable_gpuhashjoin)
    offer_join(root, joinrel, outer, inner, type, extra);
  judge_join(root, joinrel, extra, type);
}

void offer_ordered(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* ordered_rel) {
  offer_top_rows(root, input_rel, ordered_rel);
  if (!statement.is_cursor) offer_sorted_rows(root, input_rel, ordered_rel);  // PostgreSQL's Sort can go backwards
}

void on_upper(PlannerInfo* root, UpperRelationKind stage, RelOptInfo* input_rel, RelOptInfo* output_rel, void* extra) {
  if (next_upper_hook != nullptr) next_upper_hook(root, stage, input_rel, output_rel, extra);
  if (!is_enabled()) return;
  if (stage == UPPERREL_GROUP_AGG)
    offer_grouping(root, input_rel, output_rel, static_cast<GroupPathExtraData*>(extra));
  else if (stage == UPPERREL_DISTINCT)
    offer_distinct(root, input_rel, output_rel);
  else if (stage == UPPERREL_WINDOW)
    offer_window_top_rows(root, input_rel, output_rel);
  else if (stage == UPPERREL_FINAL)
    offer_partitions(root, input_rel, output_rel);
  if (stage == UPPERREL_GROUP_AGG || stage == UPPERREL_DISTINCT) judge_grouping(root, input_rel);
  if (stage == UPPERREL_FINAL) judge_query(root);
  if (stage != UPPERREL_ORDERED) return;
  offer_ordered(root, input_rel, output_rel);
  if (!statement.is_cursor) offer_sorted_partitions(root, input_rel, output_rel);
}

}  // namespace

void install() {
  next_planner_hook = planner_hook;
  planner_hook = on_statement;
  next_rel_hook = set_rel_pathlist_hook;
  set_rel_pathlist_hook = on_rel;
  next_join_hook = set_join_pathlist_hook;
  set_join_pathlist_hook = on_join;
  next_upper_hook = create_upper_paths_hook;
  create_upper_paths_hook = on_upper;
  install_explain_hook();
}

}  // namespace strom::pg::planner
