#include "pg/planner/state/engine_rel.hpp"

#include <algorithm>

#include "pg/planner/state/expression_size.hpp"

namespace strom::pg::planner {

namespace {

// States of the planner calls in progress: sub-queries, and queries of functions that run during planning.
struct StateNode {
  PlannerState state;
  StateNode* next;
  MemoryContextCallback callback;
};
StateNode* states = nullptr;

void forget(void* argument) {
  for (StateNode** link = &states; *link != nullptr; link = &(*link)->next) {
    if (*link != argument) continue;
    *link = (*link)->next;
    return;
  }
}

// An entry of PlannerState::inputs.
struct KnownInput {
  Relids relids;  // the key
  EngineInput* input;
};

HTAB* make_inputs(MemoryContext memory) {
  HASHCTL control;
  MemSet(&control, 0, sizeof(control));
  control.keysize = sizeof(Relids);
  control.entrysize = sizeof(KnownInput);
  control.hash = bitmap_hash;
  control.match = bitmap_match;
  control.hcxt = memory;
  return hash_create("engine inputs", 64, &control, HASH_ELEM | HASH_FUNCTION | HASH_COMPARE | HASH_CONTEXT);
}

}  // namespace

Cost work_of(const EngineInput* input) {
  return input->startup + input->run + input->host_cost.startup + input->host_cost.per_tuple * input->rows;
}

bool is_cheaper(const EngineInput* a, const EngineInput* b) { return work_of(a) < work_of(b); }

PlannerState* find_state(PlannerInfo* root) {
  for (StateNode* node = states; node != nullptr; node = node->next)
    if (node->state.root == root) return &node->state;
  return nullptr;
}

PlannerState* make_state(PlannerInfo* root) {
  if (PlannerState* state = find_state(root)) return state;
  auto* node = static_cast<StateNode*>(MemoryContextAllocZero(root->planner_cxt, sizeof(StateNode)));
  node->state.root = root;
  node->state.scan_count = root->simple_rel_array_size;
  node->state.scans = static_cast<EngineScan**>(
      MemoryContextAllocZero(root->planner_cxt, sizeof(EngineScan*) * (root->simple_rel_array_size + 1)));
  node->callback.func = forget;
  node->callback.arg = node;
  node->next = states;
  states = node;
  MemoryContextRegisterResetCallback(root->planner_cxt, &node->callback);
  return &node->state;
}

EngineScan* scan_of(PlannerState* state, Index relid) {
  return static_cast<int>(relid) < state->scan_count ? state->scans[relid] : nullptr;
}

int most_weight(PlannerState* state) {
  if (state->most_weight > 0) return state->most_weight;
  double rows = 0;
  for (int i = 1; i < state->root->simple_rel_array_size; ++i)
    if (const RelOptInfo* rel = state->root->simple_rel_array[i])
      rows = std::max({rows, static_cast<double>(rel->tuples), rel->rows});
  return state->most_weight = most_weight(rows);
}

bool has_room_for(PlannerState* state, const EngineInput* input, const List* exprs, int operations) {
  if (input->operations + operations > kMostOperations || list_length(exprs) > kMostColumns) return false;
  const int most = most_weight(state);
  return input->weight <= most && input->weight + weight_of(exprs, most - input->weight) <= most;
}

void remember(PlannerState* state, EngineInput* input) {
  if (state->root->join_search_private != nullptr) return;  // the genetic optimizer frees the input's parts
  if (state->inputs == nullptr) state->inputs = make_inputs(state->root->planner_cxt);
  bool found;
  auto* known = static_cast<KnownInput*>(hash_search(state->inputs, &input->relids, HASH_ENTER, &found));
  if (!found || is_cheaper(input, known->input)) known->input = input;
}

EngineInput* remembered(PlannerState* state, Relids relids) {
  if (state->inputs == nullptr) return nullptr;
  auto* known = static_cast<KnownInput*>(hash_search(state->inputs, &relids, HASH_FIND, nullptr));
  return known != nullptr ? known->input : nullptr;
}

bool is_membership(const EngineScan* scan, const void* qual) {
  ListCell* cell;
  foreach (cell, scan->memberships)
    if (static_cast<EngineMembership*>(lfirst(cell))->clause == qual) return true;
  return false;
}

Refusal* make_refusal(Node* expr, const char* reason) {
  auto* refusal = static_cast<Refusal*>(palloc(sizeof(Refusal)));
  refusal->expr = expr;
  refusal->reason = reason;
  return refusal;
}

}  // namespace strom::pg::planner
