// Which partitions or inheritance children of one source are read: those of the plan, less what PostgreSQL's run-time
// pruning leaves out when the execution starts and before each scan. Used by QueryRun and EXPLAIN. May throw.
#pragma once

#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"

namespace strom::pg::node {

class Partitions {
 public:
  /// Evaluates what is known when the execution starts: parameters of the statement, stable functions.
  Partitions(CustomScanState* state, const PlanSpec& plan, const PipelineSpec& source);

  /// Leaves for a scan with the present parameters, ascending: indexes into PipelineSpec::leaves.
  std::vector<size_t> choose();

  /// Leaves that the execution may read.
  const std::vector<size_t>& left() const { return left_; }
  /// Further ones are left out before each scan.
  bool prunes_scans() const { return pruning_ != nullptr && pruning_->do_exec_prune; }
  /// Leaves that were read by at least one scan.
  size_t read_count() const;

 private:
  CustomScanState* state_;
  PartitionPruneState* pruning_ = nullptr;
  std::vector<size_t> left_;
  std::vector<bool> was_read_;
};

}  // namespace strom::pg::node
