// CpuAgg returns the groups of a partial aggregation directly if the engine has merged all of them. Otherwise it runs
// its child: PostgreSQL's aggregation over the same CpuPreAgg. This is decided at run time, when the engine has read
// its input (node/final_groups.cpp). May ereport.
#include "pg/codec/type_map.hpp"
#include "pg/node/final_groups.hpp"
#include "pg/node/node.hpp"
#include "pg/planner/paths/agg_path.hpp"
#include "registry/aggregates.hpp"

extern "C" {
#include "catalog/pg_constraint.h"
}

namespace strom::pg::planner {

namespace {

/// The expected number of groups for PostgreSQL's hash table. The table is made before it is known whether it is
/// needed; it can grow.
constexpr double kMostExpected = 1000;

struct FinalGroupsPath {
  CustomPath custom;
  List* having;
};

bool is_for_gpu(const Plan* plan) {
  return IsA(plan, CustomScan) && node::is_gpu_plan(reinterpret_cast<const CustomScan*>(plan));
}

/// True if the result is the sum divided by the count. All rows of the registry with the name agree on that.
bool is_average(const Aggref* aggregate) {
  return registry::any_aggregate(get_func_name(aggregate->aggfnoid),
                                 [](const registry::AggregateInfo& row) { return row.is_average; });
}

Plan* plan_final_groups(PlannerInfo*, RelOptInfo*, CustomPath* best_path, List* tlist, List*, List* custom_plans) {
  const auto* path = reinterpret_cast<const FinalGroupsPath*>(best_path);
  const auto* child = static_cast<const Plan*>(linitial(custom_plans));
  auto* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = tlist;
  plan->scan.plan.qual = path->having;
  plan->flags = best_path->flags;
  plan->custom_plans = custom_plans;
  ListCell* cell;
  foreach (cell, child->targetlist) {
    const auto* column = lfirst_node(TargetEntry, cell);
    if (const auto* aggregate = reinterpret_cast<const Aggref*>(column->expr); IsA(aggregate, Aggref))
      plan->custom_private = lappend_int(plan->custom_private, is_average(aggregate));
    else
      plan->custom_private = lappend_int(plan->custom_private, 0);
    plan->custom_scan_tlist =
        lappend(plan->custom_scan_tlist,
                makeTargetEntry(static_cast<Expr*>(copyObjectImpl(column->expr)), column->resno, nullptr, false));
  }
  plan->methods = node::final_groups_methods(is_for_gpu(child->lefttree));
  return reinterpret_cast<Plan*>(plan);
}

constexpr CustomPathMethods kMethods = {"pg_strom final groups", plan_final_groups, nullptr};

/// True if keys are equal exactly if the bytes of their registers are equal.
bool has_exact_equality(Node* key) {
  const registry::TypeInfo* type = codec::engine_type(exprType(key));
  const bool has_scale = type == nullptr || type->id != registry::TypeId::kNumeric || exprTypmod(key) >= VARHDRSZ;
  return type != nullptr && has_scale && registry::is_equal_by_bits(type->id);
}

bool has_simple_result(const Aggref* aggregate) {
  return registry::any_aggregate(get_func_name(aggregate->aggfnoid), [](const registry::AggregateInfo& row) {
    return row.nargs < 2 && registry::has_simple_result(row.acc);
  });
}

/// True if column i of `partial`, which the engine treats as a key, depends on the other keys and so makes no
/// additional groups. An example of a column that does is `a` in SELECT a / 2 + 1 ... GROUP BY a / 2.
bool follows_from_keys(PlannerInfo* root, PathTarget* partial, int i) {
  const auto* column = static_cast<const Var*>(list_nth(partial->exprs, i));
  if (!IsA(column, Var) || column->varlevelsup != 0) return false;
  const RangeTblEntry* table = planner_rt_fetch(column->varno, root);
  if (table->rtekind != RTE_RELATION) return false;
  List* keys = NIL;
  for (int k = 0; k < list_length(partial->exprs); ++k)
    if (get_pathtarget_sortgroupref(partial, k) != 0) keys = lappend(keys, list_nth(partial->exprs, k));
  List* dependencies = NIL;  // set by parsing or planning already
  return check_functional_grouping(table->relid, column->varno, 0, keys, &dependencies);
}

/// `partial` with the query's aggregates instead of their partial forms; nullptr when the node cannot make one of its
/// columns.
PathTarget* final_target(PlannerInfo* root, PathTarget* partial, const PathTarget* grouping_target, Node* having) {
  List* sources = list_copy(grouping_target->exprs);
  if (having != nullptr) sources = lappend(sources, having);
  const List* aggregates = pull_var_clause(reinterpret_cast<Node*>(sources),
                                           PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS);
  PathTarget* target = copy_pathtarget(partial);
  ListCell* cell;
  foreach (cell, target->exprs) {
    auto* expr = static_cast<Node*>(lfirst(cell));
    if (!IsA(expr, Aggref)) {
      const int i = foreach_current_index(cell);
      if (get_pathtarget_sortgroupref(partial, i) == 0 && !follows_from_keys(root, partial, i)) return nullptr;
      if (!has_exact_equality(expr)) return nullptr;
      continue;
    }
    Node* original = nullptr;
    ListCell* other;
    foreach (other, aggregates) {
      auto* aggregate = static_cast<Node*>(lfirst(other));
      if (IsA(aggregate, Aggref) &&
          reinterpret_cast<Aggref*>(aggregate)->aggno == reinterpret_cast<Aggref*>(expr)->aggno)
        original = aggregate;
    }
    if (original == nullptr || !has_simple_result(reinterpret_cast<Aggref*>(original))) return nullptr;
    lfirst(cell) = original;
  }
  return set_pathtarget_cost_width(root, target);
}

/// Offers a path over `partial`. `aggregated`: the result of PostgreSQL's aggregation over it, from which `target` is
/// computed.
void offer_path(PlannerInfo* root, const EnginePath* partial, const AggPath* finalized, PathTarget* aggregated,
                PathTarget* target, List* having) {
  AggClauseCosts costs;
  MemSet(&costs, 0, sizeof(costs));
  RelOptInfo* rel = finalized->path.parent;
  AggPath* child =
      create_agg_path(root, rel, finalized->subpath, aggregated, AGG_HASHED, finalized->aggsplit,
                      finalized->groupClause, NIL, &costs, std::min<double>(finalized->numGroups, kMostExpected));
  auto* path = reinterpret_cast<FinalGroupsPath*>(palloc0(sizeof(FinalGroupsPath)));
  path->custom.path.type = T_CustomPath;
  path->custom.path.pathtype = T_CustomScan;
  path->custom.path.parent = rel;
  path->custom.path.pathtarget = target;
  path->custom.path.rows = finalized->path.rows;
  QualCost filter;
  cost_qual_eval(&filter, having, root);
  const Path& below = partial->custom.path;
  path->custom.path.startup_cost = below.startup_cost + filter.startup + target->cost.startup;
  path->custom.path.total_cost = below.total_cost + filter.startup + target->cost.startup +
                                 below.rows * (cpu_tuple_cost + filter.per_tuple) +
                                 finalized->path.rows * target->cost.per_tuple;
  path->custom.flags = CUSTOMPATH_SUPPORT_PROJECTION;
  path->custom.custom_paths = list_make1(child);
  path->custom.methods = &kMethods;
  path->having = having;
  add_path(rel, reinterpret_cast<Path*>(path));
}

}  // namespace

void offer_final_groups(PlannerInfo* root, RelOptInfo* grouped_rel, GroupPathExtraData* extra, EnginePath* partial,
                        const AggPath* finalized) {
  PathTarget* target = final_target(root, partial->custom.path.pathtarget, grouped_rel->reltarget, extra->havingQual);
  if (target == nullptr) return;
  offer_path(root, partial, finalized, target, grouped_rel->reltarget, reinterpret_cast<List*>(extra->havingQual));
}

void offer_final_distinct(PlannerInfo* root, EnginePath* partial, const AggPath* finalized) {
  PathTarget* target = partial->custom.path.pathtarget;
  ListCell* cell;
  foreach (cell, target->exprs)
    if (!has_exact_equality(static_cast<Node*>(lfirst(cell)))) return;
  offer_path(root, partial, finalized, target, target, NIL);
}

}  // namespace strom::pg::planner
