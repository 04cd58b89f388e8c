// PlanCustomPath: a path of ours to a CustomScan with its program. May ereport; C++ only inside boundary::entry.
#include "engine/plan/serialize.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/node/node.hpp"
#include "pg/planner/paths.hpp"
#include "pg/planner/expression_size.hpp"
#include "pg/planner/plan_data.hpp"
#include "pg/planner/plan_slots.hpp"
#include "pg/planner/program_writer.hpp"

namespace strom::pg::planner {

namespace {

List* bare_clauses(List* quals) { return extract_actual_clauses(quals, false); }

/// Everything that the node evaluates or shows refers to these columns.
void add_input_vars(PlanSlots* slots, const EngineInput* input) {
  add_vars(slots, bare_clauses(input->scan->quals));
  ListCell* cell;
  foreach (cell, input->joins) {
    const auto* join = static_cast<EngineJoin*>(lfirst(cell));
    if (join->scan != nullptr) add_vars(slots, bare_clauses(join->scan->quals));
    add_vars(slots, join->outer_keys);
    if (join->membership == nullptr) add_vars(slots, join->inner_keys);
    add_vars(slots, join->match_quals);
    add_vars(slots, join->other_quals);
  }
}

List* as_target_list(List* exprs) {
  if (exprs == NIL)
    exprs = list_make1(makeNullConst(INT4OID, -1, InvalidOid));  // an empty list would mean the table's row
  List* tlist = NIL;
  ListCell* cell;
  foreach (cell, exprs)
    tlist = lappend(tlist, makeTargetEntry(static_cast<Expr*>(copyObjectImpl(lfirst(cell))),
                                           static_cast<AttrNumber>(list_length(tlist) + 1), nullptr, false));
  return tlist;
}

// Columns become positions in custom_scan_tlist.
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
  Node* result = to_slots(static_cast<Node*>(const_cast<void*>(expr)), slots);
  fix_opfuncids(result);
  return result;
}

List* mapped_list(const List* exprs, PlanSlots* slots) {
  List* result = NIL;
  for (int i = 0; i < list_length(exprs); ++i) result = lappend(result, mapped(list_nth(exprs, i), slots));
  return result;
}

template <class T>
List* mapped_vector(const std::vector<T>& exprs, PlanSlots* slots) {
  List* result = NIL;
  for (const auto* expr : exprs) result = lappend(result, expr != nullptr ? mapped(expr, slots) : nullptr);
  return result;
}

Node* row_estimate(double rows) { return reinterpret_cast<Node*>(makeFloat(psprintf("%.0f", rows))); }

void* cost_value(Cost cost) { return makeFloat(psprintf("%.2f", cost)); }

List* estimates_of(const EnginePath* path) {
  const EngineInput* input = path->input;
  List* estimates = list_make2(row_estimate(input->scan->rows_in), row_estimate(input->scan->rows_out));
  ListCell* cell;
  foreach (cell, input->joins)
    estimates = lappend(estimates, row_estimate(static_cast<EngineJoin*>(lfirst(cell))->rows));
  return lappend(estimates, row_estimate(path->custom.path.rows));
}

// EXPLAIN cannot print a PlaceHolderVar; setrefs.c removes them from what it knows.
Node* without_placeholders(Node* node, void* context) {
  if (node == nullptr) return nullptr;
  if (IsA(node, PlaceHolderVar))
    return without_placeholders(reinterpret_cast<Node*>(reinterpret_cast<PlaceHolderVar*>(node)->phexpr), context);
  return compat::mutate(node, without_placeholders, context);
}

// Large expressions are not shown: copies and texts of them take as long as all else.
Node* shown_expression(Node* expr) {
  constexpr int kMostShown = 1000;
  if (expr == nullptr || weight_of(list_make1(expr), kMostShown) > kMostShown) return nullptr;
  return without_placeholders(expr, nullptr);
}

List* refusals_of(const EngineInput* input) {
  List* result = NIL;
  ListCell* cell;
  foreach (cell, list_concat_copy(input->scan->refusals, input->refusals)) {
    const auto* refusal = static_cast<Refusal*>(lfirst(cell));
    result = lappend(result, list_make2(shown_expression(refusal->expr), makeString(pstrdup(refusal->reason))));
  }
  return result;
}

// The scan of a pipeline; nullptr when it reads a PostgreSQL plan.
const EngineScan* scan_of_pipeline(const EngineInput* input, size_t pipeline) {
  const auto index = static_cast<int>(pipeline);
  return index == list_length(input->joins) ? input->scan
                                            : static_cast<EngineJoin*>(list_nth(input->joins, index))->scan;
}

// The number of the SubPlan whose rows a pipeline reads, 0 for others.
int subplan_of_pipeline(const EngineInput* input, size_t pipeline) {
  const auto* join = static_cast<EngineJoin*>(list_nth(input->joins, static_cast<int>(pipeline)));
  return join->membership != nullptr ? join->membership->subplan->plan_id : 0;
}

List* source_lists(const ProgramWriter& writer, const EngineInput* input, const PlanSlots* slots) {
  List* result = NIL;
  for (size_t i = 0; i < writer.sources().size(); ++i) {
    const EngineScan* scan = scan_of_pipeline(input, i);
    List* source =
        list_make1_int(scan != nullptr ? static_cast<int>(scan->rel->relid) : -subplan_of_pipeline(input, i));
    for (const SourceColumnRef& column : writer.sources()[i]) {
      source = lappend_int(source, column.position);
      source = lappend_int(source, slot_of(slots, column.varno, column.attnum));
    }
    result = lappend(result, source);
  }
  return result;
}

List* leaf_lists(PlannerInfo* root, const ProgramWriter& writer, const EngineInput* input) {
  List* result = NIL;
  for (size_t i = 0; i < writer.sources().size(); ++i) {
    const EngineScan* scan = scan_of_pipeline(input, i);
    List* fields = NIL;
    const List* leaves = scan != nullptr ? scan->leaves : NIL;
    if (leaves != NIL) fields = list_make1_int(scan->leaf_count);
    ListCell* cell;
    foreach (cell, leaves) {
      const auto leaf = static_cast<Index>(lfirst_int(cell));
      fields = lappend_int(fields, static_cast<int>(leaf));
      for (const SourceColumnRef& column : writer.sources()[i])
        fields = lappend_int(fields, leaf_column(root, leaf, scan->rel->relid, column.attnum));
    }
    result = lappend(result, fields);
  }
  return result;
}

List* pruning_list(PlannerInfo* root, const EngineInput* input) {
  List* result = NIL;
  for (size_t i = 0; i <= static_cast<size_t>(list_length(input->joins)); ++i) {
    const EngineScan* scan = scan_of_pipeline(input, i);
    const bool prunes = scan != nullptr && scan->leaves != NIL;
    result = lappend(result, prunes ? leaf_pruning(root, scan) : nullptr);
  }
  return result;
}

List* output_lists(const ProgramWriter& writer) {
  List* result = NIL;
  for (const OutputRef& output : writer.outputs()) {
    List* fields = list_make2_int(static_cast<int>(output.kind), output.index);
    fields = lappend_int(fields, output.format);
    fields = lappend_int(fields, output.scale);
    result = lappend(result, lappend_int(fields, output.length));
  }
  return result;
}

List* payload_lists(const ProgramWriter& writer, const PlanSlots* slots) {
  List* result = NIL;
  for (const auto& payload : writer.payloads()) {
    // An empty IntList is NIL, which copyObject keeps.
    List* fields = NIL;
    for (const SourceColumnRef& column : payload)
      fields = lappend_int(fields, slot_of(slots, column.varno, column.attnum));
    result = lappend(result, fields);
  }
  return result;
}

List* filter_lists(const EngineInput* input, PlanSlots* slots) {
  List* result = NIL;
  ListCell* cell;
  foreach (cell, input->joins) {
    const EngineScan* scan = static_cast<EngineJoin*>(lfirst(cell))->scan;
    result = lappend(result, scan != nullptr ? mapped_list(bare_clauses(scan->quals), slots) : NIL);
  }
  return lappend(result, mapped_list(bare_clauses(input->scan->quals), slots));
}

/// Custom plans that tell what to read.
struct ChoosingPlans {
  List* numbers;  // for each pipeline an Integer, as kPlanChoosers
  List* filters;  // for each pipeline a List of Expr, as kPlanRangeFilters before they are mapped
};

// PostgreSQL has planned whole scans. Of a bitmap heap scan only what makes the bitmap is wanted, of a sample scan the
// sampling.
ChoosingPlans take_choosers(const EngineInput* input, List* custom_plans) {
  List* scans = NIL;
  int next = 0;
  ListCell* cell;
  foreach (cell, input->joins) {
    const auto* join = static_cast<EngineJoin*>(lfirst(cell));
    scans = lappend(scans, join->scan);
    if (join->path != nullptr) ++next;
  }
  scans = lappend(scans, input->scan);
  ChoosingPlans plans = {NIL, NIL};
  foreach (cell, scans) {
    const auto* scan = static_cast<EngineScan*>(lfirst(cell));
    const bool chosen = scan != nullptr && scan->chooser != nullptr;
    List* filters = NIL;
    if (chosen) {
      ListCell* place = list_nth_cell(custom_plans, next);
      auto* plan = static_cast<Plan*>(lfirst(place));
      if (IsA(plan, Result)) plan = plan->lefttree;  // of pseudoconstant filters
      if (IsA(plan, BitmapHeapScan)) {
        filters = reinterpret_cast<BitmapHeapScan*>(plan)->bitmapqualorig;
        plan = plan->lefttree;
      } else {
        plan->targetlist = plan->qual = NIL;
      }
      lfirst(place) = plan;
    }
    plans.numbers = lappend(plans.numbers, makeInteger(chosen ? next++ : -1));
    plans.filters = lappend(plans.filters, filters);
  }
  return plans;
}

List* membership_data(const EngineJoin* join, int param, PlanSlots* slots) {
  if (join->membership == nullptr) return NIL;
  return list_make2(mapped(join->membership->clause->clause, slots), makeInteger(param));
}

// The lists that plan_data.hpp describes. `bytes`: the serialised program.
List* private_lists(PlannerInfo* root, const EnginePath* path, const ProgramWriter& writer, bytea* bytes,
                    PlanSlots* slots, int output_count, const ChoosingPlans& choosers) {
  const EngineInput* input = path->input;
  const PlanKind kind = path->aggregation != nullptr ? PlanKind::kAggregation
                        : input->joins != NIL        ? PlanKind::kJoin
                                                     : PlanKind::kScan;
  List* match_filters = NIL;
  List* join_filters = NIL;
  List* outer_keys = NIL;
  List* inner_keys = NIL;
  List* key_operators = NIL;
  List* memberships = NIL;
  ListCell* cell;
  foreach (cell, input->joins) {
    const auto* join = static_cast<EngineJoin*>(lfirst(cell));
    match_filters = lappend(match_filters, mapped_list(join->match_quals, slots));
    join_filters = list_concat(join_filters, mapped_list(join->other_quals, slots));
    outer_keys = lappend(outer_keys, mapped_list(join->outer_keys, slots));
    inner_keys = lappend(inner_keys, join->membership == nullptr ? mapped_list(join->inner_keys, slots) : NIL);
    key_operators = lappend(key_operators, list_copy(join->key_operators));
    memberships = lappend(memberships, membership_data(join, writer.membership_param(list_length(memberships)), slots));
  }
  List* parts[kPlanPartCount] = {};
  parts[kPlanHeader] = list_make3_int(static_cast<int>(kind), static_cast<int>(input->scan->rel->relid), output_count);
  parts[kPlanSources] = source_lists(writer, input, slots);
  parts[kPlanLeaves] = leaf_lists(root, writer, input);
  parts[kPlanPruning] = pruning_list(root, input);
  parts[kPlanOutputs] = output_lists(writer);
  parts[kPlanPayloads] = payload_lists(writer, slots);
  parts[kPlanFilters] = filter_lists(input, slots);
  parts[kPlanMatchFilters] = match_filters;
  parts[kPlanJoinFilters] = join_filters;
  parts[kPlanOuterKeys] = outer_keys;
  parts[kPlanInnerKeys] = inner_keys;
  parts[kPlanKeyOperators] = key_operators;
  parts[kPlanMemberships] = memberships;
  parts[kPlanGroupKeys] = mapped_vector(writer.group_keys(), slots);
  parts[kPlanArguments] = mapped_vector(writer.arguments(), slots);
  parts[kPlanSecondArguments] = mapped_vector(writer.second_arguments(), slots);
  parts[kPlanArgFilters] = mapped_vector(writer.argument_filters(), slots);
  if (path->aggregation != nullptr) parts[kPlanGroupingSets] = path->aggregation->sets;
  parts[kPlanChoosers] = choosers.numbers;
  foreach (cell, choosers.filters)
    parts[kPlanRangeFilters] = lappend(parts[kPlanRangeFilters], mapped_list(static_cast<List*>(lfirst(cell)), slots));
  parts[kPlanRefusals] = refusals_of(input);
  parts[kPlanEstimates] = estimates_of(path);
  if (path->knows_gpu)
    parts[kPlanDeviceCosts] =
        list_make3(cost_value(path->cpu_cost), cost_value(path->gpu_cost), cost_value(path->input->work.kept_bytes));
  List* result = list_make1(makeConst(BYTEAOID, -1, InvalidOid, -1, PointerGetDatum(bytes), false, false));
  for (int i = kPlanProgram + 1; i < kPlanPartCount; ++i) result = lappend(result, parts[i]);
  return result;
}

// C++.
std::vector<int> order_outputs(const List* outputs, const List* order) {
  std::vector<int> places;
  for (int i = 0; i < list_length(order); ++i)
    places.push_back(output_of(outputs, static_cast<const EngineSortKey*>(list_nth(order, i))->column));
  return places;
}

List* order_lists(const List* order, const std::vector<int>& outputs) {
  List* result = NIL;
  for (int i = 0; i < list_length(order); ++i) {
    const auto* key = static_cast<const EngineSortKey*>(list_nth(order, i));
    result = lappend(result, list_make4_int(outputs[static_cast<size_t>(i)], static_cast<int>(key->sort_operator),
                                            static_cast<int>(key->collation), key->nulls_first ? 1 : 0));
  }
  return result;
}

struct Written {
  List* private_data;
  List* params;
};

// C++: writes the program and turns it into nodes.
Written write_program(PlannerInfo* root, const EnginePath* path, const List* child_plans, const List* outputs,
                      PlanSlots* slots, const ChoosingPlans& choosers) {
  return boundary::entry([&]() -> Written {
    ProgramWriter writer(find_state(root), path->input, child_plans);
    writer.write(outputs, path->aggregation, path->top, path->order);
    const std::vector<int> sorted = order_outputs(outputs, path->order);
    const std::string serialized = engine::plan::serialize(writer.program());
    return boundary::guard([&] {
      auto* bytes = static_cast<bytea*>(palloc(serialized.size() + VARHDRSZ));
      SET_VARSIZE(bytes, serialized.size() + VARHDRSZ);
      memcpy(VARDATA(bytes), serialized.data(), serialized.size());
      Written written{private_lists(root, path, writer, bytes, slots, list_length(outputs), choosers), NIL};
      list_nth_cell(written.private_data, kPlanOrder)->ptr_value = order_lists(path->order, sorted);
      for (const Node* param : writer.params()) written.params = lappend(written.params, copyObjectImpl(param));
      return written;
    });
  });
}

Plan* plan_custom_path(PlannerInfo* root, RelOptInfo* rel, CustomPath* best_path, List* tlist, List* clauses,
                       List* custom_plans) {
  const auto* path = reinterpret_cast<EnginePath*>(best_path);
  const EngineInput* input = path->input;
  List* host_quals = NIL;
  List* outputs = NIL;
  PlanSlots* slots = make_slots();
  ListCell* cell;
  if (path->aggregation != nullptr) {
    add_exprs(slots, path->aggregation->target->exprs);
    outputs = list_copy(slots->exprs);
    add_vars(slots, outputs);
  } else {
    host_quals = bare_clauses(input->host_quals);
    add_vars(slots, best_path->path.pathtarget->exprs);
    add_vars(slots, tlist);
    add_vars(slots, host_quals);
    foreach (cell, path->order) add_vars(slots, static_cast<EngineSortKey*>(lfirst(cell))->column);
    outputs = list_copy(slots->exprs);
  }
  add_input_vars(slots, input);
  const ChoosingPlans choosers = take_choosers(input, custom_plans);
  add_vars(slots, choosers.filters);

  const Written written = write_program(root, path, custom_plans, outputs, slots, choosers);
  auto* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = tlist;
  plan->scan.plan.qual = host_quals;
  plan->scan.scanrelid = input->scan->rel->relid;
  plan->flags = best_path->flags;
  plan->custom_plans = custom_plans;
  plan->custom_exprs = written.params;
  plan->custom_private = written.private_data;
  plan->custom_scan_tlist = as_target_list(slots->exprs);
  plan->methods = node::scan_methods(static_cast<int>(plan_kind(plan)), path->on_gpu);
  return reinterpret_cast<Plan*>(plan);
}

constexpr CustomPathMethods kPathMethods = {"pg_strom", plan_custom_path, nullptr};

}  // namespace

const CustomPathMethods* engine_path_methods() { return &kPathMethods; }

}  // namespace strom::pg::planner
