// DISTINCT aggregates beside others, or DISTINCT aggregates of several arguments. The engine scans once for the
// aggregates without DISTINCT, and once for each argument of DISTINCT, grouped by the keys and the argument. PostgreSQL
// removes the remaining duplicates of these scans and makes a transition state from each value. All states are then
// combined as in other partial aggregations:
//   CpuRelay            the query's aggregates for those below, which are written without DISTINCT
//     Finalize Aggregate
//       Append
//         CpuRelay        NULL for the aggregates with DISTINCT
//           CpuPreAgg
//         CpuRelay        states of the aggregates of one argument, NULL for others
//           HashAggregate
//             CpuPreAgg
// May ereport.
#include <algorithm>

#include "pg/codec/type_map.hpp"
#include "pg/compat/grouping_path.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/node/relay.hpp"
#include "pg/planner/paths/agg_path.hpp"
#include "pg/planner/paths/grouping_sets.hpp"
#include "pg/planner/lowering/lower_aggregate.hpp"
#include "pg/planner/lowering/lower_check.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

namespace {

// A path that returns its child's rows under the expressions of its target.
struct RelayPath {
  CustomPath custom;
  List* fields;  // for each expression an IntList, see node::RelayField
};

Plan* plan_relay(PlannerInfo*, RelOptInfo*, CustomPath* best_path, List* tlist, List*, List* custom_plans) {
  auto* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = tlist;
  plan->custom_plans = custom_plans;
  plan->custom_private = reinterpret_cast<RelayPath*>(best_path)->fields;
  ListCell* cell;
  foreach (cell, best_path->path.pathtarget->exprs)
    plan->custom_scan_tlist =
        lappend(plan->custom_scan_tlist,
                makeTargetEntry(static_cast<Expr*>(copyObjectImpl(lfirst(cell))),
                                static_cast<AttrNumber>(list_length(plan->custom_scan_tlist) + 1), nullptr, false));
  plan->methods = node::relay_methods();
  return reinterpret_cast<Plan*>(plan);
}

constexpr CustomPathMethods kRelayMethods = {"pg_strom relay", plan_relay, nullptr};

Path* make_relay(RelOptInfo* rel, PathTarget* target, Path* child, List* fields) {
  auto* path = reinterpret_cast<RelayPath*>(palloc0(sizeof(RelayPath)));
  path->custom.path.type = T_CustomPath;
  path->custom.path.pathtype = T_CustomScan;
  path->custom.path.parent = rel;
  path->custom.path.pathtarget = target;
  path->custom.path.rows = child->rows;
  path->custom.path.startup_cost = child->startup_cost;
  path->custom.path.total_cost = child->total_cost + child->rows * cpu_tuple_cost;
  path->custom.custom_paths = list_make1(child);
  path->custom.methods = &kRelayMethods;
  path->fields = fields;
  return reinterpret_cast<Path*>(path);
}

List* relay_value(int column) { return list_make4_int(column, -1, 0, 0); }

// Makes a state from the value in column `column`.
List* relay_state(const Aggref* aggregate, int column) {
  const auto* argument = linitial_node(TargetEntry, aggregate->args);
  const registry::TypeInfo* type = codec::engine_type(exprType(reinterpret_cast<Node*>(argument->expr)));
  const registry::TypeId id = type != nullptr ? type->id : registry::TypeId::kBool;  // count() accepts any type
  const registry::AggregateInfo* info = aggregate_of(get_func_name(aggregate->aggfnoid), 1, id);
  if (info == nullptr) elog(ERROR, "aggregate %u has no state", aggregate->aggfnoid);
  registry::PartialFormat format = info->format;
  if (format == registry::PartialFormat::kFloat8Triple)  // PostgreSQL may share the state with a variance
    format = registry::PartialFormat::kFloat8Moments;
  return list_make4_int(column, static_cast<int>(format), static_cast<int>(info->acc), static_cast<int>(id));
}

Node* without_distinct(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (!IsA(node, Aggref)) return compat::mutate(node, without_distinct, context);
  auto* aggregate = makeNode(Aggref);
  *aggregate = *reinterpret_cast<Aggref*>(node);
  aggregate->aggdistinct = NIL;  // aggno and aggtransno distinguish it from one without DISTINCT
  return reinterpret_cast<Node*>(aggregate);
}

// What one of the scans groups by in addition to the keys, and the SQL equality of it.
struct Argument {
  Node* expr;
  SortGroupClause* clause;
};

// The argument of an aggregate with DISTINCT; NULL where FILTER excludes the row.
Node* filtered_argument(const Aggref* aggregate) {
  auto* argument = linitial_node(TargetEntry, aggregate->args)->expr;
  if (aggregate->aggfilter == nullptr) return reinterpret_cast<Node*>(argument);
  auto* when = makeNode(CaseWhen);
  when->expr = aggregate->aggfilter;
  when->result = argument;
  when->location = -1;
  auto* result = makeNode(CaseExpr);
  const auto* typed = reinterpret_cast<Node*>(argument);
  result->casetype = exprType(typed);
  result->casecollid = exprCollation(typed);
  result->args = list_make1(when);
  result->defresult = reinterpret_cast<Expr*>(makeNullConst(result->casetype, exprTypmod(typed), result->casecollid));
  result->location = -1;
  return reinterpret_cast<Node*>(result);
}

class MixedAggregates {
 public:
  MixedAggregates(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel, GroupPathExtraData* extra,
                  EngineInput* input, bool is_only_way)
      : root_(root),
        state_(find_state(root)),
        input_rel_(input_rel),
        grouped_rel_(grouped_rel),
        extra_(extra),
        input_(input),
        clauses_(root->parse->groupClause),
        is_only_way_(is_only_way) {}

  void offer() {
    if (!collect() || !grouping_is_hashable(clauses_)) return;
    List* parts = NIL;
    if (others_ != NIL) parts = lappend(parts, part_of_others());
    ListCell* cell;
    foreach (cell, arguments_) {
      Path* part = part_of(static_cast<Argument*>(lfirst(cell)));
      if (part == nullptr) return;
      parts = lappend(parts, part);
    }
    add_path(grouped_rel_, finalized(parts));
  }

 private:
  // Sorts the query's expressions into keys, aggregates without DISTINCT, and arguments of aggregates with DISTINCT.
  bool collect() {
    final_ = copy_pathtarget(grouped_rel_->reltarget);
    final_->exprs = reinterpret_cast<List*>(without_distinct(reinterpret_cast<Node*>(final_->exprs), nullptr));
    having_ = without_distinct(extra_->havingQual, nullptr);
    partial_ = partial_target(root_, final_, having_, clauses_);
    // A gating filter above the node would remove the row of an empty set of keys as well.
    if (has_sets() && input_->scan->gated) return false;
    if (has_sets() && add_grouping_sets(root_, input_, partial_, &clauses_) == NIL) return false;
    distinct_ = written_with_distinct();
    keys_ = create_empty_pathtarget();
    ListCell* cell;
    int i = 0;
    foreach (cell, partial_->exprs) {
      auto* expr = static_cast<Node*>(lfirst(cell));
      const Index ref = get_pathtarget_sortgroupref(partial_, i++);
      if (!IsA(expr, Aggref)) {
        if (is_label(expr)) continue;                                            // each part has its own label
        if (ref == 0 && !(has_sets() && IsA(expr, GroupingFunc))) return false;  // depends on another key
        add_column_to_pathtarget(keys_, reinterpret_cast<Expr*>(expr), ref);
        continue;
      }
      auto* aggregate = reinterpret_cast<Aggref*>(expr);
      const Aggref* original = original_of(aggregate);
      if (original == nullptr)
        others_ = lappend(others_, aggregate);
      else if (!add_argument(original))
        return false;
    }
    if (has_sets() && has_key_as_argument()) return false;
    if (others_ == NIL && has_empty_set()) return false;  // for no rows, no part would make the empty set's row
    return arguments_ != NIL && !refuses(partial_without_distinct());
  }

  bool has_sets() const { return root_->parse->groupingSets != NIL; }

  // True if an argument is also a key. The node's outputs are found by their expressions, so the argument would be
  // confused with the key, which is NULL in some sets.
  bool has_key_as_argument() const {
    auto* keys = reinterpret_cast<List*>(compat::below_grouping(root_, reinterpret_cast<Node*>(keys_->exprs)));
    ListCell* cell;
    foreach (cell, arguments_)
      if (list_member(keys, static_cast<Argument*>(lfirst(cell))->expr)) return true;
    return false;
  }

  bool has_empty_set() const { return has_sets() && list_member(root_->parse->groupingSets, NIL); }

  static bool is_label(const Node* expr) {
    return IsA(expr, GroupingFunc) && reinterpret_cast<const GroupingFunc*>(expr)->refs == NIL;
  }

  // The query's aggregates that have DISTINCT.
  List* written_with_distinct() {
    List* exprs = list_copy(grouped_rel_->reltarget->exprs);
    if (extra_->havingQual != nullptr) exprs = lappend(exprs, extra_->havingQual);
    List* found = NIL;
    ListCell* cell;
    foreach (cell, pull_var_clause(reinterpret_cast<Node*>(exprs),
                                   PVC_INCLUDE_AGGREGATES | PVC_RECURSE_WINDOWFUNCS | PVC_INCLUDE_PLACEHOLDERS))
      if (IsA(lfirst(cell), Aggref) && lfirst_node(Aggref, cell)->aggdistinct != NIL)
        found = lappend(found, lfirst(cell));
    return found;
  }

  const Aggref* original_of(const Aggref* partial) const {
    ListCell* cell;
    foreach (cell, distinct_)
      if (lfirst_node(Aggref, cell)->aggno == partial->aggno) return lfirst_node(Aggref, cell);
    return nullptr;
  }

  bool add_argument(const Aggref* original) {
    if (original->aggkind != AGGKIND_NORMAL || list_length(original->args) != 1 || original->aggorder != NIL)
      return false;
    int operations = 0;
    auto* plain =
        reinterpret_cast<Aggref*>(without_distinct(reinterpret_cast<Node*>(const_cast<Aggref*>(original)), nullptr));
    if (const char* reason = why_not_aggregated(state_, plain, &operations); reason != nullptr) {
      if (is_only_way_) refuse(input_, make_refusal(reinterpret_cast<Node*>(plain), reason));
      return false;
    }
    const auto* clause = linitial_node(SortGroupClause, original->aggdistinct);
    Node* expr = filtered_argument(original);
    if (!clause->hashable || !contain_var_clause(expr)) return false;
    ListCell* cell;
    foreach (cell, arguments_)
      if (equal(static_cast<Argument*>(lfirst(cell))->expr, expr)) return true;
    auto* argument = static_cast<Argument*>(palloc(sizeof(Argument)));
    argument->expr = expr;
    argument->clause = static_cast<SortGroupClause*>(copyObjectImpl(clause));
    argument->clause->tleSortGroupRef = free_reference();
    arguments_ = lappend(arguments_, argument);
    return true;
  }

  // A reference number that no clause of the query uses.
  Index free_reference() const {
    Index highest = 0;
    ListCell* cell;
    foreach (cell, clauses_) highest = std::max(highest, lfirst_node(SortGroupClause, cell)->tleSortGroupRef);
    foreach (cell, root_->processed_tlist) highest = std::max(highest, lfirst_node(TargetEntry, cell)->ressortgroupref);
    return highest + 1;
  }

  PathTarget* partial_without_distinct() {
    PathTarget* target = copy_pathtarget(keys_);
    ListCell* cell;
    foreach (cell, others_) add_column_to_pathtarget(target, static_cast<Expr*>(lfirst(cell)), 0);
    return set_pathtarget_cost_width(root_, target);
  }

  bool refuses(const PathTarget* target) {
    int operations = 0;
    Refusal* refusal = refused_output(state_, input_, target, &operations);
    if (refusal != nullptr && is_only_way_) refuse(input_, refusal);
    return refusal != nullptr;
  }

  // The number of groups by the keys and `argument`, which may be nullptr.
  double estimate(Node* argument) const {
    if (has_sets()) return estimate_sets(root_, extra_->targetList, input_->rows, argument);
    List* exprs = list_copy(keys_->exprs);
    if (argument != nullptr) exprs = lappend(exprs, argument);
    return exprs == NIL ? 1 : estimate_num_groups(root_, exprs, input_->rows, nullptr, nullptr);
  }

  // `common`: the reference of the argument by which the part groups.
  EngineAggregation* aggregation_of(PathTarget* target, double groups, Index common) {
    List* clauses = NIL;
    List* sets = has_sets() ? add_grouping_sets(root_, input_, target, &clauses, common) : NIL;
    EngineAggregation* aggregation = make_aggregation(set_pathtarget_cost_width(root_, target), groups);
    aggregation->sets = sets;
    return aggregation;
  }

  // For each expression of partial_ its column in `target`. For aggregates without a column, the result of `state`.
  template <class State>
  List* fields(const PathTarget* target, State state) {
    List* result = NIL;
    ListCell* cell;
    foreach (cell, partial_->exprs) {
      auto* expr = static_cast<Node*>(lfirst(cell));
      int column = 0, i = 0;
      ListCell* given;
      foreach (given, target->exprs) {
        ++i;
        if (column == 0 && equal(lfirst(given), expr)) column = i;
      }
      result = lappend(result,
                       column == 0 && IsA(expr, Aggref) ? state(reinterpret_cast<Aggref*>(expr)) : relay_value(column));
    }
    return result;
  }

  Path* part_of_others() {
    PathTarget* target = partial_without_distinct();
    EnginePath* path = make_engine_path(input_rel_, target, input_, aggregation_of(target, estimate(nullptr), 0));
    return make_relay(grouped_rel_, partial_, reinterpret_cast<Path*>(path),
                      fields(target, [](const Aggref*) { return relay_value(0); }));
  }

  // nullptr when the engine cannot group by the argument, or when grouping would leave too many rows.
  Path* part_of(const Argument* argument) {
    PathTarget* target = copy_pathtarget(keys_);
    add_column_to_pathtarget(target, reinterpret_cast<Expr*>(argument->expr), argument->clause->tleSortGroupRef);
    target = set_pathtarget_cost_width(root_, target);
    if (refuses(target)) return nullptr;
    const int column = list_length(target->exprs);
    const double groups = estimate(argument->expr);
    if (groups > input_->rows * kWorthwhileShare) return nullptr;
    EngineAggregation* aggregation = aggregation_of(target, groups, argument->clause->tleSortGroupRef);
    EnginePath* grouped = make_engine_path(input_rel_, target, input_, aggregation);
    Path* once = reinterpret_cast<Path*>(
        create_agg_path(root_, grouped_rel_, reinterpret_cast<Path*>(grouped), target, AGG_HASHED, AGGSPLIT_SIMPLE,
                        lappend(list_copy(clauses_), argument->clause), NIL, nullptr, groups));
    return make_relay(grouped_rel_, partial_, once, fields(target, [&](const Aggref* aggregate) {
                        const Aggref* original = original_of(aggregate);
                        const bool takes = original != nullptr && equal(filtered_argument(original), argument->expr);
                        return takes ? relay_state(original, column) : relay_value(0);
                      }));
  }

  Path* finalized(List* parts) {
    Path* below = static_cast<Path*>(linitial(parts));
    if (list_length(parts) > 1) {
      below = reinterpret_cast<Path*>(create_append_path(root_, grouped_rel_, parts, NIL, NIL, nullptr, 0, false, -1));
      below->pathtarget = partial_;
    }
    AggClauseCosts costs;
    MemSet(&costs, 0, sizeof(costs));
    get_agg_clause_costs(root_, AGGSPLIT_FINAL_DESERIAL, &costs);
    const double groups = estimate(nullptr);
    Path* final = reinterpret_cast<Path*>(
        create_agg_path(root_, grouped_rel_, below, final_, clauses_ == NIL ? AGG_PLAIN : AGG_HASHED,
                        AGGSPLIT_FINAL_DESERIAL, clauses_, reinterpret_cast<List*>(having_), &costs, groups));
    List* all = NIL;
    for (int i = 1; i <= list_length(final_->exprs); ++i) all = lappend(all, relay_value(i));
    return make_relay(grouped_rel_, grouped_rel_->reltarget, final, all);
  }

  PlannerInfo* root_;
  PlannerState* state_;
  RelOptInfo *input_rel_, *grouped_rel_;
  GroupPathExtraData* extra_;
  EngineInput* input_;
  List* clauses_;
  const bool is_only_way_;
  PathTarget* final_ = nullptr;    // grouped_rel_'s target, with DISTINCT removed from its aggregates
  Node* having_ = nullptr;         // HAVING, likewise
  PathTarget* partial_ = nullptr;  // the output of each part
  PathTarget* keys_ = nullptr;
  List* distinct_ = NIL;   // of Aggref: the aggregates with DISTINCT
  List* others_ = NIL;     // of Aggref, partial: the aggregates without DISTINCT
  List* arguments_ = NIL;  // of Argument*
};

}  // namespace

void offer_mixed_aggregates(PlannerInfo* root, RelOptInfo* input_rel, RelOptInfo* grouped_rel,
                            GroupPathExtraData* extra, EngineInput* input, bool is_only_way) {
  MixedAggregates(root, input_rel, grouped_rel, extra, input, is_only_way).offer();
}

}  // namespace strom::pg::planner
