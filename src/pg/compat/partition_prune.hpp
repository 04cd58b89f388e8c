// PostgreSQL's pruning of partitions while a plan runs. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// PostgreSQL 18 prunes before any node starts, by indexes that only its own nodes can have.
inline constexpr bool kNodesPrune = PG_VERSION_NUM < 180000;

/// How to choose among `leaf_paths`, of each of which only the parent is looked at, by `quals` on partitioned table
/// `rel` when a plan starts or is rescanned; nullptr when nothing would be chosen there.
inline PartitionPruneInfo* make_pruning(PlannerInfo* root, RelOptInfo* rel, List* leaf_paths, List* quals) {
  if (!enable_partition_pruning || quals == NIL) return nullptr;
#if PG_VERSION_NUM >= 180000
  const int index = make_partition_pruneinfo(root, rel, leaf_paths, quals);
  return index < 0 ? nullptr : list_nth_node(PartitionPruneInfo, root->partPruneInfos, index);
#else
  return make_partition_pruneinfo(root, rel, leaf_paths, quals);
#endif
}

/// Begins pruning for `node`, and finds the leaves that are left at the start of the execution.
inline PartitionPruneState* begin_pruning([[maybe_unused]] PlanState* node, [[maybe_unused]] int leaves,
                                          [[maybe_unused]] PartitionPruneInfo* pruning,
                                          [[maybe_unused]] Bitmapset** left) {
#if PG_VERSION_NUM >= 180000
  return nullptr;
#else
  return ExecInitPartitionPruning(node, leaves, pruning, left);
#endif
}

/// The leaves that are left for the present parameters, counted among those that were left at the start.
inline Bitmapset* prune_now(PartitionPruneState* state) {
#if PG_VERSION_NUM >= 180000
  return ExecFindMatchingSubPlans(state, false, nullptr);
#else
  return ExecFindMatchingSubPlans(state, false);
#endif
}

}  // namespace strom::pg::compat
