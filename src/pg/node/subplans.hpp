// Rows of PostgreSQL's plans that pipelines read: a child plan's, or those of the sub-query of an IN. They are
// collected before the engine starts. Used by SourceSet. C++ code: throws StatusError and PostgresError.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/source/row_source.hpp"

namespace strom::pg::node {

class Subplans {
 public:
  Subplans(CustomScanState* state, const PlanSpec& plan);

  /// Runs the plan that `pipeline` reads, unless its rows are still there.
  void collect(size_t pipeline);
  /// Rows that were collected; nullptr when there are none.
  source::CollectedRows* rows(size_t pipeline) const { return collected_[pipeline].rows.get(); }
  /// The value of parameter `param` of the plan when it is one of MembershipParam; none for other parameters.
  std::optional<bool> fact(int param) const;
  /// Forgets rows that may not be right any more. `keep_children`: for each child plan, its rows are.
  void restart(const std::vector<bool>& keep_children);

 private:
  struct Collected {
    std::unique_ptr<source::CollectedRows> rows;
    int64_t count = 0;
    bool has_null = false;  // in the first column
  };
  PlanState* subplan_state(size_t pipeline) const;
  void collect_subplan(size_t pipeline);
  Collected run(size_t pipeline, PlanState* plan) const;

  CustomScanState* state_;
  const PlanSpec& plan_;
  std::vector<Collected> collected_;  // for each pipeline
};

}  // namespace strom::pg::node
