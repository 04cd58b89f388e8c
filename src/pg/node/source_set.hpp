// Where the rows of all pipelines of a node come from. Used by QueryRun, FallbackRows and EXPLAIN. C++ code: throws
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
  /// The pipeline that probes.
  size_t probing() const { return size() - 1; }
  PipelineInput& input(size_t pipeline) { return inputs_[pipeline]; }
  const PipelineInput& input(size_t pipeline) const { return inputs_[pipeline]; }
  const Subplans& subplans() const { return subplans_; }

  /// The pipeline's rows are a PostgreSQL plan's, which collect() runs.
  bool is_collected(size_t pipeline) const { return plan_.pipelines[pipeline].relid == 0; }
  /// Makes the pipeline's rows ready for the engine, but for those that are collected.
  void begin_run(size_t pipeline);
  /// Makes them ready where they are collected.
  void collect(size_t pipeline) { subplans_.collect(pipeline); }
  /// Rows of a pipeline that has begun.
  source::RowSource* rows(size_t pipeline) const;

  /// Nobody has checked whether texts of the run are valid, as somebody has of what is in heap tables.
  bool may_have_invalid_text() const { return may_have_invalid_text_; }
  /// Throws when a file is not what it was when it was opened. Looks now and then only, unless `now`.
  void check_files(bool now);
  /// Record batches that statistics have left out, over all runs.
  int64_t skipped_batches() const;
  /// Lets go of what the run holds; no engine thread reads any more.
  void close();
  /// Parameters may have changed. `keep_children`: for each child plan, its rows are still right.
  void restart(const std::vector<bool>& keep_children);

 private:
  const PlanSpec& plan_;
  Subplans subplans_;
  std::deque<PipelineInput> inputs_;  // one for each pipeline
  bool may_have_invalid_text_ = false;
  std::chrono::steady_clock::time_point files_checked_;
};

}  // namespace strom::pg::node
