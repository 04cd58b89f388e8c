#include "pg/node/query_run.hpp"

#include <malloc.h>

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/node/run_statistics.hpp"
#include "pg/node/stored_result.hpp"
#include "pg/source/inflate.hpp"

namespace strom::pg::node {

using boundary::value_or_throw;
using engine::exec::Execution;
using engine::exec::Stats;
using engine::op::FallbackRow;

namespace {

constexpr int64_t kTrimmedMemory = 32 << 20;
constexpr double kLongRows = 1e6;  // with so many, waiting for processors may take most of the time

void check_interrupts_in_engine() {
  if (!INTERRUPTS_PENDING_CONDITION()) return;
  const bool ends = ProcDiePending || ClientConnectionLost;
  if (ends && InterruptHoldoffCount == 0 && CritSectionCount == 0) throw SessionEnds();
  boundary::check_for_interrupts();
}

int64_t bytes_of_kilobytes(int kilobytes) { return static_cast<int64_t>(kilobytes) * 1024; }

std::vector<bool> empty_sets(const PlanSpec& plan) {
  std::vector<bool> result;
  result.reserve(plan.grouping_sets.size());
  for (const GroupingSetSpec& set : plan.grouping_sets) result.push_back(set.is_empty);
  return result;
}

}  // namespace

QueryRun::QueryRun(CustomScanState* state, bool keep_results)
    : state_(state),
      plan_(reinterpret_cast<const CustomScan*>(state->ss.ps.plan)),
      keep_results_(keep_results),
      stores_result_(result_is_stored()),
      sources_(state, plan_),
      parameters_(state, plan_),
      device_selection_(plan_, sources_),
      fallback_(state, plan_, sources_),
      writer_(plan_, sources_),
      sort_(state, plan_, writer_),
      grouping_(empty_sets(plan_)) {}

engine::exec::Options QueryRun::options() {
  engine::exec::Options options;
  options.single_group_threads = 1 + slots_->count();
  options.threads = std::min(options.single_group_threads, wanted_threads());
  options.lanes = wanted_threads();
  options.single_group_lanes = most_threads();
  options.memory_budget = bytes_of_kilobytes(guc::pg_strom::work_memory);
  options.join_memory_budget = options.memory_budget;
  if (!stores_result_) options.inflater = source::inflater();
  options.single_byte_encoding = pg_database_encoding_max_length() == 1;
  device_selection_.set(&options);
  options.device_keeps_joins = !was_restarted_;  // not worth it if an outer query changes parameters for each row
  return options;
}

void QueryRun::start() {
  progress_.start();
  std::vector<const engine::op::ChunkSource*> sources;
  for (size_t i = 0; i < sources_.size(); ++i) {
    sources_.begin_run(i);
    sources.push_back(sources_.rows(i));
  }
  const std::vector<engine::plan::Constant> params = parameters_.evaluate(sources_.subplans());
  slots_.emplace(wanted_threads() - 1);
  if (plan_.kind == PlanKind::kAggregation && plan_.rows_in >= kLongRows) slots_->take_more();
  execution_ = value_or_throw(Execution::create(plan_.program, sources, params, options()));
  execution_->on_fallback_build([this](uint32_t pipeline, const std::vector<FallbackRow>& rows) {
    fallback_.decide_build(pipeline, rows, *execution_);
  });
  execution_->on_collect(collecting(), [this](uint32_t pipeline) { collect(pipeline); });
  execution_->on_pass_end([this](const std::vector<FallbackRow>& rows) { fallback_.decide(rows, *execution_); });
  run_state_ = State::kRunning;
  if (keep_results_) results_.start_caching();
}

// PostgreSQL reads an inner side only when a row needs it. Usually such a row is found at once, so the engine looks for
// one first. If the search may take long, inner sides of inner and semi joins are read without it: PostgreSQL may also
// read these first.
std::vector<Execution::Collect> QueryRun::collecting() const {
  constexpr double kSoon = 100'000;  // rows to look at
  const bool is_soon = plan_.rows_in <= kSoon * std::max(1.0, plan_.rows_out);
  std::vector<Execution::Collect> collects(sources_.size(), Execution::Collect::kNot);
  for (const engine::plan::Join& join : plan_.program.joins) {
    const uint32_t pipeline = join.build_pipeline;
    if (!sources_.is_collected(pipeline)) continue;
    const Subplans& subplans = sources_.subplans();
    const bool is_outer = join.kind == engine::plan::JoinKind::kLeft || join.kind == engine::plan::JoinKind::kAnti;
    const bool asks = (is_outer || is_soon) && !subplans.is_collected(pipeline) && subplans.can_fail(pipeline);
    collects[pipeline] = asks ? Execution::Collect::kIfReached : Execution::Collect::kIfNeeded;
  }
  return collects;
}

void QueryRun::collect(uint32_t pipeline) {
  tell_collecting(pipeline);
  sources_.collect(pipeline);
  for (const Subplans::Fact& fact : sources_.subplans().facts(pipeline))
    execution_->set_parameter(fact.param,
                              {{registry::TypeId::kBool, 0}, false, -1, std::string(1, fact.value ? '\1' : '\0')});
}

ResultCursor::Batch QueryRun::next_from_engine() {
  ResultCursor::Batch batch = value_or_throw(execution_->next([this] {
    check_interrupts_in_engine();
    tell_progress();
  }));
  has_all_groups_ = execution_->has_all_groups();
  fallback_.take_from(*execution_);
  sources_.check_files(batch == nullptr);
  return batch;
}

bool QueryRun::next_batch() {
  if (results_.next_cached()) {
    sources_.check_files(false);
    return true;
  }
  if (run_state_ == State::kEnded) return false;
  if (run_state_ == State::kIdle) start();
  if (ResultCursor::Batch batch = next_from_engine()) {
    // Fallback rows come between the batches and are not cached.
    results_.take(std::move(batch), fallback_.count() == 0, bytes_of_kilobytes(work_mem));
    return true;
  }
  run_state_ = State::kEnded;
  if (results_.is_caching())
    release_threads();  // the execution stays, because it owns values of the batches
  else
    abandon();
  return false;
}

bool QueryRun::next_row() {
  if (grouping_.next_empty()) {
    row_from_ = RowFrom::kEmptyGroup;
    return true;
  }
  if (grouping_.next_of_row()) return true;
  if (!next_input_row()) {
    grouping_.end_rows();
    return false;
  }
  grouping_.begin_row(row_from_ == RowFrom::kResults ? results_.batch()->grouping_set : -1);
  return true;
}

bool QueryRun::next_input_row() {
  if (!plan_.order.empty()) return next_sorted_row();
  // The engine's groups come before the fallback rows: after infinity, a sum does not overflow any more.
  const bool groups_first = plan_.kind == PlanKind::kAggregation;
  for (;;) {
    row_from_ = RowFrom::kResults;
    if (groups_first && results_.next_row()) return true;
    if (fallback_.pop()) {
      row_from_ = RowFrom::kFallback;
      return true;
    }
    if (!groups_first && results_.next_row()) return true;
    if (!next_batch() && !fallback_.has_results()) return false;
  }
}

bool QueryRun::has_columns() const {
  return plan_.kind != PlanKind::kAggregation && plan_.order.empty() &&
         std::all_of(plan_.outputs.begin(), plan_.outputs.end(),
                     [](const OutputSpec& output) { return output.kind == OutputKind::kColumn; });
}

bool QueryRun::next_columns() {
  for (;;) {
    row_from_ = fallback_.pop() ? RowFrom::kFallback : RowFrom::kResults;
    if (row_from_ == RowFrom::kFallback) return true;
    results_.drop_batch();
    if (next_batch()) {
      if (results_.batch()->rows > 0) return true;
    } else if (!fallback_.has_results()) {
      return false;
    }
  }
}

void QueryRun::collect_sorted_rows() {
  if (run_state_ == State::kIdle) start();
  results_.stop_caching();
  sort_.begin(bytes_of_kilobytes(guc::pg_strom::work_memory));
  for (bool more = true; more;) {
    ResultCursor::Batch batch = next_from_engine();
    more = batch != nullptr;
    sort_.add(std::move(batch), &fallback_);
  }
  if (sort_.is_by_host())
    abandon();
  else
    release_threads();  // the execution stays, because it owns values of the batches
  sort_.finish();
}

bool QueryRun::next_sorted_row() {
  if (run_state_ == State::kEnded) return false;
  if (!sort_.is_done()) collect_sorted_rows();
  row_from_ = sort_.is_by_host() ? RowFrom::kHostSort : RowFrom::kResults;
  if (sort_.next()) {
    if (row_from_ == RowFrom::kResults) results_.move_to(sort_.batch(), sort_.row());
    return true;
  }
  run_state_ = State::kEnded;
  results_.drop_batch();
  sort_.drop_batches();
  abandon();
  return false;
}

void QueryRun::fill_row(TupleTableSlot* slot) {
  ExecClearTuple(slot);
  if (row_from_ != RowFrom::kHostSort) writer_.clear_others(slot);
  switch (row_from_) {
    case RowFrom::kResults: writer_.put_row(slot, *results_.batch(), results_.row()); break;
    case RowFrom::kFallback: fallback_.fill(slot); break;
    case RowFrom::kHostSort: sort_.fill(slot); break;
    case RowFrom::kEmptyGroup: writer_.put_empty_group(slot); break;
  }
  if (!plan_.grouping_sets.empty()) writer_.apply_grouping_set(slot, grouping_.set());
  ExecStoreVirtualTuple(slot);
}

bool QueryRun::merges_groups() {
  if (!writer_.has_final_groups()) return false;
  if (results_.batch() == nullptr) next_batch();
  return has_all_groups_;
}

void QueryRun::fill_group(TupleTableSlot* slot, const bool* averages) {
  ExecClearTuple(slot);
  writer_.put_group(slot, *results_.batch(), results_.row(), averages);
  ExecStoreVirtualTuple(slot);
}

bool QueryRun::replay(bool same_parameters, const std::vector<bool>& keep_children) {
  const bool kept_all = std::find(keep_children.begin(), keep_children.end(), false) == keep_children.end();
  const bool has_results = run_state_ != State::kIdle && results_.is_caching() && fallback_.count() == 0;
  if (!has_results || !same_parameters || !kept_all) return false;
  results_.rewind();
  grouping_.restart();
  return true;
}

void QueryRun::restart(bool same_parameters, const std::vector<bool>& keep_children) {
  if (replay(same_parameters, keep_children)) return;
  was_restarted_ = true;
  grouping_.restart();
  sort_.end();
  abandon();
  results_.clear();
  fallback_.restart();
  sources_.restart(keep_children);
  run_state_ = State::kIdle;
  row_from_ = RowFrom::kResults;
}

void QueryRun::check_result() {
  if (run_state_ == State::kRunning || (run_state_ == State::kEnded && results_.is_caching()))
    sources_.check_files(true);
}

void QueryRun::release_threads() {
  if (execution_ != nullptr) execution_->stop();
  slots_.reset();
  sources_.close();
}

void QueryRun::abandon() {
  release_threads();
  progress_.end();
  if (execution_ != nullptr) {
    const Stats stats = execution_->stats();
    add_statistics(&past_stats_, stats);
    execution_.reset();
    // The allocator would keep the memory that the threads have freed, while the session waits for its next query.
    if (stats.peak_memory > kTrimmedMemory) malloc_trim(0);
  }
  results_.stop_caching();
}

Stats QueryRun::stats() const {
  Stats sum = past_stats_;
  if (execution_ != nullptr) {
    execution_->stop();
    add_statistics(&sum, execution_->stats());
  }
  return sum;
}

}  // namespace strom::pg::node
