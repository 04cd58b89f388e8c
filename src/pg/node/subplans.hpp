// Rows of PostgreSQL plans that pipelines read: of a child plan, or of the sub-query of an IN. They are collected right
// before the engine reads them. Used by SourceSet. C++ code: throws StatusError and PostgresError.
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

  /// Makes rows() of `pipeline`, which stays empty until collect() is called.
  void prepare(size_t pipeline);
  /// Runs the plan of `pipeline`, unless its rows are still there.
  void collect(size_t pipeline);
  bool is_collected(size_t pipeline) const { return collected_[pipeline].is_there; }
  /// True if the plan may raise an error.
  bool can_fail(size_t pipeline) const;
  /// The collected rows; nullptr before prepare().
  source::CollectedRows* rows(size_t pipeline) const { return collected_[pipeline].rows.get(); }
  /// The value of a parameter of MembershipParam.
  struct Fact {
    int param;
    bool value;
  };
  bool is_fact(int param) const;
  /// The parameters that follow from the rows of `pipeline`, which have been collected.
  std::vector<Fact> facts(size_t pipeline) const;
  /// Drops rows that may be out of date. `keep_children`: for each child plan whether its rows are still valid.
  void restart(const std::vector<bool>& keep_children);

 private:
  struct Collected {
    std::unique_ptr<source::CollectedRows> rows;
    bool is_there = false;  // all rows are collected
    int64_t count = 0;
    bool has_null = false;  // the first column has a NULL
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
