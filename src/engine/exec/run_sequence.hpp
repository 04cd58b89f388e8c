// The runs of a program's last pipeline, one after another: each pass over the outer side, and the build rows of joins
// whose rows go on by themselves. Used by execution.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/exec/inner_sides.hpp"
#include "engine/exec/pipeline_run.hpp"
#include "engine/exec/run_maker.hpp"
#include "engine/op/join/build_rows.hpp"

namespace strom::engine::exec {

/// Work of an execution between the runs.
class SequenceListener {
 public:
  virtual ~SequenceListener() = default;
  /// Takes the fallback rows of a run that is not the last one.
  virtual Status take_pass_end(const std::vector<op::FallbackRow>& rows) = 0;
  virtual Status make_table_again(uint32_t pipeline, const InterruptCheck& interrupt) = 0;
  virtual void end_run(const PipelineRun& run, bool over_outer_side) = 0;
};

class RunSequence {
 public:
  /// All arguments outlive this object.
  RunSequence(const plan::Program& program, InnerSides& sides, const RunMaker& runs, SequenceListener& listener)
      : program_(program), sides_(sides), runs_(runs), listener_(listener) {}

  bool has_begun() const { return run_ != nullptr; }
  /// Begins the first run. All inner sides must have their tables.
  Status begin();

  /// Next result batch, or nullptr when there is none left.
  Result<std::shared_ptr<const op::ResultBatch>> next(const InterruptCheck& interrupt);
  std::vector<op::FallbackRow> take_fallback_rows();
  /// True when all groups are there, each in one batch, and no row is a fallback row.
  bool has_all_groups() const;
  void stop();

  /// The running or last run; nullptr before begin().
  const PipelineRun* run() const { return run_.get(); }
  /// True when the run reads the outer side, false when it reads build rows.
  bool is_over_outer_side() const { return build_rows_program_ == nullptr; }

 private:
  const std::vector<uint32_t>& main_joins() const { return program_.pipelines.back().joins; }
  uint32_t main_pipeline() const { return static_cast<uint32_t>(program_.pipelines.size() - 1); }
  Result<bool> next_run(const InterruptCheck& interrupt);
  Status next_pass(const InterruptCheck& interrupt);
  size_t last_end() const;
  size_t next_build_rows() const;
  Status start_build_rows(size_t place);
  Status run_in_order();
  std::shared_ptr<const op::ResultBatch> with_texts(std::shared_ptr<const op::ResultBatch> batch) const;

  const plan::Program& program_;
  InnerSides& sides_;
  const RunMaker& runs_;
  SequenceListener& listener_;
  std::unique_ptr<plan::Program> build_rows_program_;  // run_'s program while it runs over build rows
  std::unique_ptr<op::BuildRows> build_rows_;
  size_t build_rows_at_ = 0;     // place of the join of these build rows
  size_t build_rows_begin_ = 0;  // first place whose build rows are still to come in this pass
  int64_t passes_ = 0;           // that have ended
  bool finished_ = false;
  std::unique_ptr<PipelineRun> run_;  // declared last, so that its threads end before what they read is gone
};

}  // namespace strom::engine::exec
