#include "pg/node/final_groups.hpp"

#include "pg/compat/explain.hpp"
#include "pg/boundary/custom_node.hpp"
#include "pg/node/engine_node.hpp"
#include "pg/node/query_run.hpp"

namespace strom::pg::node {

using boundary::exec_methods;
using boundary::fill_in_tuple_memory;
using boundary::make_state;
using boundary::next_result;

namespace {

enum class Way : uint8_t { kUnknown, kEngine, kPostgres };

struct FinalGroupsState {
  CustomScanState custom;  // first, so that PostgreSQL sees it
  bool* averages;          // for each column of the child
  Way way;
};

FinalGroupsState* state_of(CustomScanState* node) { return reinterpret_cast<FinalGroupsState*>(node); }
PlanState* child_of(CustomScanState* node) { return static_cast<PlanState*>(linitial(node->custom_ps)); }
PlanState* engine_node_of(CustomScanState* node) { return outerPlanState(child_of(node)); }

void begin(CustomScanState* node, EState* estate, int eflags) {
  const auto* plan = reinterpret_cast<CustomScan*>(node->ss.ps.plan);
  eflags &= ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
  node->custom_ps = list_make1(ExecInitNode(static_cast<Plan*>(linitial(plan->custom_plans)), estate, eflags));
  FinalGroupsState* state = state_of(node);
  state->averages = static_cast<bool*>(palloc0(sizeof(bool) * (list_length(plan->custom_private) + 1)));
  for (int i = 0; i < list_length(plan->custom_private); ++i)
    state->averages[i] = list_nth_int(plan->custom_private, i) != 0;
}

Way choose_way(CustomScanState* node) {
  PlanState* below = engine_node_of(node);
  QueryRun* run = engine_run(below);
  if (run == nullptr) return Way::kPostgres;
  if (below->instrument != nullptr) InstrStartNode(below->instrument);
  const bool merges = merges_groups(run);
  if (below->instrument != nullptr) InstrStopNode(below->instrument, 0);
  return merges ? Way::kEngine : Way::kPostgres;
}

// Fetches the next group from the engine. It counts as a row of the engine's node.
bool fill_from_engine(CustomScanState* node, TupleTableSlot* slot) {
  PlanState* below = engine_node_of(node);
  QueryRun* run = engine_run(below);
  if (below->instrument != nullptr) InstrStartNode(below->instrument);
  const bool found = advance(run);
  if (below->instrument != nullptr) InstrStopNode(below->instrument, found ? 1 : 0);
  if (!found) return false;
  fill_in_tuple_memory(node, [=] { run->fill_group(slot, state_of(node)->averages); });
  return true;
}

bool fill_from_postgres(CustomScanState* node, TupleTableSlot* slot) {
  TupleTableSlot* row = ExecProcNode(child_of(node));
  if (TupIsNull(row)) return false;
  slot_getallattrs(row);
  ExecClearTuple(slot);
  for (int i = 0; i < row->tts_tupleDescriptor->natts; ++i) {
    slot->tts_values[i] = row->tts_values[i];
    slot->tts_isnull[i] = row->tts_isnull[i];
  }
  ExecStoreVirtualTuple(slot);
  return true;
}

TupleTableSlot* exec(CustomScanState* node) {
  FinalGroupsState* state = state_of(node);
  if (state->way == Way::kUnknown) state->way = choose_way(node);
  return next_result(node, [=](TupleTableSlot* slot) {
    return state->way == Way::kEngine ? fill_from_engine(node, slot) : fill_from_postgres(node, slot);
  });
}

// Rescans child nodes, but only those that have run.
void rescan(CustomScanState* node) {
  PlanState* child = child_of(node);
  PlanState* below = engine_node_of(node);
  if (node->ss.ps.chgParam != nullptr) UpdateChangedParamSet(child, node->ss.ps.chgParam);
  ExecClearTuple(node->ss.ss_ScanTupleSlot);
  const Way way = state_of(node)->way;
  state_of(node)->way = Way::kUnknown;
  ExecReScan(child);
  if (way == Way::kEngine || below->chgParam != nullptr) ExecReScan(below);
}

void end(CustomScanState* node) { ExecEndNode(child_of(node)); }

void explain(CustomScanState* node, List*, ExplainState* es) {
  if (!es->analyze) return;
  const Way way = state_of(node)->way;
  if (way == Way::kUnknown) return;
  const auto* aggregation = reinterpret_cast<const Agg*>(child_of(node)->plan);
  const char* host = aggregation->aggsplit == AGGSPLIT_SIMPLE ? "HashAggregate" : "Finalize Aggregate";
  const auto* below = reinterpret_cast<const CustomScan*>(engine_node_of(node)->plan);
  const char* engine = IsA(below, CustomScan) ? below->methods->CustomName : "";
  ExplainPropertyText("Groups Merged By", way == Way::kEngine ? engine : host, es);
}

// Names on the CPU device, then on a GPU.
constexpr const char* kNames[] = {"CpuAgg", "GpuAgg"};
constexpr CustomExecMethods kExecMethods[] = {exec_methods(kNames[0], begin, exec, end, rescan, explain),
                                              exec_methods(kNames[1], begin, exec, end, rescan, explain)};

Node* create_cpu_state(CustomScan*) { return make_state<FinalGroupsState>(&kExecMethods[0]); }
Node* create_gpu_state(CustomScan*) { return make_state<FinalGroupsState>(&kExecMethods[1]); }

constexpr CustomScanMethods kScanMethods[] = {{kNames[0], create_cpu_state}, {kNames[1], create_gpu_state}};

}  // namespace

void register_final_groups() {
  for (const CustomScanMethods& methods : kScanMethods) RegisterCustomScanMethods(&methods);
}

const CustomScanMethods* final_groups_methods(bool on_gpu) { return &kScanMethods[on_gpu ? 1 : 0]; }

}  // namespace strom::pg::node
