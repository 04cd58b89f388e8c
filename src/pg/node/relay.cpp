#include "pg/node/relay.hpp"

#include "pg/boundary/custom_node.hpp"
#include "pg/node/partial_state.hpp"

namespace strom::pg::node {

using boundary::exec_methods;
using boundary::fill_in_tuple_memory;
using boundary::make_state;
using boundary::next_result;

namespace {

struct RelayOutput {
  int column;
  bool is_state;
  PartialType state;
};

struct RelayState {
  CustomScanState custom;  // first, so that PostgreSQL sees it
  RelayOutput* outputs;
  int count;
};

RelayState* state_of(CustomScanState* node) { return reinterpret_cast<RelayState*>(node); }
PlanState* child_of(CustomScanState* node) { return static_cast<PlanState*>(linitial(node->custom_ps)); }

RelayOutput output_of(const List* fields) {
  const int format = list_nth_int(fields, kRelayFormat);
  RelayOutput output = {list_nth_int(fields, kRelayColumn), format >= 0, {}};
  if (output.is_state)
    output.state = {static_cast<registry::AccKind>(list_nth_int(fields, kRelayAcc)),
                    static_cast<registry::PartialFormat>(format),
                    static_cast<registry::TypeId>(list_nth_int(fields, kRelayArgument)), 0, -1};
  return output;
}

void begin(CustomScanState* node, EState* estate, int eflags) {
  const auto* plan = reinterpret_cast<CustomScan*>(node->ss.ps.plan);
  eflags &= ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
  node->custom_ps = list_make1(ExecInitNode(static_cast<Plan*>(linitial(plan->custom_plans)), estate, eflags));
  RelayState* state = state_of(node);
  state->count = list_length(plan->custom_private);
  state->outputs = static_cast<RelayOutput*>(palloc0(sizeof(RelayOutput) * (state->count + 1)));
  for (int i = 0; i < state->count; ++i)
    state->outputs[i] = output_of(static_cast<const List*>(list_nth(plan->custom_private, i)));
}

void fill_row(const RelayState* state, TupleTableSlot* from, TupleTableSlot* to) {
  slot_getallattrs(from);
  ExecClearTuple(to);
  for (int i = 0; i < state->count; ++i) {
    const RelayOutput& output = state->outputs[i];
    const int column = output.column - 1;
    to->tts_isnull[i] = column < 0 || from->tts_isnull[column];
    to->tts_values[i] = to->tts_isnull[i] ? Datum{0} : from->tts_values[column];
    if (output.is_state)
      to->tts_values[i] =
          partial_state_of_row(output.state, to->tts_values[i], Datum{0}, to->tts_isnull[i], true, &to->tts_isnull[i]);
  }
  ExecStoreVirtualTuple(to);
}

TupleTableSlot* exec(CustomScanState* node) {
  return next_result(node, [node](TupleTableSlot* slot) {
    TupleTableSlot* row = ExecProcNode(child_of(node));
    if (TupIsNull(row)) return false;
    fill_in_tuple_memory(node, [=] { fill_row(state_of(node), row, slot); });
    return true;
  });
}

void rescan(CustomScanState* node) {
  PlanState* child = child_of(node);
  if (node->ss.ps.chgParam != nullptr) UpdateChangedParamSet(child, node->ss.ps.chgParam);
  ExecClearTuple(node->ss.ss_ScanTupleSlot);
  if (child->chgParam == nullptr) ExecReScan(child);  // else ExecProcNode() rescans it
}

void end(CustomScanState* node) { ExecEndNode(child_of(node)); }

void explain(CustomScanState*, List*, ExplainState*) {}

constexpr CustomExecMethods kExecMethods = exec_methods("CpuRelay", begin, exec, end, rescan, explain);

Node* create_state(CustomScan*) { return make_state<RelayState>(&kExecMethods); }

constexpr CustomScanMethods kScanMethods = {"CpuRelay", create_state};

}  // namespace

void register_relay() { RegisterCustomScanMethods(&kScanMethods); }

const CustomScanMethods* relay_methods() { return &kScanMethods; }

}  // namespace strom::pg::node
