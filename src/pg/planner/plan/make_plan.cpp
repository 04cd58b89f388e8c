// PlanCustomPath: turns one of our paths into a CustomScan with its program. May ereport; C++ only inside
// boundary::entry.
#include "pg/boundary/boundary.hpp"
#include "pg/node/node.hpp"
#include "pg/planner/plan/make_plan_spec.hpp"
#include "pg/planner/paths/paths.hpp"
#include "pg/planner/plan/plan_slots.hpp"
#include "pg/planner/plan/program_writer.hpp"

namespace strom::pg::planner {

namespace {

/// Adds the columns to which everything that the node evaluates or shows refers.
void add_input_vars(PlanSlots* slots, const EngineInput* input) {
  add_vars(slots, bare_clauses(input->scan->quals));
  ListCell* cell;
  foreach (cell, input->joins) {
    const auto* join = static_cast<EngineJoin*>(lfirst(cell));
    if (join->scan != nullptr) add_vars(slots, bare_clauses(join->scan->quals));
    add_vars(slots, join->outer_keys);
    if (join->membership == nullptr) add_vars(slots, join->inner_keys);
    if (join->spatial_clause != nullptr) add_vars(slots, list_make1(join->spatial_clause));
    add_vars(slots, join->match_quals);
    add_vars(slots, join->other_quals);
  }
}

List* as_target_list(List* exprs) {
  if (exprs == NIL)
    exprs = list_make1(makeNullConst(INT4OID, -1, InvalidOid));  // an empty list would mean the table's whole row
  List* tlist = NIL;
  ListCell* cell;
  foreach (cell, exprs)
    tlist = lappend(tlist, makeTargetEntry(static_cast<Expr*>(copyObjectImpl(lfirst(cell))),
                                           static_cast<AttrNumber>(list_length(tlist) + 1), nullptr, false));
  return tlist;
}

// PostgreSQL has planned whole scans. Keeps only the part that makes the bitmap of a bitmap heap scan, or a sample
// scan's sampling.
BlockSelectors take_block_selectors(const EngineInput* input, List* custom_plans) {
  List* scans = NIL;
  int next = 0;
  ListCell* cell;
  foreach (cell, input->joins) {
    const auto* join = static_cast<EngineJoin*>(lfirst(cell));
    scans = lappend(scans, join->scan);
    if (join->path != nullptr) ++next;
  }
  scans = lappend(scans, input->scan);
  BlockSelectors plans = {NIL, NIL};
  foreach (cell, scans) {
    const auto* scan = static_cast<EngineScan*>(lfirst(cell));
    const bool chosen = scan != nullptr && scan->chooser != nullptr;
    List* filters = NIL;
    if (chosen) {
      ListCell* place = list_nth_cell(custom_plans, next);
      auto* plan = static_cast<Plan*>(lfirst(place));
      if (IsA(plan, Result)) plan = plan->lefttree;  // made for pseudoconstant filters
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

struct Written {
  List* private_data;
  List* params;
};

// C++: writes the program and converts it to nodes.
Written write_program(PlannerInfo* root, const EnginePath* path, const List* child_plans, const List* outputs,
                      PlanSlots* slots, const BlockSelectors& selectors) {
  return boundary::entry([&]() -> Written {
    ProgramWriter writer(find_state(root), path->input, child_plans);
    writer.write(outputs, path->aggregation, path->top, path->order);
    List* private_data = make_plan_spec(root, path, writer, slots, selectors).write();
    return boundary::guard([&] {
      Written written{private_data, NIL};
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
  const BlockSelectors selectors = take_block_selectors(input, custom_plans);
  add_vars(slots, selectors.filters);

  const Written written = write_program(root, path, custom_plans, outputs, slots, selectors);
  auto* plan = makeNode(CustomScan);
  plan->scan.plan.targetlist = tlist;
  plan->scan.plan.qual = host_quals;
  plan->scan.scanrelid = input->scan->rel->relid;
  plan->flags = best_path->flags;
  plan->custom_plans = custom_plans;
  plan->custom_exprs = written.params;
  plan->custom_private = written.private_data;
  plan->custom_scan_tlist = as_target_list(slots->exprs);
  plan->methods = node::scan_methods(static_cast<int>(node::plan_kind(plan)), path->on_gpu);
  return reinterpret_cast<Plan*>(plan);
}

constexpr CustomPathMethods kPathMethods = {"pg_strom", plan_custom_path, nullptr};

}  // namespace

const CustomPathMethods* engine_path_methods() { return &kPathMethods; }

}  // namespace strom::pg::planner
