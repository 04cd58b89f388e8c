// One engine node that runs or is only explained: the engine's execution over the node's sources, and the rows on their
// way to PostgreSQL. The node's memory context owns it; node.cpp calls it. C++ code: throws StatusError and
// PostgresError. See docs/dev/executor.md.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/exec/execution.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/node/fallback_rows.hpp"
#include "pg/node/grouping_cursor.hpp"
#include "pg/node/device_selection.hpp"
#include "pg/node/output_writer.hpp"
#include "pg/node/parameters.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/node/progress.hpp"
#include "pg/node/query_statistics.hpp"
#include "pg/node/result_cursor.hpp"
#include "pg/node/sort_stage.hpp"
#include "pg/node/source_set.hpp"
#include "pg/node/thread_slots.hpp"

namespace strom::pg::node {

/// Thrown when the session is being terminated. PostgreSQL terminates it by leaving the process from within
/// CHECK_FOR_INTERRUPTS(). That must not happen while engine code is on the stack and its threads run.
struct SessionEnds {};

class QueryRun {
 public:
  /// `keep_results`: a rescan with the same parameters is expected, which cached results then answer.
  QueryRun(CustomScanState* state, bool keep_results);

  /// Moves to the next row; false at the end. fill_row() puts the row into a slot. Throws SessionEnds.
  bool next_row();

  /// Sets the attributes of `slot` that are outputs to the current row's values, and all others to NULL. Storage comes
  /// from the current memory context. Does not throw, but may ereport.
  void fill_row(TupleTableSlot* slot);

  /// Runs an aggregation up to its first groups; call it before the first next_row(). True when each group occurs only
  /// once and has the results of its aggregates. The caller may then use fill_group() instead of fill_row().
  bool merges_groups();
  /// Like fill_row(), for a group with the results of its aggregates. `averages` tells for each output whether it is an
  /// average.
  void fill_group(TupleTableSlot* slot, const bool* averages);

  /// True if rows are available as columns: the caller uses next_columns() instead of next_row().
  bool has_columns() const;
  /// Moves to the next rows; false at the end. Throws SessionEnds.
  bool next_columns();
  /// The current rows of next_columns(). nullptr: the current row is a fallback row, which fill_row() returns.
  const engine::op::ResultBatch* columns() const {
    return row_from_ == RowFrom::kFallback ? nullptr : results_.batch();
  }

  /// Starts again with the first row. `same_parameters`: parameters have not changed. `keep_children`: for each child
  /// plan whether its rows are still valid.
  void restart(bool same_parameters, const std::vector<bool>& keep_children);

  /// Throws when a file has changed, so that rows returned so far may be wrong. The caller may continue to fetch rows
  /// afterwards.
  void check_result();

  /// Stops the threads. There are no more rows until restart().
  void abandon();

  /// Frees the memory of PostgreSQL's sort. Not to be called after an error, which frees it.
  void end_sort() { sort_.end(); }

  /// Reports fallback rows if the session wants it. Not to be called after an error.
  void tell_fallback() { fallback_.tell(); }

  const PlanSpec& plan() const { return plan_; }
  SourceSet& sources() { return sources_; }
  const SourceSet& sources() const { return sources_; }
  /// Sums over all executions so far. Ends the last execution.
  engine::exec::Stats stats() const;
  /// Number of fallback rows, over all executions.
  int64_t fallback_rows() const { return fallback_.count(); }
  /// The node's work over all executions. The last one has ended.
  NodeWork work() const;
  bool was_started() const { return !past_stats_.milliseconds.empty(); }
  /// GPUs that the last execution could use, in the order of engine::exec::Stats::rows_by_device.
  const gpu::GpuDevices& devices() const { return device_selection_.devices(); }
  /// How the rows were sorted; nullptr when they were not, or not yet.
  const char* sorted_by() const { return sort_.sorted_by(); }

 private:
  enum class State : uint8_t {
    kIdle,     // no row was fetched since the beginning or restart()
    kRunning,  // there are more rows, in the engine or sorted
    kEnded,    // all rows were returned; cached rows may be returned again
  };
  /// The kind of the current row.
  enum class RowFrom : uint8_t {
    kResults,     // a row of results_
    kFallback,    // a fallback row
    kHostSort,    // a row of sort_ that PostgreSQL has sorted
    kEmptyGroup,  // the group of no rows, for an empty grouping set
  };

  void start();
  engine::exec::Options options();
  ResultCursor::Batch next_from_engine();
  bool next_batch();
  bool next_input_row();
  bool next_sorted_row();
  void collect_sorted_rows();
  bool replay(bool same_parameters, const std::vector<bool>& keep_children);
  void release_threads();
  std::vector<engine::exec::Execution::Collect> collecting() const;
  void collect(uint32_t pipeline);
  void tell_collecting(size_t pipeline);
  void tell_progress();

  CustomScanState* state_;
  const PlanSpec plan_;
  const bool keep_results_;
  const bool stores_result_;  // see stored_result.hpp
  SourceSet sources_;
  Parameters parameters_;
  DeviceSelection device_selection_;
  std::optional<ThreadSlots> slots_;
  std::unique_ptr<engine::exec::Execution> execution_;
  FallbackRows fallback_;
  const OutputWriter writer_;
  ResultCursor results_;
  SortStage sort_;
  GroupingCursor grouping_;
  State run_state_ = State::kIdle;
  RowFrom row_from_ = RowFrom::kResults;
  bool has_all_groups_ = false;  // Execution::has_all_groups() at the last batch
  bool was_restarted_ = false;
  engine::exec::Stats past_stats_;  // of earlier executions
  ProgressReport progress_;
};

}  // namespace strom::pg::node
