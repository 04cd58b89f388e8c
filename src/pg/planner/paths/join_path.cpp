// CpuJoin: an inner, outer, semi or anti join over one of our scans or joins, fused with it. May ereport.
#include <algorithm>
#include <cmath>

#include "engine/exec/execution.hpp"
#include "engine/op/join/join_limit.hpp"
#include "pg/guc/guc.hpp"
#include "pg/planner/costs/cost.hpp"
#include "pg/planner/state/expression_size.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"
#include "pg/planner/paths/spatial_clause.hpp"

namespace strom::pg::planner {

using engine::plan::ends_probing;
using engine::plan::JoinKind;
using engine::plan::marks_matches;

namespace {

// A join as PostgreSQL offers it.
struct OfferedJoin {
  RelOptInfo* result;
  RelOptInfo* outer;
  RelOptInfo* inner;
  JoinType type;
  JoinPathExtraData* extra;
};

// Sets the source of the inner side's rows: one of our scans, or PostgreSQL's best plan; false when there is neither.
// An inner side that is known to be empty (an outer join on a false condition) uses PostgreSQL's plan, which reads
// nothing.
bool set_inner_source(PlannerState* state, EngineJoin* join) {
  RelOptInfo* inner = join->inner;
  const bool is_scanned = inner->reloptkind == RELOPT_BASEREL && !IS_DUMMY_REL(inner);
  EngineScan* scan = is_scanned ? scan_of(state, inner->relid) : nullptr;
  if (scan != nullptr && scan->output_readable && scan->host_quals == NIL && scan->memberships == NIL && !scan->gated) {
    join->scan = scan;
    return true;
  }
  join->path = inner->cheapest_total_path;
  return join->path != nullptr && join->path->param_info == nullptr && bms_is_empty(inner->lateral_relids);
}

// True when PostgreSQL can provide the rows of `inner` as plain columns of types that the engine supports.
bool delivers_columns(PlannerState* state, const RelOptInfo* inner) {
  if (list_length(inner->reltarget->exprs) > kMostColumns) return false;
  ListCell* cell;
  foreach (cell, inner->reltarget->exprs) {
    auto* expr = static_cast<Node*>(lfirst(cell));
    int operations = 0;
    if (!IsA(expr, Var) || why_not_lowered(state, expr, &operations) != nullptr) return false;
  }
  return true;
}

// The numeric columns of `relids` in `exprs`, as Var*.
List* numeric_columns(List* exprs, Relids relids) {
  List* found = NIL;
  ListCell* cell;
  foreach (cell, pull_var_clause(reinterpret_cast<Node*>(exprs), PVC_RECURSE_PLACEHOLDERS)) {
    auto* var = static_cast<Var*>(lfirst(cell));
    if (is_numeric(var->vartype) && bms_is_member(var->varno, relids)) found = lappend(found, var);
  }
  return found;
}

/// A clause that compares an expression of the outer side with one of the inner side.
struct ComparedSides {
  Expr *outer, *inner;
  Oid op;  // with the outer expression on the left
};

bool split_sides(const RestrictInfo* clause, Relids outer, Relids inner, ComparedSides* sides) {
  if (!clause->can_join || !is_opclause(clause->clause)) return false;
  const auto* op = reinterpret_cast<OpExpr*>(clause->clause);
  if (list_length(op->args) != 2) return false;
  auto* left = static_cast<Expr*>(linitial(op->args));
  auto* right = static_cast<Expr*>(lsecond(op->args));
  if (bms_is_subset(clause->left_relids, outer) && bms_is_subset(clause->right_relids, inner)) {
    *sides = {left, right, op->opno};
    return true;
  }
  if (bms_is_subset(clause->left_relids, inner) && bms_is_subset(clause->right_relids, outer)) {
    *sides = {right, left, get_commutator(op->opno)};
    return OidIsValid(sides->op);
  }
  return false;
}

// False for kinds that are not offered: right anti joins (PostgreSQL 16) and right semi joins (18). These are found in
// their other direction.
bool kind_of(JoinType type, JoinKind* kind) {
  switch (type) {
    case JOIN_INNER: *kind = JoinKind::kInner; return true;
    case JOIN_LEFT: *kind = JoinKind::kLeft; return true;
    case JOIN_SEMI: *kind = JoinKind::kSemi; return true;
    case JOIN_ANTI: *kind = JoinKind::kAnti; return true;
    case JOIN_RIGHT: *kind = JoinKind::kRight; return true;
    case JOIN_FULL: *kind = JoinKind::kFull; return true;
    default: return false;
  }
}

// True if an expression of the nullable side has to be computed below the join. The engine computes it above.
bool nulls_placeholder(const PlannerInfo* root, const OfferedJoin& offer) {
  const bool nulls_inner = offer.type == JOIN_LEFT || offer.type == JOIN_ANTI || offer.type == JOIN_FULL;
  const bool nulls_outer = offer.type == JOIN_RIGHT || offer.type == JOIN_FULL;
  ListCell* cell;
  foreach (cell, root->placeholder_list) {
    const Relids computed_at = static_cast<PlaceHolderInfo*>(lfirst(cell))->ph_eval_at;
    if (nulls_inner && bms_overlap(computed_at, offer.inner->relids)) return true;
    if (nulls_outer && bms_overlap(computed_at, offer.outer->relids)) return true;
  }
  return false;
}

// True if an earlier join has conditions on joined rows. They are evaluated after all joins. That is too late below a
// join that marks rows of its inner side: rows that fail a condition would count as matched.
bool has_late_conditions(const EngineInput* probing) {
  ListCell* cell;
  foreach (cell, probing->joins)
    if (static_cast<EngineJoin*>(lfirst(cell))->other_quals != NIL) return true;
  return false;
}

// True if `exprs` contain a numeric column of `relids` that may have values which the engine cannot represent (NaN).
// Only Arrow tables are known to have none.
bool may_be_unheld(PlannerState* state, List* exprs, Relids relids) {
  ListCell* cell;
  foreach (cell, numeric_columns(exprs, relids)) {
    const auto* var = static_cast<Var*>(lfirst(cell));
    const EngineScan* scan = scan_of(state, var->varno);
    if (scan == nullptr || scan->stored.may_be_unheld) return true;
  }
  return false;
}

// True if a join above uses a column of a semi join's inner side instead of the equal column of the outer side.
bool outlives_semi_join(PlannerInfo* root, const OfferedJoin& offer) {
  if (offer.type != JOIN_SEMI) return false;
  auto* exprs = reinterpret_cast<Node*>(offer.result->reltarget->exprs);
  return bms_overlap(pull_varnos(root, exprs), offer.inner->relids);
}

// Without keys the engine tries every pair of rows, so conditions are better evaluated on the pairs.
void move_to_match(PlannerState* state, EngineJoin* join) {
  if (join->kind != JoinKind::kInner || join->outer_keys != NIL) return;
  List* others = NIL;
  ListCell* cell;
  foreach (cell, join->other_quals) {
    auto* expr = static_cast<Node*>(lfirst(cell));
    if (!can_fail(state, expr))
      join->match_quals = lappend(join->match_quals, expr);
    else
      others = lappend(others, expr);
  }
  join->other_quals = others;
}

// True when PostgreSQL can evaluate a clause on the rows that the join returns. With security barriers, the order of
// clauses must not change.
bool host_can_take(PlannerState* state, const RestrictInfo* clause) {
  if (clause->pseudoconstant || state->root->qual_security_level > 0) return false;
  ListCell* cell;
  foreach (cell, pull_var_clause(reinterpret_cast<Node*>(clause->clause), PVC_RECURSE_PLACEHOLDERS)) {
    int operations = 0;
    if (why_not_lowered(state, static_cast<Node*>(lfirst(cell)), &operations) != nullptr) return false;
  }
  return true;
}

// True if PostgreSQL's filters of the probing side can be evaluated after the join. The join must not multiply rows:
// the filters must not be evaluated more often than at the scan, however wrong the estimates are, because they may
// contain sub-queries.
bool can_follow_join(const PlannerInfo* root, const List* quals, const OfferedJoin& offer, JoinKind kind) {
  if (quals == NIL) return true;
  if (root->qual_security_level > 0) return false;  // the join's clauses must not see rows that these hide
  if (marks_matches(kind)) return false;
  const bool keeps_number = kind == JoinKind::kSemi || kind == JoinKind::kAnti || offer.extra->inner_unique;
  if (!keeps_number) return false;
  ListCell* cell;
  foreach (cell, quals) {
    const auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    if (contain_volatile_functions(reinterpret_cast<Node*>(clause->clause))) return false;
  }
  return true;
}

// True for a clause that filters joined rows, instead of deciding on matches.
bool is_filter(const RestrictInfo* clause, const OfferedJoin& offer) {
  return IS_OUTER_JOIN(offer.type) && RINFO_IS_PUSHED_DOWN(clause, offer.result->relids);
}

// If there is no key of equal values, a clause about the position of geometries becomes the key, or else one about
// their boxes. The other clauses become conditions.
const RestrictInfo* take_spatial_key(PlannerState* state, EngineJoin* join, const OfferedJoin& offer, Relids probing,
                                     int* operations) {
  if (ends_probing(join->kind)) return nullptr;
  ListCell* cell;
  ComparedSides ignored;
  foreach (cell, offer.extra->restrictlist) {
    const auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    int unused = 0;
    if (split_sides(clause, probing, join->inner->relids, &ignored) &&
        why_not_key(state, reinterpret_cast<OpExpr*>(clause->clause), &unused) == nullptr)
      return nullptr;
  }
  for (const auto set_keys : {set_spatial_keys, set_box_keys})
    foreach (cell, offer.extra->restrictlist) {
      const auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
      if (!is_filter(clause, offer) && set_keys(state, clause->clause, probing, join, operations)) return clause;
    }
  return nullptr;
}

// Distributes the join's clauses. A clause that cannot be lowered goes to `host`. If PostgreSQL cannot evaluate it
// there, it is returned as a refusal, and the join is not offered.
Refusal* take_clauses(PlannerState* state, EngineJoin* join, const OfferedJoin& offer, Relids probing, int* operations,
                      List** host) {
  const RestrictInfo* spatial = take_spatial_key(state, join, offer, probing, operations);
  ListCell* cell;
  foreach (cell, offer.extra->restrictlist) {
    auto* clause = static_cast<RestrictInfo*>(lfirst(cell));
    auto* expr = reinterpret_cast<Node*>(clause->clause);
    if (clause == spatial) continue;
    ComparedSides sides;
    const bool filters = is_filter(clause, offer);
    if (!filters && split_sides(clause, probing, join->inner->relids, &sides) &&
        why_not_key(state, reinterpret_cast<OpExpr*>(expr), operations) == nullptr) {
      join->outer_keys = lappend(join->outer_keys, sides.outer);
      join->inner_keys = lappend(join->inner_keys, sides.inner);
      join->key_operators = lappend_oid(join->key_operators, sides.op);
      continue;
    }
    const bool decides = !filters && offer.type != JOIN_INNER;
    const char* reason = why_not_lowered(state, expr, operations);
    if (reason == nullptr && decides && can_fail(state, expr)) reason = "can fail where it decides whether rows match";
    if (reason != nullptr && !decides && host_can_take(state, clause)) {
      *host = lappend(*host, clause);
      continue;
    }
    if (reason != nullptr) return make_refusal(expr, reason);
    if (decides)
      join->match_quals = lappend(join->match_quals, expr);
    else
      join->other_quals = lappend(join->other_quals, expr);
  }
  move_to_match(state, join);
  return nullptr;
}

// True when the join compares every column of a unique index of `table` with the outer side.
bool has_unique_keys(const RelOptInfo* table, const EngineJoin* join) {
  Bitmapset* keys = nullptr;
  ListCell* cell;
  foreach (cell, join->inner_keys) {
    const auto* var = static_cast<Var*>(lfirst(cell));
    if (IsA(var, Var) && var->varno == static_cast<int>(table->relid) && var->varattno > 0)
      keys = bms_add_member(keys, var->varattno);
  }
  foreach (cell, table->indexlist) {
    const auto* index = static_cast<IndexOptInfo*>(lfirst(cell));
    if (!index->unique || !index->immediate || index->indpred != NIL) continue;
    bool all = true;
    for (int i = 0; i < index->nkeycolumns; ++i) all = all && bms_is_member(index->indexkeys[i], keys);
    if (all) return true;
  }
  return false;
}

// PostgreSQL assumes that the columns of a key are independent of each other. It therefore expects almost no rows from
// a join by a key of several columns, and a nested loop above would seem cheap. Usually a row refers to one row of the
// inner table, and finds it unless the inner side's own filters have removed it.
double expected_rows(PlannerInfo* root, const RelOptInfo* joinrel, const RelOptInfo* outer_rel,
                     const EngineInput* outer, const EngineJoin* join) {
  // PostgreSQL's estimate is scaled by the corrections to the joins below.
  if (ends_probing(join->kind))
    return joinrel->rows * (join->path != nullptr ? std::max(1.0, join->path->rows / join->inner->rows) : 1);
  double rows = joinrel->rows * std::max(1.0, outer->rows / outer_rel->rows);
  if (join->kind != JoinKind::kInner || list_length(join->inner_keys) < 2) return rows;
  int relid = -1;
  while ((relid = bms_next_member(join->inner->relids, relid)) >= 0) {
    const RelOptInfo* table = root->simple_rel_array[relid];  // nullptr: an outer join (PostgreSQL 16)
    if (table == nullptr || table->tuples <= 0 || !has_unique_keys(table, join)) continue;
    rows = std::max(rows, clamp_row_est(outer->rows * std::min(1.0, join->inner->rows / table->tuples)));
  }
  return rows;
}

// The number of row pairs for which the engine evaluates clauses.
double pairs_to_try(PlannerInfo* root, const EngineInput* outer, const EngineJoin* join) {
  if (join->outer_keys == NIL) return outer->rows * join->inner->rows;
  if (!ends_probing(join->kind) || join->match_quals == NIL) return join->rows;  // about the number of matches
  // All rows with the same key are tried, because any of them may be the first one to match.
  const double keys = estimate_num_groups(root, join->inner_keys, join->inner->rows, nullptr, nullptr);
  return outer->rows * std::max(1.0, join->inner->rows / keys);
}

// True if the join is too expensive: not even a fused aggregation would compensate for it, or another order of joins is
// cheaper. This holds for most pairs of a join of many tables, so it is checked first. `least`: a lower bound of the
// join's costs.
bool is_hopeless(const RelOptInfo* joinrel, const EngineInput* known, Cost least) {
  constexpr double kTooDear = 2;
  if (known != nullptr && work_of(known) <= least) return true;
  if (joinrel->pathlist == NIL) return false;
  const auto* cheapest = static_cast<Path*>(linitial(joinrel->pathlist));  // add_path() keeps them in order
  return cheapest->total_cost < disable_cost && least > kTooDear * cheapest->total_cost;
}

bool same_refusal(const List* refusals, const Refusal* refusal) {
  ListCell* cell;
  foreach (cell, refusals)
    if (equal(static_cast<Refusal*>(lfirst(cell))->expr, refusal->expr)) return true;
  return false;
}

// True if a join can be added to `probing`.
bool may_probe(PlannerInfo* root, const EngineInput* probing, const OfferedJoin& offer, JoinKind kind) {
  if (probing == nullptr || !can_follow_join(root, probing->host_quals, offer, kind)) return false;
  if (probing->scan->gated) return false;
  if (marks_matches(kind) && has_late_conditions(probing)) return false;
  if (probing->scan->leaves != NIL && !guc::pg_strom::enable_partitionwise_gpujoin) return false;
  return list_length(probing->joins) < static_cast<int>(engine::op::kMostJoins);
}

// Records the refusal, if remember() would record the input. Only the direction that PostgreSQL asks for is reported.
void note_refusal(const PlannerInfo* root, EngineInput* probing, JoinKind kind, Refusal* refusal) {
  const bool lasting = root->join_search_private == nullptr && !ends_probing(kind);
  if (lasting && !same_refusal(probing->refusals, refusal)) probing->refusals = lappend(probing->refusals, refusal);
}

// True if the engine can run the join.
bool has_way(const EngineJoin* join) {
  const bool is_spatial = join->spatial != engine::plan::SpatialMatch::kNone;
  const bool divides = join->outer_keys != NIL && (!is_spatial || engine::plan::joins_pairs(join->kind));
  if (!divides && join->passes > 1) return false;  // the inner side cannot be divided
  if (join->passes > static_cast<double>(engine::exec::kMostPasses)) return false;
  return join->outer_keys != NIL || join->kind != JoinKind::kFull;  // PostgreSQL raises an error for conditions
}

// The joined rows of which `host_quals` leave `rows`. Where these are clamped to one, their selectivity says nothing
// about the rows before it; the other conditions do.
double rows_before(PlannerInfo* root, List* host_quals, const OfferedJoin& offer, double rows) {
  const auto share_of = [&](List* clauses) {
    return clauselist_selectivity(root, clauses, 0, JOIN_INNER, offer.extra->sjinfo);
  };
  double joined = rows / std::max(1e-6, share_of(host_quals));
  if (offer.type == JOIN_INNER) {
    List* others = list_difference_ptr(offer.extra->restrictlist, host_quals);
    joined = std::min(joined, offer.outer->rows * offer.inner->rows * share_of(others));
  }
  return clamp_row_est(std::max(joined, rows));
}

// The share of `rows` joined rows for which PostgreSQL prices conditions on joined rows. Where the inner side is
// unique, it prices them only for outer rows that it expects to pass them. Another price here would compare unlike
// things.
double evaluated_share(const OfferedJoin& offer, double rows) {
  if (!offer.extra->inner_unique || rows <= 0) return 1;
  return std::min(1.0, std::rint(offer.outer->rows * offer.extra->semifactors.outer_match_frac) / rows);
}

// Adds a path for `join` over `probing`, at `costs`.
void add_chain(PlannerState* state, const OfferedJoin& offer, const EngineInput* probing, const EngineJoin& join,
               const EngineInput& costs, int operations, const List* host_quals) {
  RelOptInfo* joinrel = offer.result;
  auto* added = static_cast<EngineJoin*>(palloc(sizeof(EngineJoin)));
  *added = join;
  auto* input = static_cast<EngineInput*>(palloc(sizeof(EngineInput)));
  *input = costs;
  input->relids = joinrel->relids;
  input->scan = probing->scan;
  input->joins = lappend(list_copy(probing->joins), added);
  input->refusals = list_copy(probing->refusals);
  input->rows = join.rows;
  input->operations = probing->operations + operations;
  input->weight = probing->weight + weight_of(offer.extra->restrictlist, kAnyWeight) +
                  (join.scan != nullptr ? join.scan->weight : 0);
  input->host_quals = list_concat_copy(probing->host_quals, host_quals);
  cost_qual_eval(&input->host_cost, input->host_quals, state->root);
  if (probing->host_quals == NIL) input->host_cost.per_tuple *= evaluated_share(offer, join.rows);
  remember(state, input);
  add_path(joinrel, reinterpret_cast<Path*>(make_engine_path(joinrel, joinrel->reltarget, input, nullptr)));
}

// Offers a path. `probing_rel` is one of the offered join's sides; the other one becomes the inner side.
void offer_chain(PlannerState* state, const OfferedJoin& offer, RelOptInfo* probing_rel, JoinKind kind) {
  PlannerInfo* root = state->root;
  RelOptInfo* joinrel = offer.result;
  EngineInput* probing = input_of(state, probing_rel);
  if (!may_probe(root, probing, offer, kind)) return;
  EngineJoin join = {};
  join.inner = probing_rel == offer.outer ? offer.inner : offer.outer;
  join.kind = kind;
  join.passes = pass_count(join.inner);
  if (!set_inner_source(state, &join)) return;
  const EngineInput* known = input_of(state, joinrel);
  if (is_hopeless(joinrel, known, probing->startup + probing->run + cost_of_build(&join))) return;

  int operations = 0;
  List* host_quals = NIL;
  Refusal* refusal = take_clauses(state, &join, offer, probing_rel->relids, &operations, &host_quals);
  if (refusal != nullptr) return note_refusal(root, probing, kind, refusal);
  if (join.spatial != engine::plan::SpatialMatch::kNone) join.passes = pass_count(join.inner, join.spatial);
  if (!has_way(&join)) return;
  join.rows = expected_rows(root, joinrel, probing_rel, probing, &join);
  if (host_quals != NIL) join.rows = rows_before(root, host_quals, offer, join.rows);

  EngineInput costs = {};
  cost_join(&costs, probing, &join, operations, pairs_to_try(root, probing, &join));
  if (is_hopeless(joinrel, known, costs.startup + costs.run)) return;
  if (join.scan == nullptr && !delivers_columns(state, join.inner)) return;
  // A candidate row of the inner side cannot become a fallback row.
  if (may_be_unheld(state, join.match_quals, join.inner->relids)) return;
  const int all_operations = operations + (join.scan != nullptr ? join.scan->operations : 0);
  if (!has_room_for(state, probing, offer.extra->restrictlist, all_operations)) return;
  add_chain(state, offer, probing, join, costs, all_operations, host_quals);
}

}  // namespace

void offer_join(PlannerInfo* root, RelOptInfo* joinrel, RelOptInfo* outer, RelOptInfo* inner, JoinType type,
                JoinPathExtraData* extra) {
  PlannerState* state = find_state(root);
  JoinKind kind;
  if (state == nullptr || !kind_of(type, &kind) || joinrel->reloptkind != RELOPT_JOINREL) return;
  const OfferedJoin offer = {joinrel, outer, inner, type, extra};
  if (!bms_is_empty(joinrel->lateral_relids) || nulls_placeholder(root, offer)) return;
  if (outlives_semi_join(root, offer)) return;  // another order of the joins avoids that
  offer_chain(state, offer, outer, kind);
  if (kind == JoinKind::kSemi) offer_chain(state, offer, inner, JoinKind::kRightSemi);
  if (kind == JoinKind::kAnti) offer_chain(state, offer, inner, JoinKind::kRightAnti);
}

}  // namespace strom::pg::planner
