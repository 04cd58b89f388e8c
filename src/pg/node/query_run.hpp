// One running (or merely explained) engine node: its sources, the engine's execution, and the rows on their way to
// PostgreSQL. Owned by the node's memory context; node.cpp calls it. C++ code: throws StatusError and PostgresError.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/exec/execution.hpp"
#include "engine/op/sort/sorted_rows.hpp"
#include "pg/boundary/early_value.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/node/gpu_session.hpp"
#include "pg/node/host_sort.hpp"
#include "pg/node/partitions.hpp"
#include "pg/node/progress.hpp"
#include "pg/node/query_statistics.hpp"
#include "pg/node/recheck.hpp"
#include "pg/node/run_plan.hpp"
#include "pg/node/thread_slots.hpp"
#include "pg/source/block_ranges.hpp"
#include "pg/source/heap_rows.hpp"
#include "pg/source/row_source.hpp"

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
  const engine::exec::ResultBatch* columns() const { return from_recheck_ ? nullptr : batch_.get(); }
  /// Text of columns() may be invalid.
  bool checks_text() const { return reads_files_; }

  /// The next row is the first again. `same_parameters`: they are as before; `keep_children`: for each child plan, its
  /// rows are still right.
  void restart(bool same_parameters, const std::vector<bool>& keep_children);

  /// Throws when a file changed under the rows that were handed out so far; more rows may be asked for after it.
  void check_result();

  /// Stops the threads; there are no more rows until restart().
  void abandon();

  /// Frees what sorting by PostgreSQL takes; not after an error, which frees it.
  void end_sort();

  const RunPlan& plan() const { return plan_; }
  /// Opens the table's files when they are not open. nullptr when the rows are not those of one Arrow table.
  const fdw_arrow::Source* table_source(size_t pipeline);
  /// What statistics of files leave out: conditions and joins that they are asked about, and record batches over all
  /// runs.
  struct Pruning {
    std::vector<const Node*> clauses;
    std::vector<engine::plan::KeyColumn> keys;
    int64_t loaded = 0, skipped = 0;
  };
  Pruning pruning(size_t pipeline);
  /// nullptr before the pipeline's table was read, and when it is not one of PostgreSQL's.
  const source::HeapRows* heap_rows(size_t pipeline) const { return heaps_[pipeline]; }
  /// Of a pipeline that reads one Arrow table and has been opened, else nullptr.
  const source::ArrowRows* arrow_rows(size_t pipeline) const;
  /// nullptr when the rows are not those of partitions or inheritance children.
  const Partitions* partitions(size_t pipeline) const { return partitions_[pipeline].get(); }
  const source::CollectedRows* collected_rows(size_t child) const { return collected_[child].get(); }
  /// Sum over all executions so far, of which the last one ends.
  engine::exec::Stats stats() const;
  int64_t rechecked() const { return rechecked_; }
  /// Of all executions, the last of which has ended.
  NodeWork work() const;
  bool was_started() const { return !past_stats_.milliseconds.empty(); }
  /// GPUs that the last execution could use, in the order of engine::exec::Stats::machine_rows.
  const GpuMachines& machines() const { return machines_; }
  /// How the rows came in order; nullptr when they did not, or not yet.
  const char* sorted_by() const { return sorted_by_; }

 private:
  std::optional<boundary::EarlyValue> evaluate(ExprState* compiled, bool may_raise);
  void add_batch_filter(size_t pipeline);
  void restrict_batches(size_t pipeline, source::RowSource* rows);
  void choose_blocks(size_t pipeline);
  bool is_file(Index relid) const;
  std::unique_ptr<source::RowSource> open_table(size_t pipeline, Index relid, const std::vector<int>& positions);
  source::RowSource* open_source(size_t pipeline);
  std::string storage_of(const source::RowSource& rows, Index relid);
  std::vector<std::string> storages_of(size_t pipeline);
  void choose_machines(engine::exec::Options* options);
  source::RowSource* row_source(size_t pipeline) const;
  bool is_large_for_device();
  void start();
  /// What is known of the rows of a sub-query when they are collected.
  struct RowFacts {
    int64_t rows = 0;
    bool has_null = false;  // in the first column
  };
  void collect_child(size_t pipeline);
  void collect_subplan(size_t pipeline);
  std::unique_ptr<source::CollectedRows> collect(size_t pipeline, PlanState* child, RowFacts* facts);
  PlanState* subplan_state(size_t pipeline) const;
  void forget_changed_subplans();
  const RowFacts* facts_of_param(size_t param, planner::MembershipParam* fact) const;
  ExprState* compile(Node* expression);
  std::vector<engine::plan::Constant> parameters();
  void release_threads();
  void tell_collecting(size_t pipeline);
  void tell_progress();
  bool next_batch();
  bool next_empty_set();
  bool has_own_set() const;
  bool next_input_row();
  bool next_sorted_row();
  void collect_sorted_rows();
  void sort_by_host();
  void put_batch(std::shared_ptr<const engine::exec::ResultBatch> batch);
  void put_rechecked_rows();
  void put_row();
  void first_row_again();
  void fill_from_recheck(TupleTableSlot* slot) const;
  void fill_from_batch(TupleTableSlot* slot, size_t index);
  void apply_grouping_set(TupleTableSlot* slot) const;
  bool replay(bool same_parameters, const std::vector<bool>& keep_children);
  void keep_batch();
  void take_declined();
  void decide_rows(const std::vector<engine::exec::DeclinedRow>& rows);
  void decide_build_rows(uint32_t pipeline, const std::vector<engine::exec::DeclinedRow>& rows);
  void note_declined(size_t count);
  void check_files(bool now);
  Recheck& recheck();

  CustomScanState* state_;
  RunPlan plan_;
  // For each pipeline, nullptr when its rows are a child plan's or it has not been opened.
  std::vector<std::unique_ptr<source::RowSource>> tables_;  // also rows of sub-queries
  std::vector<RowFacts> subplan_facts_;                     // for each pipeline
  std::vector<source::HeapRows*> heaps_;                    // those of tables_ that are one heap table
  std::vector<std::unique_ptr<Partitions>> partitions_;     // for each pipeline
  // For each pipeline; nullptr when statistics of files are not asked.
  std::vector<std::unique_ptr<fdw_arrow::BatchFilter>> batch_filters_;
  struct BatchCounts {
    int64_t chosen = 0, skipped = 0;
  };
  std::vector<BatchCounts> batch_counts_;                          // for each pipeline, over all runs
  std::vector<std::shared_ptr<source::CollectedRows>> collected_;  // for each child plan
  std::vector<bool> chosen_;  // for each child plan: it has told what to read of a table
  std::optional<ThreadSlots> slots_;
  GpuMachines machines_;  // outlive execution_
  std::vector<std::vector<uint32_t>> near_machines_;
  std::unique_ptr<engine::exec::Execution> execution_;
  std::unique_ptr<Recheck> recheck_;
  std::vector<ExprState*> parameter_expressions_;     // by Constant::param; compiled at the first use
  std::unique_ptr<engine::exec::SortedRows> sorted_;  // all rows, in an order
  std::unique_ptr<HostSort> host_sort_;               // instead of it
  bool from_host_sort_ = false;                       // the current row is that one's
  const char* sorted_by_ = nullptr;
  std::shared_ptr<const engine::exec::ResultBatch> batch_;
  // All batches since the start while keeping_; those from replayed_ on are yet to be handed out again.
  std::vector<std::shared_ptr<const engine::exec::ResultBatch>> kept_;
  int64_t kept_bytes_ = 0;
  size_t replayed_ = 0;
  int64_t row_ = -1;           // in batch_
  size_t set_ = 0;             // grouping set that the current row is handed over for
  size_t empty_sets_ = 0;      // sets that were asked for a group of no rows
  bool on_row_ = false;        // there is a current row
  bool from_nothing_ = false;  // it is the group of no rows of an empty set
  bool from_recheck_ = false;  // the current row is recheck_'s
  const bool keep_results_;
  const bool stores_result_;  // see stored_result.hpp
  bool keeping_ = false;
  bool reads_files_ = false;  // whose text may be invalid; what is in heap tables was checked when it came
  bool all_groups_ = false;   // as Execution::has_all_groups() said when the last batch came
  bool started_ = false, ended_ = false, recheck_bound_ = false, noticed_ = false, was_restarted_ = false;
  engine::exec::Stats past_stats_;
  int64_t rechecked_ = 0;
  std::chrono::steady_clock::time_point files_checked_;
  ProgressReport progress_;
};

}  // namespace strom::pg::node
