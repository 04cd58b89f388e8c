// CpuPreAgg: partial aggregation over one of our scans or joins, below PostgreSQL's final aggregation. May ereport.
#include "pg/planner/paths/agg_path.hpp"

#include "pg/guc/guc.hpp"
#include "pg/planner/state/expression_size.hpp"
#include "pg/planner/paths/grouping_sets.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

static constexpr const char* kTooLarge = "expressions are too large for the rows that are expected";

// Equal aggregates have the same number, so that not all pairs need comparing.
static void add_needed(PathTarget* target, List* exprs) {
  Bitmapset* aggregates = nullptr;
  ListCell* cell;
  foreach (cell, exprs) {
    auto* expr = static_cast<Expr*>(lfirst(cell));
    const int number = IsA(expr, Aggref) ? reinterpret_cast<Aggref*>(expr)->aggno : -1;
    if (number < 0) {
      add_new_column_to_pathtarget(target, expr);
    } else if (!bms_is_member(number, aggregates)) {
      aggregates = bms_add_member(aggregates, number);
      add_column_to_pathtarget(target, expr, 0);
    }
  }
}

PathTarget* partial_target(PlannerInfo* root, PathTarget* grouping_target, Node* having, List* group_clause) {
  PathTarget* partial = create_empty_pathtarget();
  List* others = NIL;
  int i = 0;
  ListCell* cell;
  foreach (cell, grouping_target->exprs) {
    auto* expr = static_cast<Expr*>(lfirst(cell));
    const Index ref = get_pathtarget_sortgroupref(grouping_target, i++);
    if (ref != 0 && get_sortgroupref_clause_noerr(ref, group_clause) != nullptr)
      add_column_to_pathtarget(partial, expr, ref);
    else
      others = lappend(others, expr);
  }
  if (having != nullptr) others = lappend(others, having);
  add_needed(partial, pull_var_clause(reinterpret_cast<Node*>(others),
                                      PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS));
  foreach (cell, partial->exprs) {
    auto* expr = static_cast<Node*>(lfirst(cell));
    if (!IsA(expr, Aggref)) continue;
    auto* aggregate = makeNode(Aggref);
    *aggregate = *reinterpret_cast<Aggref*>(expr);
    mark_partial_aggref(aggregate, AGGSPLIT_INITIAL_SERIAL);
    lfirst(cell) = aggregate;
  }
  return set_pathtarget_cost_width(root, partial);
}

// The engine groups by the bytes of a value. If PostgreSQL's equality is coarser (blanks behind char(n)), equal values
// make several groups, which the final aggregation merges. Nondeterministic collations are not handled that way,
// because the engine's filters on the same column would treat equal texts as different.
const char* why_not_grouped(PlannerState* state, Node* expr, int* operations) {
  const char* reason = why_not_lowered(state, expr, operations);
  if (reason != nullptr) return reason;
  const Oid collation = exprCollation(expr);
  if (OidIsValid(collation) && !get_collation_isdeterministic(collation)) return "collation does not compare bytes";
  return nullptr;
}

Refusal* refused_output(PlannerState* state, const EngineInput* input, const PathTarget* target, int* operations) {
  if (!has_room_for(state, input, target->exprs, 0)) return make_refusal(nullptr, kTooLarge);
  ListCell* cell;
  foreach (cell, target->exprs) {
    auto* expr = static_cast<Node*>(lfirst(cell));
    if (IsA(expr, GroupingFunc)) continue;  // the grouping set determines it
    const char* reason = IsA(expr, Aggref) ? why_not_aggregated(state, reinterpret_cast<Aggref*>(expr), operations)
                                           : why_not_grouped(state, expr, operations);
    if (reason != nullptr) return make_refusal(expr, reason);
  }
  if (input->operations + *operations > kMostOperations) return make_refusal(nullptr, kTooLarge);
  return nullptr;
}

EngineInput* fusable_input(PlannerInfo* root, RelOptInfo* rel) {
  PlannerState* state = find_state(root);
  if (state == nullptr || !guc::pg_strom::enable_gpupreagg) return nullptr;
  if (rel->reloptkind != RELOPT_BASEREL && rel->reloptkind != RELOPT_JOINREL) return nullptr;
  EngineInput* input = input_of(state, rel);
  if (input == nullptr || input->host_quals != NIL) return nullptr;
  return input->scan->leaves == NIL || guc::pg_strom::enable_partitionwise_gpupreagg ? input : nullptr;
}

EngineAggregation* make_aggregation(PathTarget* target, double groups) {
  auto* aggregation = static_cast<EngineAggregation*>(palloc0(sizeof(EngineAggregation)));
  aggregation->target = target;
  aggregation->groups = groups;
  return aggregation;
}

namespace {

bool has_grouping_function(const PathTarget* target) {
  ListCell* cell;
  foreach (cell, target->exprs)
    if (IsA(lfirst(cell), GroupingFunc)) return true;
  return false;
}

double estimate_groups(PlannerInfo* root, List* clauses, List* target_list, double rows) {
  if (clauses == NIL) return 1;
  return estimate_num_groups(root, get_sortgrouplist_exprs(clauses, target_list), rows, nullptr, nullptr);
}

}  // namespace

void refuse(EngineInput* input, Refusal* refusal) {
  // Shows partial aggregates in the form that the query has.
  if (refusal->expr != nullptr && IsA(refusal->expr, Aggref)) {
    auto* plain = static_cast<Aggref*>(copyObjectImpl(refusal->expr));
    plain->aggsplit = AGGSPLIT_SIMPLE;
    refusal->expr = reinterpret_cast<Node*>(plain);
  }
  input->refusals = lappend(input->refusals, refusal);
}

// Asked first, because other checks of many expressions take long.
static bool has_room(PlannerInfo* root, EngineInput* input, const PathTarget* target) {
  if (has_room_for(find_state(root), input, target->exprs, 0)) return true;
  refuse(input, make_refusal(nullptr, kTooLarge));
  return false;
}

void offer_grouping(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel, GroupPathExtraData* extra) {
  const Query* parse = root->parse;
  if (grouped_rel->reloptkind != RELOPT_UPPER_REL) return;
  if (!parse->hasAggs && parse->groupClause == NIL && parse->groupingSets == NIL) return;
  if (parse->hasTargetSRFs) return;  // set-returning functions run below or above the grouping
  EngineInput* input = fusable_input(root, input_rel);
  if (input == nullptr || !has_room(root, input, grouped_rel->reltarget)) return;
  if (has_distinct_aggregates(grouped_rel->reltarget, extra->havingQual)) {
    offer_distinct_aggregates(root, input_rel, grouped_rel, extra, input);
    return;
  }
  PathTarget* target = partial_target(root, grouped_rel->reltarget, extra->havingQual, parse->groupClause);
  List* clause = parse->groupClause;
  List* sets = NIL;
  if (parse->groupingSets != NIL) {
    if (input->scan->gated)
      return;  // a filter without columns, above this node, would remove the row of an empty set of keys as well
    sets = add_grouping_sets(root, input, target, &clause);
  }
  if (sets == NIL && (parse->groupingSets != NIL || has_grouping_function(target))) return;
  int operations = 0;
  Refusal* refusal = refused_output(find_state(root), input, target, &operations);
  if (refusal != nullptr) {
    refuse(input, refusal);
    return;
  }
  if (root->hasNonPartialAggs || root->hasNonSerialAggs || !grouping_is_hashable(clause)) return;
  const double groups = sets != NIL ? estimate_sets(root, extra->targetList, input->rows)
                                    : estimate_groups(root, parse->groupClause, extra->targetList, input->rows);
  EngineAggregation* aggregation = make_aggregation(target, groups);
  aggregation->sets = sets;
  EnginePath* partial = make_engine_path(input_rel, target, input, aggregation);

  AggClauseCosts costs;
  MemSet(&costs, 0, sizeof(costs));
  if (parse->hasAggs) get_agg_clause_costs(root, AGGSPLIT_FINAL_DESERIAL, &costs);
  AggPath* finalized = create_agg_path(root, grouped_rel, reinterpret_cast<Path*>(partial), grouped_rel->reltarget,
                                       clause == NIL ? AGG_PLAIN : AGG_HASHED, AGGSPLIT_FINAL_DESERIAL, clause,
                                       reinterpret_cast<List*>(extra->havingQual), &costs, groups);
  if (clause != NIL && sets == NIL) offer_final_groups(root, grouped_rel, extra, partial, finalized);
  add_path(grouped_rel, reinterpret_cast<Path*>(finalized));
}

void offer_distinct(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* distinct_rel) {
  const Query* parse = root->parse;
  if (parse->hasDistinctOn || parse->hasAggs || parse->groupClause != NIL || parse->groupingSets != NIL ||
      parse->hasWindowFuncs || parse->hasTargetSRFs || parse->havingQual != nullptr)
    return;
  EngineInput* input = fusable_input(root, input_rel);
  if (input == nullptr || !grouping_is_hashable(parse->distinctClause)) return;
  PathTarget* target = root->upper_targets[UPPERREL_DISTINCT];
  if (!has_room(root, input, target)) return;
  int operations = 0;
  Refusal* refusal = refused_output(find_state(root), input, target, &operations);
  if (refusal != nullptr) {
    refuse(input, refusal);
    return;
  }
  const double groups = estimate_groups(root, parse->distinctClause, root->processed_tlist, input->rows);
  EnginePath* partial = make_engine_path(input_rel, target, input, make_aggregation(target, groups));
  AggPath* finalized = create_agg_path(root, distinct_rel, reinterpret_cast<Path*>(partial), target, AGG_HASHED,
                                       AGGSPLIT_SIMPLE, parse->distinctClause, NIL, nullptr, groups);
  offer_final_distinct(root, partial, finalized);
  add_path(distinct_rel, reinterpret_cast<Path*>(finalized));
}

}  // namespace strom::pg::planner
