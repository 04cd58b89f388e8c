#include "pg/node/query_run.hpp"

#include <malloc.h>

#include <algorithm>
#include <filesystem>

#include "pg/boundary/boundary.hpp"
#include "pg/codec/encode.hpp"
#include "pg/compat/heap.hpp"
#include "pg/compat/tree_walk.hpp"
#include "pg/guc.hpp"
#include "pg/node/node.hpp"
#include "pg/node/stored_result.hpp"
#include "pg/source/append_rows.hpp"
#include "pg/source/inflate.hpp"

namespace strom::pg::node {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;
using engine::exec::DeclinedRow;
using engine::exec::Execution;
using engine::exec::Stats;
using engine::plan::Constant;
using engine::plan::NodeId;

namespace {

constexpr std::chrono::milliseconds kFileCheckInterval{100};
constexpr int64_t kTrimmedMemory = 32 << 20;

// setrefs.c makes references of what is an output of the node as well; outputs are no input of a parameter. May
// ereport.
Node* without_references(Node* node, void* tlist) {
  if (node != nullptr && IsA(node, Var) && reinterpret_cast<Var*>(node)->varno == INDEX_VAR) {
    const int position = reinterpret_cast<Var*>(node)->varattno;
    return reinterpret_cast<Node*>(list_nth_node(TargetEntry, static_cast<List*>(tlist), position - 1)->expr);
  }
  return node == nullptr ? nullptr : compat::mutate(node, without_references, tlist);
}

void add_stats(Stats* sum, const Stats& more) {
  if (sum->stages.size() < more.stages.size()) sum->stages.resize(more.stages.size());
  if (sum->milliseconds.size() < more.milliseconds.size()) sum->milliseconds.resize(more.milliseconds.size());
  for (size_t i = 0; i < more.milliseconds.size(); ++i) sum->milliseconds[i] += more.milliseconds[i];
  for (size_t i = 0; i < more.stages.size(); ++i) {
    if (sum->stages[i].size() < more.stages[i].size()) sum->stages[i].resize(more.stages[i].size());
    for (size_t j = 0; j < more.stages[i].size(); ++j) {
      sum->stages[i][j].name = more.stages[i][j].name;
      sum->stages[i][j].rows_in += more.stages[i][j].rows_in;
      sum->stages[i][j].rows_out += more.stages[i][j].rows_out;
    }
  }
  sum->chunks += more.chunks;
  sum->chunks_loaded += more.chunks_loaded;
  sum->chunks_skipped += more.chunks_skipped;
  sum->rows += more.rows;
  sum->bytes += more.bytes;
  sum->declined += more.declined;
  sum->device_rows += more.device_rows;
  if (more.machine_rows.size() > sum->machine_rows.size()) sum->machine_rows.resize(more.machine_rows.size());
  for (size_t i = 0; i < more.machine_rows.size(); ++i) sum->machine_rows[i] += more.machine_rows[i];
  sum->device_bytes += more.device_bytes;
  sum->device_joins += more.device_joins;
  sum->device_file_bytes += more.device_file_bytes;
  sum->partial_flushes += more.partial_flushes;
  sum->peak_memory = std::max(sum->peak_memory, more.peak_memory);
  sum->threads = std::max(sum->threads, more.threads);
  sum->passes = std::max(sum->passes, more.passes);
}

void check_interrupts_in_engine() {
  if (!INTERRUPTS_PENDING_CONDITION()) return;
  const bool ends = ProcDiePending || ClientConnectionLost;
  if (ends && InterruptHoldoffCount == 0 && CritSectionCount == 0) throw SessionEnds();
  boundary::check_for_interrupts();
}

}  // namespace

QueryRun::QueryRun(CustomScanState* state, bool keep_results)
    : state_(state),
      plan_(reinterpret_cast<const CustomScan*>(state->ss.ps.plan)),
      keep_results_(keep_results),
      stores_result_(result_is_stored()) {
  tables_.resize(plan_.pipelines.size());
  subplan_facts_.resize(plan_.pipelines.size());
  // EXPLAIN shows the sub-queries of such.
  for (size_t i = 0; i < plan_.joins.size(); ++i)
    if (Node* filter = plan_.joins[i].membership)
      guard([=] { ExecInitExpr(reinterpret_cast<Expr*>(filter), &state->ss.ps); });
  heaps_.resize(plan_.pipelines.size());
  for (const PipelineSpec& source : plan_.pipelines)
    partitions_.push_back(source.leaves.empty() ? nullptr : std::make_unique<Partitions>(state, plan_, source));
  batch_filters_.resize(plan_.pipelines.size());
  batch_counts_.resize(plan_.pipelines.size());
  for (size_t i = 0; i < plan_.pipelines.size(); ++i) add_batch_filter(i);
  collected_.resize(static_cast<size_t>(list_length(state->custom_ps)));
  chosen_.resize(collected_.size());
}

bool QueryRun::is_file(Index relid) const {
  return exec_rt_fetch(relid, state_->ss.ps.state)->relkind == RELKIND_FOREIGN_TABLE;
}

void QueryRun::add_batch_filter(size_t pipeline) {
  const PipelineSpec& source = plan_.pipelines[pipeline];
  bool reads_files = source.leaves.empty() && source.relid != 0 && is_file(source.relid);
  for (const LeafSpec& leaf : source.leaves) reads_files = reads_files || is_file(leaf.relid);
  if (!reads_files || !guc::arrow_fdw::stats_hint_enabled) return;
  const auto column_of = [&source](const Var* var) {
    const auto found = std::find(source.slots.begin(), source.slots.end(), var->varattno);
    return var->varno != INDEX_VAR || found == source.slots.end() ? -1 : static_cast<int>(found - source.slots.begin());
  };
  PlanState* parent = &state_->ss.ps;
  const auto compile = [parent](Node* expr) {
    return guard([=] { return ExecInitExpr(reinterpret_cast<Expr*>(expr), parent); });
  };
  batch_filters_[pipeline] =
      std::make_unique<fdw_arrow::BatchFilter>(plan_.pipelines[pipeline].filters, column_of, compile);
}

void QueryRun::restrict_batches(size_t pipeline, source::RowSource* rows) {
  fdw_arrow::BatchFilter* filter = batch_filters_[pipeline].get();
  if (filter != nullptr) filter->evaluate(state_->ss.ps.ps_ExprContext);
  if (partitions_[pipeline] != nullptr)
    static_cast<source::AppendRows*>(rows)->choose(partitions_[pipeline]->choose(), filter);
  else if (filter != nullptr)
    rows->restrict_to(*filter);
  if (filter == nullptr) return;
  batch_counts_[pipeline].skipped += rows->skipped_chunks();
  if (rows->feeder() == nullptr) batch_counts_[pipeline].chosen += rows->chunk_count();
}

QueryRun::Pruning QueryRun::pruning(size_t pipeline) {
  Pruning result;
  if (batch_filters_[pipeline] == nullptr) return result;
  if (plan_.pipelines[pipeline].leaves.empty()) open_source(pipeline);
  if (tables_[pipeline] == nullptr) return result;
  const bool is_last = pipeline + 1 == plan_.pipelines.size();
  const auto keys =
      is_last ? engine::plan::deciding_key_columns(plan_.program) : std::vector<engine::plan::KeyColumn>();
  for (const fdw_arrow::Source* table : tables_[pipeline]->arrow_tables()) {
    for (const Node* clause : batch_filters_[pipeline]->useful_clauses(*table))
      if (std::find(result.clauses.begin(), result.clauses.end(), clause) == result.clauses.end())
        result.clauses.push_back(clause);
    for (const engine::plan::KeyColumn& key : keys) {
      const auto same = [&key](const auto& other) { return other.join == key.join && other.key == key.key; };
      if (tables_[pipeline]->feeder() == nullptr && value_or_throw(table->has_bounds(static_cast<int>(key.column))) &&
          std::none_of(result.keys.begin(), result.keys.end(), same))
        result.keys.push_back(key);
    }
  }
  result.loaded = batch_counts_[pipeline].chosen;
  result.skipped = batch_counts_[pipeline].skipped;
  if (is_last) {
    const Stats run = stats();
    result.loaded = run.chunks_loaded;
    result.skipped += run.chunks_skipped;
  }
  return result;
}

const source::ArrowRows* QueryRun::arrow_rows(size_t pipeline) const {
  const PipelineSpec& source = plan_.pipelines[pipeline];
  if (source.relid == 0 || !source.leaves.empty() || !is_file(source.relid)) return nullptr;
  return static_cast<source::ArrowRows*>(tables_[pipeline].get());
}

const fdw_arrow::Source* QueryRun::table_source(size_t pipeline) {
  const PipelineSpec& source = plan_.pipelines[pipeline];
  if (source.relid == 0 || !source.leaves.empty() || !is_file(source.relid)) return nullptr;
  return &static_cast<source::ArrowRows*>(open_source(pipeline))->source();
}

std::unique_ptr<source::RowSource> QueryRun::open_table(size_t pipeline, Index relid,
                                                        const std::vector<int>& positions) {
  const std::vector<AttrNumber> attributes(positions.begin(), positions.end());
  EState* estate = state_->ss.ps.state;
  if (is_file(relid)) {
    reads_files_ = true;
    return std::make_unique<source::ArrowRows>(
        fdw_arrow::Source::open(exec_rt_fetch(relid, estate)->relid, attributes));
  }
  const Relation relation = guard([&] { return compat::relation_of(estate, relid); });
  return std::make_unique<source::HeapRows>(relation, estate->es_snapshot, attributes,
                                            plan_.program.sources[pipeline].columns);
}

source::RowSource* QueryRun::open_source(size_t pipeline) {
  const PipelineSpec& source = plan_.pipelines[pipeline];
  if (tables_[pipeline] != nullptr) return tables_[pipeline].get();
  if (source.leaves.empty()) {
    tables_[pipeline] = open_table(pipeline, source.relid, source.positions);
    if (!is_file(source.relid)) heaps_[pipeline] = static_cast<source::HeapRows*>(tables_[pipeline].get());
  } else {
    tables_[pipeline] = std::make_unique<source::AppendRows>(source.leaves.size(), [this, pipeline](size_t index) {
      const LeafSpec& leaf = plan_.pipelines[pipeline].leaves[index];
      return open_table(pipeline, leaf.relid, leaf.positions);
    });
  }
  return tables_[pipeline].get();
}

void QueryRun::choose_blocks(size_t pipeline) {
  const int child = plan_.pipelines[pipeline].block_selector;
  if (child < 0 || chosen_[static_cast<size_t>(child)]) return;
  auto* chooser = static_cast<PlanState*>(list_nth(state_->custom_ps, child));
  if (IsA(chooser, SampleScanState))
    heaps_[pipeline]->take_sample(source::TableSample(reinterpret_cast<SampleScanState*>(chooser)));
  else
    heaps_[pipeline]->restrict_to(source::block_ranges(chooser));
  chosen_[static_cast<size_t>(child)] = true;
}

source::RowSource* QueryRun::row_source(size_t pipeline) const {
  if (tables_[pipeline] != nullptr) return tables_[pipeline].get();
  return collected_[static_cast<size_t>(plan_.pipelines[pipeline].child)].get();
}

void QueryRun::collect_child(size_t pipeline) {
  auto& rows = collected_[static_cast<size_t>(plan_.pipelines[pipeline].child)];
  if (rows != nullptr) return;
  RowFacts facts;
  rows =
      collect(pipeline, static_cast<PlanState*>(list_nth(state_->custom_ps, plan_.pipelines[pipeline].child)), &facts);
}

PlanState* QueryRun::subplan_state(size_t pipeline) const {
  return static_cast<PlanState*>(
      list_nth(state_->ss.ps.state->es_subplanstates, plan_.pipelines[pipeline].subplan - 1));
}

// The re-check's SubPlan shares the state, and has to see as well that its parameters have changed.
void QueryRun::collect_subplan(size_t pipeline) {
  if (tables_[pipeline] != nullptr) return;
  PlanState* child = subplan_state(pipeline);
  Bitmapset* changed = guard([child] {
    MemoryContext caller = MemoryContextSwitchTo(child->state->es_query_cxt);
    Bitmapset* copy = bms_copy(child->chgParam);
    MemoryContextSwitchTo(caller);
    ExecReScan(child);
    return copy;
  });
  subplan_facts_[pipeline] = {};
  tables_[pipeline] = collect(pipeline, child, &subplan_facts_[pipeline]);
  child->chgParam = changed;
}

std::unique_ptr<source::CollectedRows> QueryRun::collect(size_t pipeline, PlanState* child, RowFacts* facts) {
  const PipelineSpec& source = plan_.pipelines[pipeline];
  const std::vector<engine::plan::ValueType>& types = plan_.program.sources[pipeline].columns;
  auto collected = std::make_unique<source::CollectedRows>(types, source.subplan != 0);
  std::vector<Datum> values(types.size());
  std::unique_ptr<bool[]> nulls(new bool[types.size()]());
  const int64_t limit = static_cast<int64_t>(guc::pg_strom::work_memory) * 1024;
  for (;; ++facts->rows) {
    boundary::check_for_interrupts();
    TupleTableSlot* slot = guard([child] {
      TupleTableSlot* next = ExecProcNode(child);
      if (!TupIsNull(next)) slot_getallattrs(next);
      return next;
    });
    if (TupIsNull(slot)) break;
    for (size_t i = 0; i < types.size(); ++i) {
      values[i] = slot->tts_values[source.positions[i] - 1];
      nulls[i] = slot->tts_isnull[source.positions[i] - 1];
    }
    facts->has_null = facts->has_null || (!types.empty() && nulls[0]);
    collected->add(values.data(), nulls.get());
    if (facts->rows % 4096 == 4095 && collected->memory_bytes() > limit) collected->spill();
  }
  collected->finish();
  return collected;
}

// nullptr for parameters that are expressions.
const QueryRun::RowFacts* QueryRun::facts_of_param(size_t param, MembershipParam* fact) const {
  for (size_t i = 0; i < plan_.joins.size(); ++i) {
    const int first = plan_.joins[i].membership_param;
    const int number = static_cast<int>(param) - first;
    if (first < 0 || number < 0 || number >= kMembershipParamCount) continue;
    *fact = static_cast<MembershipParam>(number);
    return &subplan_facts_[plan_.program.joins[i].build_pipeline];
  }
  return nullptr;
}

ExprState* QueryRun::compile(Node* expression) {
  List* tlist = plan_.custom_scan->custom_scan_tlist;
  PlanState* parent = &state_->ss.ps;
  return guard([=] {
    MemoryContext caller = MemoryContextSwitchTo(parent->state->es_query_cxt);
    ExprState* compiled = ExecInitExpr(reinterpret_cast<Expr*>(without_references(expression, tlist)), parent);
    MemoryContextSwitchTo(caller);
    return compiled;
  });
}

// The value of an expression without columns. None: finding it raised an error, which is one only for rows that ask for
// it, so that PostgreSQL finds it again for them.
std::optional<boundary::EarlyValue> QueryRun::evaluate(ExprState* compiled, bool may_raise) {
  ExprContext* context = state_->ss.ps.ps_ExprContext;
  if (may_raise && !IsInParallelMode()) return boundary::evaluate_early(compiled, context);
  return guard([=] {
    boundary::EarlyValue result;
    result.datum = ExecEvalExprSwitchContext(compiled, context, &result.is_null);
    return result;
  });
}

std::vector<Constant> QueryRun::parameters() {
  std::vector<Constant> values;
  for (const Constant& constant : plan_.program.constants) {
    if (constant.param < 0) continue;
    const auto index = static_cast<size_t>(constant.param);
    if (values.size() <= index) values.resize(index + 1);
    if (parameter_expressions_.size() <= index) parameter_expressions_.resize(index + 1);
    MembershipParam fact;
    if (const RowFacts* facts = facts_of_param(index, &fact)) {
      const bool value = fact == kHasNoNull ? !facts->has_null : facts->rows == 0;
      values[index] = {constant.type, false, -1, std::string(1, value ? '\1' : '\0')};
      continue;
    }
    ExprState*& compiled = parameter_expressions_[index];
    if (compiled == nullptr)
      compiled = compile(static_cast<Node*>(list_nth(plan_.custom_scan->custom_exprs, constant.param)));
    const std::optional<boundary::EarlyValue> found = evaluate(compiled, constant.may_raise);
    values[index] = {constant.type, false, -1, {}, !found};
    if (!found) continue;
    const boundary::EarlyValue value = *found;
    values[index].is_null = value.is_null;
    if (!value.is_null)
      values[index].unheld = codec::register_bytes(constant.type.type, constant.type.scale, value.datum,
                                                   &values[index].bytes) != codec::Encoded::kDone;
  }
  return values;
}

/// A file or folder on the storage that the rows of a table come from.
std::string QueryRun::storage_of(const source::RowSource& rows, Index relid) {
  for (const fdw_arrow::Source* table : rows.arrow_tables())
    if (!table->files().empty()) return table->files().front()->path();
  EState* estate = state_->ss.ps.state;
  const Oid space = guard([&] { return get_rel_tablespace(exec_rt_fetch(relid, estate)->relid); });
  if (!OidIsValid(space)) return DataDir;
  std::error_code error;
  const auto folder = std::filesystem::canonical(std::string(DataDir) + "/pg_tblspc/" + std::to_string(space), error);
  return error ? DataDir : folder.string();
}

/// The same of all parts of a source; "" where none is read.
std::vector<std::string> QueryRun::storages_of(size_t pipeline) {
  const PipelineSpec& source = plan_.pipelines[pipeline];
  if (source.leaves.empty()) return {source.relid == 0 ? "" : storage_of(*tables_[pipeline], source.relid)};
  const auto& leaves = static_cast<const source::AppendRows&>(*tables_[pipeline]);
  std::vector<std::string> storages;
  for (size_t i = 0; i < source.leaves.size(); ++i)
    storages.push_back(leaves.leaf(i) == nullptr ? "" : storage_of(*leaves.leaf(i), source.leaves[i].relid));
  return storages;
}

/// The planner's choice, unless pg_strom.device has been set since. Inner sides that are much smaller than the
/// outermost table are for the CPU.
void QueryRun::choose_machines(engine::exec::Options* options) {
  const bool is_told = guc::pg_strom::device() == guc::DeviceChoice::kGpu;
  if (!is_told && !is_gpu_plan(plan_.custom_scan)) {
    machines_.clear();
    return;
  }
  const size_t last = plan_.pipelines.size() - 1;
  const int64_t rows = row_source(last)->total_rows();
  const int64_t morsels = (rows + options->device_morsel_rows - 1) / options->device_morsel_rows;
  // Counts of rows are by place: another execution of the node keeps the machines.
  const auto is_alive = [](const auto& machine) { return machine->is_alive(); };
  if (machines_.empty() || !std::all_of(machines_.begin(), machines_.end(), is_alive)) {
    const auto most = static_cast<size_t>(std::clamp<int64_t>(morsels, 1, std::max(1, options->threads)));
    GpuChoice choice = gpu_machines(storages_of(last), most);
    machines_ = std::move(choice.machines);
    near_machines_ = std::move(choice.near);
  }
  for (const auto& machine : machines_) {
    options->more_machines.push_back(machine.get());
    options->machine_numbers.push_back(machine->number());
  }
  options->near_machines = near_machines_;
  if (machines_.empty()) return;
  options->machine = options->more_machines.front();
  options->more_machines.erase(options->more_machines.begin());
  options->device_rows = is_told ? 0 : rows / 2;
}

// Below pg_strom.gpudirect_threshold the session reads the outermost table.
bool QueryRun::is_large_for_device() {
  const int64_t threshold = int64_t{guc::pg_strom::gpudirect_threshold} * 1024;
  const size_t last = plan_.pipelines.size() - 1;
  if (threshold == 0 || plan_.pipelines[last].relid == 0 || partitions_[last] != nullptr) return true;
  if (const fdw_arrow::Source* files = table_source(last)) return files->file_bytes() >= threshold;
  return guard([&] {
    const Relation table = compat::relation_of(state_->ss.ps.state, plan_.pipelines[last].relid);
    return int64_t{RelationGetNumberOfBlocks(table)} * BLCKSZ >= threshold;
  });
}

void QueryRun::start() {
  std::vector<const engine::exec::ChunkSource*> sources;
  progress_.start();
  for (size_t i = 0; i < plan_.pipelines.size(); ++i) {
    if (plan_.pipelines[i].subplan != 0) {
      tell_collecting(i);
      collect_subplan(i);
    } else if (plan_.pipelines[i].relid == 0) {
      tell_collecting(i);
      collect_child(i);
    } else {
      source::RowSource* rows = open_source(i);
      restrict_batches(i, rows);
      choose_blocks(i);
      rows->require_types(plan_.program.sources[i].columns);
      rows->begin_run();
    }
    sources.push_back(row_source(i));
  }
  std::vector<Constant> params = parameters();
  slots_.emplace(wanted_threads() - 1);
  engine::exec::Options options;
  options.threads = 1 + slots_->count();
  options.lanes = wanted_threads();
  options.memory_budget = static_cast<int64_t>(guc::pg_strom::work_memory) * 1024;
  options.join_memory_budget = options.memory_budget;
  if (!stores_result_) options.inflater = source::inflater();
  options.single_byte_encoding = pg_database_encoding_max_length() == 1;
  choose_machines(&options);
  options.device_reads_files = guc::pg_strom::gpudirect_enabled && is_large_for_device();
  options.device_keeps_joins = !was_restarted_;  // other values for each row of an outer query are not worth it
  execution_ = value_or_throw(Execution::create(plan_.program, sources, std::move(params), options));
  execution_->on_declined_build(
      [this](uint32_t pipeline, const std::vector<DeclinedRow>& rows) { decide_build_rows(pipeline, rows); });
  execution_->on_pass_end([this](const std::vector<DeclinedRow>& rows) {
    source::RowSource* probing = row_source(plan_.pipelines.size() - 1);
    probing->begin_recheck();
    decide_rows(rows);
    probing->end_recheck();
  });
  started_ = true;
  keeping_ = keep_results_;
  files_checked_ = std::chrono::steady_clock::now();
}

Recheck& QueryRun::recheck() {
  if (recheck_ == nullptr) recheck_ = std::make_unique<Recheck>(state_, plan_);
  if (recheck_bound_) return *recheck_;
  std::vector<source::RowSource*> sources;
  for (size_t i = 0; i < plan_.pipelines.size(); ++i) sources.push_back(row_source(i));
  recheck_->bind(std::move(sources));
  recheck_bound_ = true;
  return *recheck_;
}

void QueryRun::note_declined(size_t count) {
  using Choice = guc::FallbackChoice;
  if (count == 0) return;
  rechecked_ += static_cast<int64_t>(count);
  const Choice choice = guc::pg_strom::cpu_fallback();
  if (choice == Choice::kOff)
    throw boundary::StatusError(
        Status(ErrorCode::kUnsupported, "engine cannot evaluate some rows")
            .with_detail("There are at least " + std::to_string(count) +
                         ", by an overflow, a division by zero or a value out of the engine's range.")
            .with_hint("Set pg_strom.cpu_fallback to on to let PostgreSQL evaluate them."));
  if (choice != Choice::kNotice || noticed_) return;
  noticed_ = true;
  guard([] { ereport(NOTICE, (errmsg("PostgreSQL evaluates rows that the engine cannot evaluate"))); });
}

void QueryRun::decide_build_rows(uint32_t pipeline, const std::vector<DeclinedRow>& rows) {
  note_declined(rows.size());
  if (rows.empty() && !recheck_bound_) return;
  row_source(pipeline)->begin_recheck();
  for (uint32_t join = 0; join < plan_.program.joins.size(); ++join) {
    if (plan_.program.joins[join].build_pipeline != pipeline) continue;
    recheck().begin_build(join);
    for (const DeclinedRow& row : rows) recheck().decide_build(row, join, *execution_);
  }
  row_source(pipeline)->end_recheck();
}

void QueryRun::take_declined() {
  source::RowSource* probing = row_source(plan_.pipelines.size() - 1);
  probing->begin_recheck();
  decide_rows(execution_->take_declined());
  probing->end_recheck();
}

void QueryRun::decide_rows(const std::vector<DeclinedRow>& rows) {
  note_declined(rows.size());
  for (const DeclinedRow& row : rows) recheck().decide(row, *execution_);
}

void QueryRun::check_files(bool now) {
  const auto time = std::chrono::steady_clock::now();
  if (!now && time - files_checked_ < kFileCheckInterval) return;
  files_checked_ = time;
  for (const auto& table : tables_)
    if (table != nullptr) throw_if_failed(table->unchanged());
}

bool QueryRun::next_batch() {
  row_ = -1;
  if (replayed_ < kept_.size()) {
    batch_ = kept_[replayed_++];
    check_files(false);
    return true;
  }
  if (ended_) return false;
  if (!started_) start();
  batch_ = value_or_throw(execution_->next([this] {
    check_interrupts_in_engine();
    tell_progress();
  }));
  all_groups_ = execution_->has_all_groups();
  take_declined();
  check_files(batch_ == nullptr);
  if (batch_ != nullptr) {
    keep_batch();
    return true;
  }
  ended_ = true;
  if (keeping_)
    release_threads();  // the execution stays: it owns values of the batches
  else
    abandon();
  return false;
}

// Rows that PostgreSQL decides come in between the batches, and are not kept.
void QueryRun::keep_batch() {
  if (!keeping_) return;
  kept_bytes_ += batch_->memory_bytes;
  keeping_ = rechecked_ == 0 && kept_bytes_ <= static_cast<int64_t>(work_mem) * 1024;
  if (keeping_) {
    kept_.push_back(batch_);
    replayed_ = kept_.size();
  } else {
    kept_.clear();
    replayed_ = 0;
  }
}

// Empty grouping sets have a group whatever there is to aggregate.
bool QueryRun::next_empty_set() {
  from_nothing_ = false;
  for (; empty_sets_ < plan_.grouping_sets.size(); ++empty_sets_) {
    if (!plan_.grouping_sets[empty_sets_].is_empty) continue;
    set_ = empty_sets_++;
    from_nothing_ = true;
    return true;
  }
  return false;
}

// The engine has merged the row's batch by one grouping set.
bool QueryRun::has_own_set() const { return !from_recheck_ && batch_ != nullptr && batch_->grouping_set >= 0; }

bool QueryRun::next_row() {
  if (next_empty_set()) return true;
  if (on_row_ && !has_own_set() && set_ + 1 < plan_.grouping_sets.size()) {
    ++set_;
    return true;
  }
  on_row_ = next_input_row();
  set_ = on_row_ && has_own_set() ? static_cast<size_t>(batch_->grouping_set) : 0;
  return on_row_;
}

bool QueryRun::next_input_row() {
  if (!plan_.order.empty()) return next_sorted_row();
  for (;;) {
    if (recheck_ != nullptr && recheck_->pop()) {
      from_recheck_ = true;
      return true;
    }
    from_recheck_ = false;
    if (batch_ != nullptr && ++row_ < batch_->rows) return true;
    batch_.reset();
    if (!next_batch() && (recheck_ == nullptr || !recheck_->has_rows())) return false;
  }
}

bool QueryRun::has_columns() const {
  return plan_.kind != PlanKind::kAggregation && plan_.order.empty() &&
         std::all_of(plan_.outputs.begin(), plan_.outputs.end(),
                     [](const OutputSpec& output) { return output.kind == OutputKind::kColumn; });
}

bool QueryRun::next_columns() {
  for (;;) {
    from_recheck_ = recheck_ != nullptr && recheck_->pop();
    if (from_recheck_) return true;
    batch_.reset();
    if (next_batch()) {
      if (batch_->rows > 0) return true;
    } else if (recheck_ == nullptr || !recheck_->has_rows()) {
      return false;
    }
  }
}

void QueryRun::put_row() {
  guard([this] {
    ExprContext* context = state_->ss.ps.ps_ExprContext;
    TupleTableSlot* slot = state_->ss.ss_ScanTupleSlot;
    ResetExprContext(context);
    MemoryContext caller = MemoryContextSwitchTo(context->ecxt_per_tuple_memory);
    fill_row(slot);
    MemoryContextSwitchTo(caller);
    host_sort_->put(slot);
    ExecClearTuple(slot);
  });
}

void QueryRun::put_batch(std::shared_ptr<const engine::exec::ResultBatch> batch) {
  batch_ = std::move(batch);
  from_recheck_ = false;
  for (row_ = 0; row_ < batch_->rows; ++row_) {
    if (row_ % 1024 == 0) boundary::check_for_interrupts();
    put_row();
  }
  batch_.reset();
}

void QueryRun::put_rechecked_rows() {
  from_recheck_ = true;
  while (recheck_->pop()) put_row();
  from_recheck_ = false;
}

// What there is so far goes to PostgreSQL's sort, and everything after it.
void QueryRun::sort_by_host() {
  host_sort_ = std::make_unique<HostSort>(state_, plan_.order);
  for (const auto& batch : sorted_->batches()) put_batch(batch);
  sorted_.reset();
}

void QueryRun::collect_sorted_rows() {
  if (!started_) start();
  keeping_ = false;
  const int64_t limit = static_cast<int64_t>(guc::pg_strom::work_memory) * 1024;
  sorted_ = std::make_unique<engine::exec::SortedRows>(plan_.program.pipelines.back().order);
  for (bool more = true; more;) {
    auto batch = value_or_throw(execution_->next(check_interrupts_in_engine));
    take_declined();
    check_files(batch == nullptr);
    more = batch != nullptr;
    const bool rechecked = recheck_ != nullptr && recheck_->has_rows();
    if (host_sort_ == nullptr && (rechecked || sorted_->memory() > limit)) sort_by_host();
    if (rechecked) put_rechecked_rows();
    if (more && host_sort_ != nullptr)
      put_batch(std::move(batch));
    else if (more)
      sorted_->add(std::move(batch));
  }
  sorted_by_ = host_sort_ != nullptr ? "PostgreSQL" : "engine";
  if (host_sort_ == nullptr) {
    release_threads();  // the execution stays: it owns values of the batches
    return;
  }
  abandon();
  host_sort_->sort();
}

bool QueryRun::next_sorted_row() {
  if (ended_) return false;
  if (sorted_ == nullptr && host_sort_ == nullptr) collect_sorted_rows();
  from_host_sort_ = host_sort_ != nullptr;
  if (from_host_sort_ ? host_sort_->next() : sorted_->next()) {
    if (from_host_sort_) return true;
    if (batch_ != sorted_->batch()) batch_ = sorted_->batch();
    row_ = sorted_->row();
    return true;
  }
  ended_ = true;
  from_host_sort_ = false;
  batch_.reset();
  sorted_.reset();
  abandon();
  return false;
}

void QueryRun::end_sort() {
  if (host_sort_ != nullptr) host_sort_->end();
  host_sort_.reset();
  sorted_.reset();
  from_host_sort_ = false;
}

void QueryRun::fill_row(TupleTableSlot* slot) {
  ExecClearTuple(slot);
  if (from_host_sort_) {
    host_sort_->fill(slot);
    ExecStoreVirtualTuple(slot);
    return;
  }
  const int attributes = slot->tts_tupleDescriptor->natts;
  const int count = static_cast<int>(plan_.outputs.size());
  for (int i = count; i < attributes; ++i) slot->tts_isnull[i] = true;
  for (int i = 0; i < count; ++i) {
    const auto index = static_cast<size_t>(i);
    const OutputSpec& output = plan_.outputs[index];
    if (from_nothing_ && output.kind == OutputKind::kAggregate)
      slot->tts_values[i] = partial_state_of_row(output.partial, Datum{0}, Datum{0}, true, false, &slot->tts_isnull[i]);
    else if (from_nothing_)
      slot->tts_isnull[i] = true;
    else if (!from_recheck_)
      fill_from_batch(slot, index);
  }
  if (!from_nothing_ && from_recheck_) fill_from_recheck(slot);
  if (!plan_.grouping_sets.empty()) apply_grouping_set(slot);
  ExecStoreVirtualTuple(slot);
}

bool QueryRun::merges_groups() {
  for (const OutputSpec& output : plan_.outputs)
    if (output.kind == OutputKind::kAggregate ? !has_final_value(output.partial)
                                              : !registry::is_equal_by_bits(output.type.type))
      return false;
  if (batch_ == nullptr) next_batch();
  return all_groups_;
}

void QueryRun::fill_group(TupleTableSlot* slot, const bool* averages) {
  ExecClearTuple(slot);
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    const OutputSpec& output = plan_.outputs[i];
    if (output.kind != OutputKind::kAggregate)
      fill_from_batch(slot, i);
    else
      slot->tts_values[i] =
          final_value(output.partial, averages[i], batch_->aggregates[static_cast<size_t>(output.index)], row_,
                      &slot->tts_isnull[i]);
  }
  ExecStoreVirtualTuple(slot);
}

void QueryRun::fill_from_recheck(TupleTableSlot* slot) const {
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    slot->tts_values[i] = recheck_->values()[i];
    slot->tts_isnull[i] = recheck_->nulls()[i];
  }
}

void QueryRun::fill_from_batch(TupleTableSlot* slot, size_t i) {
  const OutputSpec& output = plan_.outputs[i];
  const auto index = static_cast<size_t>(output.index);
  if (output.kind == OutputKind::kGrouping) return;
  if (output.kind == OutputKind::kAggregate) {
    slot->tts_values[i] = partial_state(output.partial, batch_->aggregates[index], row_, &slot->tts_isnull[i]);
    return;
  }
  const engine::exec::ResultColumn& column = batch_->columns[index];
  slot->tts_isnull[i] = column.flags != nullptr && (column.flags[row_] & 1) != 0;
  if (slot->tts_isnull[i] || codec::load_datum(output.type.type, column.values, row_, &slot->tts_values[i])) return;
  const bool invalid = reads_files_ && !codec::is_valid_text(output.type.type, column.values, row_);
  if (invalid)
    boundary::entry([this] { check_files(true); });  // zeros in place of text that has vanished are no valid text
  slot->tts_values[i] =
      codec::datum_from_register(output.type.type, output.type.scale, output.length, column.values, row_, invalid);
}

void QueryRun::apply_grouping_set(TupleTableSlot* slot) const {
  const std::vector<int>& values = plan_.grouping_sets[set_].values;
  for (size_t i = 0; i < plan_.outputs.size(); ++i) {
    if (plan_.outputs[i].kind == OutputKind::kGrouping) {
      slot->tts_values[i] = Int32GetDatum(values[i]);
      slot->tts_isnull[i] = false;
    } else if (values[i] != 0) {
      slot->tts_isnull[i] = true;
    }
  }
}

void QueryRun::first_row_again() {
  batch_.reset();
  row_ = -1;
  set_ = empty_sets_ = 0;
  on_row_ = from_nothing_ = false;
}

bool QueryRun::replay(bool same_parameters, const std::vector<bool>& keep_children) {
  const bool kept_all = std::find(keep_children.begin(), keep_children.end(), false) == keep_children.end();
  if (!started_ || !keeping_ || rechecked_ > 0 || !same_parameters || !kept_all) return false;
  replayed_ = 0;
  first_row_again();
  return true;
}

void QueryRun::restart(bool same_parameters, const std::vector<bool>& keep_children) {
  if (replay(same_parameters, keep_children)) return;
  was_restarted_ = true;
  first_row_again();
  end_sort();
  abandon();
  kept_.clear();
  kept_bytes_ = 0;
  replayed_ = 0;
  if (recheck_ != nullptr) recheck_->bind({});
  started_ = ended_ = from_recheck_ = recheck_bound_ = false;
  forget_changed_subplans();
  for (size_t i = 0; i < collected_.size(); ++i)
    if (!keep_children[i]) {
      collected_[i].reset();
      chosen_[i] = false;
    }
}

void QueryRun::forget_changed_subplans() {
  for (size_t i = 0; i < plan_.pipelines.size(); ++i)
    if (plan_.pipelines[i].subplan != 0 && subplan_state(i)->chgParam != nullptr) tables_[i].reset();
}

void QueryRun::check_result() {
  if (started_ && (!ended_ || keeping_)) check_files(true);
}

void QueryRun::release_threads() {
  if (execution_ != nullptr) execution_->stop();
  slots_.reset();
  for (const auto& table : tables_)
    if (table != nullptr) table->close();
}

void QueryRun::abandon() {
  release_threads();
  progress_.end();
  if (execution_ != nullptr) {
    const Stats stats = execution_->stats();
    add_stats(&past_stats_, stats);
    execution_.reset();
    // The allocator keeps what the threads have freed; a session that waits for its next query should not.
    if (stats.peak_memory > kTrimmedMemory) malloc_trim(0);
  }
  keeping_ = false;
}

Stats QueryRun::stats() const {
  Stats sum = past_stats_;
  if (execution_ != nullptr) {
    execution_->stop();
    add_stats(&sum, execution_->stats());
  }
  return sum;
}

}  // namespace strom::pg::node
