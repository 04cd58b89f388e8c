#include "pg/planner/plan/make_plan_spec.hpp"

#include <cmath>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/planner/state/expression_size.hpp"
#include "pg/planner/paths/paths.hpp"

namespace strom::pg::planner {

using boundary::guard;
using node::JoinSpec;
using node::PipelineSpec;
using node::PlanKind;
using node::PlanSpec;

namespace {

// Replaces columns by positions in custom_scan_tlist. May ereport.
Node* to_slots(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (IsA(node, PlaceHolderVar))
    return to_slots(reinterpret_cast<Node*>(reinterpret_cast<PlaceHolderVar*>(node)->phexpr), context);
  if (!IsA(node, Var)) return compat::mutate(node, to_slots, context);
  auto* var = static_cast<Var*>(copyObjectImpl(node));
  const int slot = slot_of(static_cast<const PlanSlots*>(context), var->varno, var->varattno);
  if (slot == 0) elog(ERROR, "column %d of relation %d is missing in an engine plan", var->varattno, var->varno);
  var->varno = INDEX_VAR;
  var->varattno = static_cast<AttrNumber>(slot);
  return reinterpret_cast<Node*>(var);
}

Node* mapped(const void* expr, PlanSlots* slots) {
  if (expr == nullptr) return nullptr;
  return guard([=] {
    Node* result = to_slots(static_cast<Node*>(const_cast<void*>(expr)), slots);
    fix_opfuncids(result);
    return result;
  });
}

List* mapped_list(const List* exprs, PlanSlots* slots) {
  return guard([=] {
    List* result = NIL;
    for (int i = 0; i < list_length(exprs); ++i) {
      result = lappend(result, to_slots(static_cast<Node*>(list_nth(exprs, i)), slots));
      fix_opfuncids(static_cast<Node*>(llast(result)));
    }
    return result;
  });
}

List* mapped_filters(List* quals, PlanSlots* slots) {
  return mapped_list(guard([=] { return bare_clauses(quals); }), slots);
}

std::vector<int> slots_of(const std::vector<SourceColumnRef>& columns, const PlanSlots* slots) {
  std::vector<int> result(columns.size());
  guard([&] {
    for (size_t i = 0; i < columns.size(); ++i) result[i] = slot_of(slots, columns[i].varno, columns[i].attnum);
  });
  return result;
}

// Removes PlaceHolderVars, which EXPLAIN cannot print. setrefs.c removes them only from expressions that it knows.
// May ereport.
Node* without_placeholders(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (IsA(node, PlaceHolderVar))
    return without_placeholders(reinterpret_cast<Node*>(reinterpret_cast<PlaceHolderVar*>(node)->phexpr), context);
  return compat::mutate(node, without_placeholders, context);
}

// Large expressions are not shown: copying and printing them would take as long as the rest of planning. May ereport.
Node* shown_expression(Node* expr) {
  constexpr int kMostShown = 1000;
  if (expr == nullptr || weight_of(list_make1(expr), kMostShown) > kMostShown) return nullptr;
  return without_placeholders(expr, nullptr);
}

void add_unsupported(const List* refusals, PlanSpec* spec) {
  for (int i = 0; i < list_length(refusals); ++i) {
    const auto* refusal = static_cast<const Refusal*>(list_nth(refusals, i));
    spec->unsupported.push_back(guard([refusal] {
      return node::UnsupportedSpec{shown_expression(refusal->expr),
                                   reinterpret_cast<Node*>(makeString(pstrdup(refusal->reason)))};
    }));
  }
}

const EngineJoin* join_at(const EngineInput* input, size_t index) {
  return static_cast<const EngineJoin*>(list_nth(input->joins, static_cast<int>(index)));
}

void set_leaves(PlannerInfo* root, const EngineScan* scan, const std::vector<SourceColumnRef>& columns,
                PipelineSpec* pipeline) {
  pipeline->leaf_count = scan->leaf_count;
  for (int i = 0; i < list_length(scan->leaves); ++i) {
    const auto relid = static_cast<Index>(list_nth_int(scan->leaves, i));
    node::LeafSpec leaf{relid, list_nth_int(scan->leaf_kinds, i), std::vector<int>(columns.size())};
    guard([&] {
      for (size_t j = 0; j < columns.size(); ++j)
        leaf.positions[j] = leaf_column(root, relid, scan->rel->relid, columns[j].attnum);
    });
    pipeline->leaves.push_back(std::move(leaf));
  }
  pipeline->pruning = guard([=] { return leaf_pruning(root, scan); });
}

/// `scan` is nullptr when the rows come from a PostgreSQL plan.
PipelineSpec pipeline_spec(PlannerInfo* root, const EngineScan* scan, const std::vector<SourceColumnRef>& columns,
                           PlanSlots* slots) {
  PipelineSpec pipeline;
  pipeline.slots = slots_of(columns, slots);
  for (const SourceColumnRef& column : columns) pipeline.positions.push_back(column.position);
  if (scan == nullptr) return pipeline;
  pipeline.relid = scan->rel->relid;
  pipeline.kind = scan->kind;
  pipeline.filters = mapped_filters(scan->quals, slots);
  if (scan->leaves != NIL) set_leaves(root, scan, columns, &pipeline);
  return pipeline;
}

void add_pipelines(PlannerInfo* root, const EngineInput* input, const ProgramWriter& writer, PlanSlots* slots,
                   const BlockSelectors& selectors, PlanSpec* spec) {
  int child = 0;
  const size_t joins = writer.sources().size() - 1;
  for (size_t i = 0; i <= joins; ++i) {
    const EngineJoin* join = i < joins ? join_at(input, i) : nullptr;
    PipelineSpec pipeline = pipeline_spec(root, join != nullptr ? join->scan : input->scan, writer.sources()[i], slots);
    if (join != nullptr && join->membership != nullptr)
      pipeline.subplan = join->membership->subplan->plan_id;
    else if (join != nullptr && join->scan == nullptr)
      pipeline.child = child++;
    const auto at = static_cast<int>(i);
    pipeline.block_selector = intVal(list_nth(selectors.numbers, at));
    pipeline.range_filters = mapped_list(static_cast<const List*>(list_nth(selectors.filters, at)), slots);
    spec->pipelines.push_back(std::move(pipeline));
  }
}

// Rounded to the whole number that EXPLAIN shows.
double row_estimate(double rows) { return std::rint(rows); }

void add_joins(const EngineInput* input, const ProgramWriter& writer, PlanSlots* slots, PlanSpec* spec) {
  for (size_t i = 0; i < writer.payloads().size(); ++i) {
    const EngineJoin* join = join_at(input, i);
    JoinSpec result;
    result.payload_slots = slots_of(writer.payloads()[i], slots);
    result.outer_keys = mapped_list(join->outer_keys, slots);
    if (join->membership == nullptr) result.inner_keys = mapped_list(join->inner_keys, slots);
    result.key_operators = guard([join] { return list_copy(join->key_operators); });
    // For candidates of a fallback row, PostgreSQL evaluates the clause itself.
    const List* decides = join->spatial_clause == nullptr
                              ? join->match_quals
                              : guard([join] { return lcons(join->spatial_clause, list_copy(join->match_quals)); });
    result.match_filters = mapped_list(decides, slots);
    if (join->membership != nullptr) result.membership = mapped(join->membership->clause->clause, slots);
    result.membership_param = writer.membership_param(i);
    result.rows = row_estimate(join->rows);
    List* filters = mapped_list(join->other_quals, slots);
    spec->join_filters = guard([&] { return list_concat(spec->join_filters, filters); });
    spec->joins.push_back(std::move(result));
  }
}

void add_aggregation(const EngineAggregation* aggregation, const ProgramWriter& writer, PlanSlots* slots,
                     PlanSpec* spec) {
  for (const Node* key : writer.group_keys()) {
    Node* expr = mapped(key, slots);
    spec->group_keys = guard([&] { return lappend(spec->group_keys, expr); });
  }
  for (const AggregateRef& one : writer.aggregates())
    spec->aggregates.push_back({mapped(one.argument, slots), mapped(one.second, slots), mapped(one.filter, slots)});
  if (aggregation == nullptr) return;
  for (int i = 0; i < list_length(aggregation->sets); ++i) {
    const auto* values = static_cast<const List*>(list_nth(aggregation->sets, i));
    node::GroupingSetSpec set{linitial_int(values) != 0, {}};
    for (int j = 1; j < list_length(values); ++j) set.values.push_back(list_nth_int(values, j));
    spec->grouping_sets.push_back(std::move(set));
  }
}

}  // namespace

PlanSpec make_plan_spec(PlannerInfo* root, const EnginePath* path, ProgramWriter& writer, PlanSlots* slots,
                        const BlockSelectors& selectors) {
  const EngineInput* input = path->input;
  PlanSpec spec;
  spec.kind = path->aggregation != nullptr ? PlanKind::kAggregation
              : input->joins != NIL        ? PlanKind::kJoin
                                           : PlanKind::kScan;
  spec.program = writer.take_program();
  spec.scanrelid = input->scan->rel->relid;
  add_pipelines(root, input, writer, slots, selectors, &spec);
  add_joins(input, writer, slots, &spec);
  spec.outputs = writer.outputs();
  add_aggregation(path->aggregation, writer, slots, &spec);
  for (int i = 0; i < list_length(path->order); ++i) {
    const auto* key = static_cast<const EngineSortKey*>(list_nth(path->order, i));
    spec.order.push_back(
        {writer.order()[static_cast<size_t>(i)], key->sort_operator, key->collation, key->nulls_first});
  }
  add_unsupported(input->scan->refusals, &spec);
  add_unsupported(input->refusals, &spec);
  spec.rows_in = row_estimate(input->scan->rows_in);
  spec.rows_out = row_estimate(input->scan->rows_out);
  if (path->knows_gpu) spec.device_costs.push_back({path->cpu_cost, path->gpu_cost, input->work.cached_bytes});
  return spec;
}

}  // namespace strom::pg::planner
