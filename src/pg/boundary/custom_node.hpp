// Code shared by the executor methods of our custom nodes. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::boundary {

/// The next row for the node's parent. `fill(slot)` puts the next row into the scan slot, or returns false at the end.
/// Rows that pass the node's filters are projected. `fill` is called outside of the per-tuple memory context, as child
/// nodes must be.
template <class Fill>
TupleTableSlot* next_result(CustomScanState* node, Fill fill) {
  ExprContext* context = node->ss.ps.ps_ExprContext;
  TupleTableSlot* slot = node->ss.ss_ScanTupleSlot;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    ResetExprContext(context);
    if (!fill(slot)) return ExecClearTuple(slot);
    context->ecxt_scantuple = slot;
    if (node->ss.ps.qual != nullptr && !ExecQual(node->ss.ps.qual, context)) {
      InstrCountFiltered1(node, 1);
      continue;
    }
    return node->ss.ps.ps_ProjInfo != nullptr ? ExecProject(node->ss.ps.ps_ProjInfo) : slot;
  }
}

/// Runs `fill` within the node's per-tuple memory context.
template <class Fill>
void fill_in_tuple_memory(CustomScanState* node, Fill fill) {
  MemoryContext caller = MemoryContextSwitchTo(node->ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
  fill();
  MemoryContextSwitchTo(caller);
}

/// Makes a state of type State, which begins with a CustomScanState.
template <class State>
Node* make_state(const CustomExecMethods* methods) {
  auto* state = static_cast<State*>(palloc0(sizeof(State)));
  NodeSetTag(state, T_CustomScanState);
  reinterpret_cast<CustomScanState*>(state)->methods = methods;
  return reinterpret_cast<Node*>(state);
}

/// The methods that each of our nodes has.
constexpr CustomExecMethods exec_methods(const char* name, decltype(CustomExecMethods::BeginCustomScan) begin,
                                         decltype(CustomExecMethods::ExecCustomScan) exec,
                                         decltype(CustomExecMethods::EndCustomScan) end,
                                         decltype(CustomExecMethods::ReScanCustomScan) rescan,
                                         decltype(CustomExecMethods::ExplainCustomScan) explain) {
  CustomExecMethods methods = {};
  methods.CustomName = name;
  methods.BeginCustomScan = begin;
  methods.ExecCustomScan = exec;
  methods.EndCustomScan = end;
  methods.ReScanCustomScan = rescan;
  methods.ExplainCustomScan = explain;
  return methods;
}

}  // namespace strom::pg::boundary
