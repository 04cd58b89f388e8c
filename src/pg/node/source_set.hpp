// The sources of rows of all pipelines of a node. Used by QueryRun, FallbackRows and EXPLAIN. C++ code: throws
// StatusError and PostgresError.
#pragma once

#include <chrono>
#include <deque>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/node/pipeline_input.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/node/subplans.hpp"

namespace strom::pg::node {

class SourceSet {
 public:
  SourceSet(CustomScanState* state, const PlanSpec& plan);

  size_t size() const { return inputs_.size(); }
  /// The number of the probing pipeline.
  size_t probing() const { return size() - 1; }
  PipelineInput& input(size_t pipeline) { return inputs_[pipeline]; }
  const PipelineInput& input(size_t pipeline) const { return inputs_[pipeline]; }
  const Subplans& subplans() const { return subplans_; }

  /// True if the pipeline's rows come from a PostgreSQL plan, which collect() runs.
  bool is_collected(size_t pipeline) const { return plan_.pipelines[pipeline].relid == 0; }
  /// Makes the pipeline's rows ready for the engine, except collected ones.
  void begin_run(size_t pipeline);
  /// Runs the pipeline's plan and collects its rows.
  void collect(size_t pipeline) { subplans_.collect(pipeline); }
  /// The rows of a pipeline that has begun.
  source::RowSource* rows(size_t pipeline) const;

  /// True if texts have not been checked for validity; those in heap tables have been.
  bool may_have_invalid_text() const { return may_have_invalid_text_; }
  /// Throws when a file has changed since it was opened. Checks only from time to time, unless `now`.
  void check_files(bool now);
  /// The number of record batches that statistics ruled out, over all runs.
  int64_t skipped_batches() const;
  /// Releases what the run holds. No engine thread may read any more.
  void close();
  /// Called when parameters may have changed. `keep_children`: for each child plan whether its rows are still valid.
  void restart(const std::vector<bool>& keep_children);

 private:
  const PlanSpec& plan_;
  Subplans subplans_;
  std::deque<PipelineInput> inputs_;  // one for each pipeline
  bool may_have_invalid_text_ = false;
  std::chrono::steady_clock::time_point files_checked_;
};

}  // namespace strom::pg::node
