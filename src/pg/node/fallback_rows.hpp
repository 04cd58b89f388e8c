// Fallback rows: takes them from the engine, counts them, lets PostgreSQL evaluate them, and returns the resulting
// rows. Used by QueryRun. C++ code: throws PostgresError (also the query's own errors) and StatusError.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/exec/execution.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/node/fallback_evaluator.hpp"
#include "pg/node/source_set.hpp"

namespace strom::pg::node {

class FallbackRows {
 public:
  FallbackRows(CustomScanState* state, const PlanSpec& plan, SourceSet& sources)
      : state_(state), plan_(plan), sources_(sources) {}

  /// Evaluates fallback rows of the probing pipeline.
  void decide(const std::vector<engine::op::FallbackRow>& rows, engine::exec::Execution& execution);
  /// Evaluates the fallback rows that `execution` has left since the last call.
  void take_from(engine::exec::Execution& execution);
  /// Evaluates fallback rows of a build pipeline, and adds them to its join table.
  void decide_build(uint32_t pipeline, const std::vector<engine::op::FallbackRow>& rows,
                    engine::exec::Execution& execution);

  /// Makes the oldest resulting row the current one; false when there is none.
  bool pop() { return evaluator_ != nullptr && evaluator_->pop(); }
  bool has_results() const { return evaluator_ != nullptr && evaluator_->has_rows(); }
  /// Puts the current row's outputs into `slot`. Does not throw.
  void fill(TupleTableSlot* slot) const;

  /// Raises the NOTICE about fallback rows if the session wants it. Not to be called after an error.
  void tell();

  /// Number of rows over all runs.
  int64_t count() const { return count_; }
  /// Drops the rows of the run.
  void restart();

 private:
  void note(size_t count);
  FallbackEvaluator& evaluator();
  void decide_all(const std::vector<engine::op::FallbackRow>& rows, engine::exec::Execution& execution);

  CustomScanState* state_;
  const PlanSpec& plan_;
  SourceSet& sources_;
  std::unique_ptr<FallbackEvaluator> evaluator_;  // nullptr: no fallback row so far
  bool is_bound_ = false;                         // evaluator_ has this run's sources
  bool is_told_ = false;                          // a NOTICE tells of them at the end
  FallbackReasons reasons_;
  int64_t count_ = 0;
};

}  // namespace strom::pg::node
