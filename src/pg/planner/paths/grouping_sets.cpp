#include "pg/planner/paths/grouping_sets.hpp"

#include <algorithm>

#include "pg/planner/paths/agg_path.hpp"
#include "registry/aggregates.hpp"

namespace strom::pg::planner {

namespace {

// A group clause for the label, which is an int4.
SortGroupClause* label_clause(Index ref) {
  auto* clause = makeNode(SortGroupClause);
  clause->tleSortGroupRef = ref;
  get_sort_group_operators(INT4OID, true, true, false, &clause->sortop, &clause->eqop, nullptr, &clause->hashable);
  return clause;
}

// GROUPING() of a set: a bit for each argument, the last one lowest. It is 1 when the argument is not a key of the set.
int grouping_bits(const GroupingFunc* grouping, const List* set) {
  int bits = 0;
  ListCell* cell;
  foreach (cell, grouping->refs) bits = bits << 1 | (list_member_int(set, lfirst_int(cell)) ? 0 : 1);
  return bits;
}

List* output_values(const PathTarget* target, const List* set, Index label, int number, Index common) {
  List* values = NIL;
  int i = 0;
  ListCell* cell;
  foreach (cell, target->exprs) {
    const auto* expr = static_cast<Node*>(lfirst(cell));
    const Index ref = get_pathtarget_sortgroupref(target, i++);
    int value = 0;
    if (ref == label)
      value = number;
    else if (IsA(expr, GroupingFunc))
      value = grouping_bits(reinterpret_cast<const GroupingFunc*>(expr), set);
    else if (ref != 0)
      value = ref == common || list_member_int(set, static_cast<int>(ref)) ? 0 : 1;
    values = lappend_int(values, value);
  }
  return values;
}

bool is_coarse_sum(const Node* expr) {
  if (!IsA(expr, Aggref)) return false;
  const auto* aggregate = reinterpret_cast<const Aggref*>(expr);
  return aggregate->aggtranstype == FLOAT4OID &&
         registry::any_aggregate(get_func_name(aggregate->aggfnoid),
                                 [](const registry::AggregateInfo& row) { return registry::is_coarse_sum(row.acc); });
}

// Why the engine cannot make an output in grouping sets; nullptr when it can.
const char* why_not_in_sets(const PathTarget* target, int place, const List* keys) {
  const auto* expr = static_cast<const Node*>(list_nth(target->exprs, place));
  if (is_coarse_sum(expr)) return "sum of real values in grouping sets";
  if (get_pathtarget_sortgroupref(target, place) == 0) return nullptr;
  // PostgreSQL would not take a constant from the node below.
  if (!contain_var_clause(const_cast<Node*>(expr))) return "constant in grouping sets";
  // A node's outputs are found by their expressions. Two equal keys may be NULL in different sets, so they could be
  // confused.
  return list_member(keys, expr) ? "grouped by more than once in grouping sets" : nullptr;
}

}  // namespace

List* add_grouping_sets(PlannerInfo* root, EngineInput* input, PathTarget* target, List** clause, Index common) {
  const Query* parse = root->parse;
  Index label = 0;
  List* keys = NIL;
  ListCell* cell;
  foreach (cell, target->exprs) {
    const int place = foreach_current_index(cell);
    auto* expr = static_cast<Node*>(lfirst(cell));
    if (const char* reason = why_not_in_sets(target, place, keys)) {
      refuse(input, make_refusal(expr, reason));
      return NIL;
    }
    if (get_pathtarget_sortgroupref(target, place) != 0) keys = lappend(keys, expr);
  }
  foreach (cell, parse->groupClause) label = std::max(label, lfirst_node(SortGroupClause, cell)->tleSortGroupRef);
  foreach (cell, root->processed_tlist) label = std::max(label, lfirst_node(TargetEntry, cell)->ressortgroupref);
  ++label;
  if (list_length(target->exprs) > static_cast<int>(engine::plan::kMostSetKeys)) return NIL;
  // No query can contain a GROUPING() without arguments, so the label is equal to no other expression.
  add_column_to_pathtarget(target, reinterpret_cast<Expr*>(makeNode(GroupingFunc)), label);
  List* sets = NIL;
  foreach (cell, parse->groupingSets) {
    const auto* set = static_cast<const List*>(lfirst(cell));
    if (set != nullptr && !IsA(set, IntList)) return NIL;
    const bool is_empty = set == NIL && common == 0;
    sets = lappend(sets, lcons_int(is_empty ? 1 : 0, output_values(target, set, label, list_length(sets), common)));
  }
  *clause = lappend(list_copy(*clause), label_clause(label));
  return sets;
}

double estimate_sets(PlannerInfo* root, List* target_list, double rows, Node* common) {
  double groups = 0;
  ListCell* cell;
  foreach (cell, root->parse->groupingSets) {
    List* exprs = common != nullptr ? list_make1(common) : NIL;
    ListCell* ref;
    foreach (ref, static_cast<List*>(lfirst(cell)))
      exprs = lappend(exprs, get_sortgroupref_tle(static_cast<Index>(lfirst_int(ref)), target_list)->expr);
    groups += exprs == NIL ? 1 : estimate_num_groups(root, exprs, rows, nullptr, nullptr);
  }
  return groups;
}

}  // namespace strom::pg::planner
