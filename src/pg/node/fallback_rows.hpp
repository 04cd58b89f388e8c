// Rows that the engine cannot evaluate: how they are taken from it, counted and decided by PostgreSQL, and what they
// result in. Used by QueryRun. C++ code: throws PostgresError (also the query's own errors) and StatusError.
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

  /// Decides rows of the pipeline that probes, which `execution` has left to PostgreSQL.
  void decide(const std::vector<engine::op::FallbackRow>& rows, engine::exec::Execution& execution);
  /// The same of those that it has left since it was asked last.
  void take_from(engine::exec::Execution& execution);
  /// Decides rows of a pipeline that builds a join table, and adds them to it.
  void decide_build(uint32_t pipeline, const std::vector<engine::op::FallbackRow>& rows,
                    engine::exec::Execution& execution);

  /// The oldest resulting row becomes the current one; false when there is none.
  bool pop() { return evaluator_ != nullptr && evaluator_->pop(); }
  bool has_results() const { return evaluator_ != nullptr && evaluator_->has_rows(); }
  /// Puts the current row's outputs into `slot`. Does not throw.
  void fill(TupleTableSlot* slot) const;

  /// The NOTICE that was asked for, if there were rows; not after an error.
  void tell();

  /// Of all runs.
  int64_t count() const { return count_; }
  /// Forgets the rows of the run.
  void restart();

 private:
  void note(size_t count);
  FallbackEvaluator& evaluator();
  void decide_all(const std::vector<engine::op::FallbackRow>& rows, engine::exec::Execution& execution);

  CustomScanState* state_;
  const PlanSpec& plan_;
  SourceSet& sources_;
  std::unique_ptr<FallbackEvaluator> evaluator_;  // nullptr: no row has needed it
  bool is_bound_ = false;                         // evaluator_ has this run's sources
  bool is_told_ = false;                          // at the end, by a NOTICE
  FallbackReasons reasons_;
  int64_t count_ = 0;
};

}  // namespace strom::pg::node
