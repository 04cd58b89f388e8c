// Rows of PostgreSQL's plans that pipelines read: a child plan's, or those of the sub-query of an IN. They are
// collected right before the engine reads them. Used by SourceSet. C++ code: throws StatusError and PostgresError.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"
#include "pg/source/collected_rows.hpp"

namespace strom::pg::node {

class Subplans {
 public:
  Subplans(CustomScanState* state, const PlanSpec& plan);

  /// rows() has a place for what `pipeline` reads, which is empty until collect() is called.
  void prepare(size_t pipeline);
  /// Runs the plan that `pipeline` reads, unless its rows are still there.
  void collect(size_t pipeline);
  bool is_collected(size_t pipeline) const { return collected_[pipeline].is_there; }
  /// The plan may raise an error.
  bool can_fail(size_t pipeline) const;
  /// Rows that were collected; nullptr before prepare().
  source::CollectedRows* rows(size_t pipeline) const { return collected_[pipeline].rows.get(); }
  /// A parameter of the plan that MembershipParam names, and its value.
  struct Fact {
    int param;
    bool value;
  };
  bool is_fact(int param) const;
  /// Those that the rows of `pipeline` tell, which have been collected.
  std::vector<Fact> facts(size_t pipeline) const;
  /// Forgets rows that may not be right any more. `keep_children`: for each child plan, its rows are.
  void restart(const std::vector<bool>& keep_children);

 private:
  struct Collected {
    std::unique_ptr<source::CollectedRows> rows;
    bool is_there = false;  // all of them
    int64_t count = 0;
    bool has_null = false;  // in the first column
  };
  PlanState* subplan_state(size_t pipeline) const;
  PlanState* child_state(size_t pipeline) const;
  void collect_subplan(size_t pipeline);
  void run(size_t pipeline, PlanState* plan);

  CustomScanState* state_;
  const PlanSpec& plan_;
  std::vector<Collected> collected_;  // for each pipeline
};

}  // namespace strom::pg::node
