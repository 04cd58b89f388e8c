// The executor's callbacks. This file has plain structs and calls of PostgreSQL; C++ code is in QueryRun, behind
// boundary::entry.
#include "pg/node/node.hpp"

#include "pg/boundary/boundary.hpp"
#include "pg/boundary/context_owned.hpp"
#include "pg/guc/guc.hpp"
#include "pg/boundary/custom_node.hpp"
#include "pg/node/engine_node.hpp"
#include "pg/node/explain.hpp"
#include "pg/node/final_groups.hpp"
#include "pg/node/query_run.hpp"
#include "pg/node/relay.hpp"
#include "pg/node/stored_result.hpp"
#include "pg/node/thread_slots.hpp"

namespace strom::pg::node {

using boundary::exec_methods;
using boundary::fill_in_tuple_memory;
using boundary::make_state;
using boundary::next_result;

using boundary::ContextOwned;
using boundary::entry;

namespace {

struct EngineScanState {
  CustomScanState custom;  // first, so that PostgreSQL sees it
  ContextOwned<QueryRun> run;
};

EngineScanState* state_of(CustomScanState* node) { return reinterpret_cast<EngineScanState*>(node); }

void begin(CustomScanState* node, EState* estate, int eflags) {
  const auto* plan = reinterpret_cast<CustomScan*>(node->ss.ps.plan);
  node->ss.ss_currentRelation = nullptr;  // else WHERE CURRENT OF would take the node's rows for the table's
  ListCell* cell;
  foreach (cell, plan->custom_plans)
    node->custom_ps = lappend(node->custom_ps, ExecInitNode(static_cast<Plan*>(lfirst(cell)), estate,
                                                            eflags & ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)));
  entry([&] {
    state_of(node)->run = ContextOwned<QueryRun>::make(estate->es_query_cxt, node, (eflags & EXEC_FLAG_REWIND) != 0);
  });
}

enum class Step { kYes, kNo, kSessionEnds };

// If there is no memory for this text either, a plain out-of-memory error is raised.
[[noreturn]] void throw_out_of_memory() {
  throw boundary::StatusError(
      Status(ErrorCode::kOutOfMemory, "out of memory")
          .with_detail("Join tables and aggregation tables of a query may each take " +
                       std::to_string(guc::pg_strom::work_memory) + " kB (pg_strom.work_memory), besides what " +
                       std::to_string(wanted_threads()) + " threads work with (pg_strom.cpu_threads).")
          .with_hint("Reduce pg_strom.work_memory or pg_strom.cpu_threads."));
}

// Asks the run. C++: stops all threads before an error leaves.
Step ask_run(QueryRun* run, bool (QueryRun::*ask)()) {
  return entry([=] {
    try {
      return (run->*ask)() ? Step::kYes : Step::kNo;
    } catch (const SessionEnds&) {
      run->abandon();
      return Step::kSessionEnds;
    } catch (const std::bad_alloc&) {
      run->abandon();
      throw_out_of_memory();
    } catch (const boundary::StatusError& error) {
      run->abandon();
      if (error.status().code() == ErrorCode::kOutOfMemory) throw_out_of_memory();
      throw;
    } catch (...) {
      run->abandon();
      throw;
    }
  });
}

// May ereport.
bool asked(QueryRun* run, bool (QueryRun::*ask)()) {
  const Step step = ask_run(run, ask);
  if (step == Step::kSessionEnds) {
    CHECK_FOR_INTERRUPTS();
    ereport(ERROR, (errcode(ERRCODE_ADMIN_SHUTDOWN), errmsg("terminating connection due to administrator command")));
  }
  return step == Step::kYes;
}

TupleTableSlot* exec(CustomScanState* node) {
  QueryRun* run = state_of(node)->run.get();
  return next_result(node, [=](TupleTableSlot* slot) {
    if (!advance(run)) return false;
    fill_in_tuple_memory(node, [=] { run->fill_row(slot); });
    return true;
  });
}

void rescan(CustomScanState* node) {
  ListCell* cell;
  foreach (cell, node->custom_ps)
    if (node->ss.ps.chgParam != nullptr)
      UpdateChangedParamSet(static_cast<PlanState*>(lfirst(cell)), node->ss.ps.chgParam);
  ExecClearTuple(node->ss.ss_ScanTupleSlot);
  entry([node] {
    std::vector<bool> keep;  // children with changed parameters are rescanned by ExecProcNode()
    keep.reserve(static_cast<size_t>(list_length(node->custom_ps)));
    for (int i = 0; i < list_length(node->custom_ps); ++i)
      keep.push_back(static_cast<PlanState*>(list_nth(node->custom_ps, i))->chgParam == nullptr);
    state_of(node)->run->restart(node->ss.ps.chgParam == nullptr, keep);
  });
}

// Also called between fetches of a cursor.
void shutdown(CustomScanState* node) {
  if (QueryRun* run = state_of(node)->run.get()) entry([run] { run->check_result(); });
}

void end(CustomScanState* node) {
  entry([node] {
    if (QueryRun* run = state_of(node)->run.get()) {
      run->tell_fallback();
      run->end_sort();
      run->abandon();
      if (run->was_started()) boundary::guard([=, work = run->work()] { add_query_work(node->ss.ps.state, work); });
    }
    state_of(node)->run.reset();
  });
  ListCell* cell;
  foreach (cell, node->custom_ps) ExecEndNode(static_cast<PlanState*>(lfirst(cell)));
}

void explain(CustomScanState* node, List* ancestors, ExplainState* es) {
  entry([&] { explain_run(node, *state_of(node)->run, ancestors, es); });
}

constexpr CustomExecMethods engine_methods(const char* name) {
  CustomExecMethods methods = exec_methods(name, begin, exec, end, rescan, explain);
  methods.ShutdownCustomScan = shutdown;
  return methods;
}

// Names by PlanKind: on the CPU device, then on a GPU.
constexpr const char* kNames[] = {"CpuScan", "CpuJoin", "CpuPreAgg", "GpuScan", "GpuJoin", "GpuPreAgg"};
constexpr int kKinds = 3;
constexpr CustomExecMethods kExecMethods[] = {engine_methods(kNames[0]), engine_methods(kNames[1]),
                                              engine_methods(kNames[2]), engine_methods(kNames[3]),
                                              engine_methods(kNames[4]), engine_methods(kNames[5])};

Node* create_state(CustomScan* plan) {
  const int kind = static_cast<int>(plan_kind(plan));
  return make_state<EngineScanState>(&kExecMethods[is_gpu_plan(plan) ? kKinds + kind : kind]);
}

constexpr CustomScanMethods kScanMethods[] = {{kNames[0], create_state}, {kNames[1], create_state},
                                              {kNames[2], create_state}, {kNames[3], create_state},
                                              {kNames[4], create_state}, {kNames[5], create_state}};

bool is_engine_node(const PlanState* state) {
  if (state == nullptr || !IsA(state, CustomScanState)) return false;
  const CustomExecMethods* methods = reinterpret_cast<const CustomScanState*>(state)->methods;
  return methods >= std::begin(kExecMethods) && methods < std::end(kExecMethods);
}

}  // namespace

QueryRun* engine_run(PlanState* state) {
  return is_engine_node(state) ? state_of(reinterpret_cast<CustomScanState*>(state))->run.get() : nullptr;
}

bool advance(QueryRun* run) { return asked(run, &QueryRun::next_row); }

bool advance_columns(QueryRun* run) { return asked(run, &QueryRun::next_columns); }

bool merges_groups(QueryRun* run) { return asked(run, &QueryRun::merges_groups); }

void register_methods() {
  for (const CustomScanMethods& methods : kScanMethods) RegisterCustomScanMethods(&methods);
  register_relay();
  register_final_groups();
  watch_stored_results();
}

const CustomScanMethods* scan_methods(int kind, bool on_gpu) { return &kScanMethods[on_gpu ? kKinds + kind : kind]; }

bool is_engine_plan(const CustomScan* plan) {
  return plan->methods >= std::begin(kScanMethods) && plan->methods < std::end(kScanMethods);
}

bool is_gpu_plan(const CustomScan* plan) { return is_engine_plan(plan) && plan->methods >= &kScanMethods[kKinds]; }

}  // namespace strom::pg::node
