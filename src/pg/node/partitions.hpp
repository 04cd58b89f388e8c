// The partitions or inheritance children of one source that are read: those of the plan, minus those that PostgreSQL's
// run-time pruning rules out when the execution starts and before each scan. Used by QueryRun and EXPLAIN. May throw.
#pragma once

#include <vector>

#include "pg/boundary/postgres.hpp"
#include "pg/node/plan_spec.hpp"

namespace strom::pg::node {

class Partitions {
 public:
  /// Prunes by what is known when the execution starts: parameters of the statement, stable functions.
  Partitions(CustomScanState* state, const PlanSpec& plan, const PipelineSpec& source);

  /// The leaves for a scan with the current parameters, in ascending order, as indexes into PipelineSpec::leaves.
  std::vector<size_t> choose();

  /// The leaves that the execution may read.
  const std::vector<size_t>& left() const { return left_; }
  /// True if further leaves are pruned before each scan.
  bool prunes_scans() const { return pruning_ != nullptr && pruning_->do_exec_prune; }
  /// The number of leaves that at least one scan has read.
  size_t read_count() const;

 private:
  CustomScanState* state_;
  PartitionPruneState* pruning_ = nullptr;
  std::vector<size_t> left_;
  std::vector<bool> was_read_;
};

}  // namespace strom::pg::node
