// One running (or merely explained) engine node: the engine's execution over the node's sources, and the rows on their
// way to PostgreSQL. Owned by the node's memory context; node.cpp calls it. C++ code: throws StatusError and
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

/// Thrown when the session is being terminated. PostgreSQL does that by leaving the process from within
/// CHECK_FOR_INTERRUPTS(), which must not happen while the engine is on the stack and its threads run.
struct SessionEnds {};

class QueryRun {
 public:
  /// `keep_results`: a rescan with the same parameters is expected, which is then answered from memory.
  QueryRun(CustomScanState* state, bool keep_results);

  /// Moves to the next row; false when there is none. fill_row() then puts it into a slot. Throws SessionEnds.
  bool next_row();

  /// Values of the current row, for the outputs and NULL for all other attributes of `slot`; storage comes from the
  /// current memory context. Does not throw, but may ereport.
  void fill_row(TupleTableSlot* slot);

  /// Runs an aggregation up to its first groups. True when all its groups come once and have the results of their
  /// aggregates: fill_group() may be used in place of fill_row() then. Before the first next_row().
  bool merges_groups();
  /// The current group with its aggregates' results; `averages` tells for each output which are averages. As
  /// fill_row().
  void fill_group(TupleTableSlot* slot, const bool* averages);

  /// Rows come as columns, with next_columns() in place of next_row(), which is not to be called then.
  bool has_columns() const;
  /// Moves to the next rows; false when there are none. Throws SessionEnds.
  bool next_columns();
  /// All rows that next_columns() has moved to; nullptr: the one row that PostgreSQL decided, for fill_row().
  const engine::op::ResultBatch* columns() const {
    return row_from_ == RowFrom::kFallback ? nullptr : results_.batch();
  }

  /// The next row is the first again. `same_parameters`: they are as before; `keep_children`: for each child plan, its
  /// rows are still right.
  void restart(bool same_parameters, const std::vector<bool>& keep_children);

  /// Throws when a file changed under the rows that were handed out so far; more rows may be asked for after it.
  void check_result();

  /// Stops the threads; there are no more rows until restart().
  void abandon();

  /// Frees what sorting by PostgreSQL takes; not after an error, which frees it.
  void end_sort() { sort_.end(); }

  /// Tells of fallback rows where the session wants to know; not after an error.
  void tell_fallback() { fallback_.tell(); }

  const PlanSpec& plan() const { return plan_; }
  SourceSet& sources() { return sources_; }
  const SourceSet& sources() const { return sources_; }
  /// Sum over all executions so far, of which the last one ends.
  engine::exec::Stats stats() const;
  /// Rows that PostgreSQL decided, of all executions.
  int64_t fallback_rows() const { return fallback_.count(); }
  /// Of all executions, the last of which has ended.
  NodeWork work() const;
  bool was_started() const { return !past_stats_.milliseconds.empty(); }
  /// GPUs that the last execution could use, in the order of engine::exec::Stats::rows_by_device.
  const gpu::GpuDevices& devices() const { return device_selection_.devices(); }
  /// How the rows came in order; nullptr when they did not, or not yet.
  const char* sorted_by() const { return sort_.sorted_by(); }

 private:
  enum class State : uint8_t {
    kIdle,     // nothing has been asked for since the beginning or restart()
    kRunning,  // the engine has more rows, or they are sorted and not all handed out
    kEnded,    // all rows have been handed out, but for cached ones that are handed out again
  };
  /// What the current row is.
  enum class RowFrom : uint8_t {
    kResults,     // a row of results_
    kFallback,    // one that PostgreSQL decided
    kHostSort,    // one of sort_ that PostgreSQL sorted
    kEmptyGroup,  // the group of no rows of an empty grouping set
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
  bool has_all_groups_ = false;  // as Execution::has_all_groups() said when the last batch came
  bool was_restarted_ = false;
  engine::exec::Stats past_stats_;  // of executions that have ended
  ProgressReport progress_;
};

}  // namespace strom::pg::node
