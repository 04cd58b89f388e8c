// PostgreSQL's pruning of partitions while a plan runs. May ereport.
#pragma once

#include <utility>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// Prepares pruning among `leaf_paths` of partitioned table `rel` by `quals`, at the start of a plan and at each
/// rescan. Only the parents of the leaf paths are used. nullptr when nothing could be pruned.
inline PartitionPruneInfo* make_pruning(PlannerInfo* root, RelOptInfo* rel, List* leaf_paths, List* quals) {
  if (!enable_partition_pruning || quals == NIL) return nullptr;
#if PG_VERSION_NUM >= 180000
  const int index = make_partition_pruneinfo(root, rel, leaf_paths, quals);
  return index < 0 ? nullptr : list_nth_node(PartitionPruneInfo, root->partPruneInfos, index);
#else
  return make_partition_pruneinfo(root, rel, leaf_paths, quals);
#endif
}

/// Shifts the range table indexes of `table` to those of the statement's range table.
inline void shift_relids(PartitionedRelPruneInfo* table, int offset) {
  table->rtindex += static_cast<Index>(offset);
#if PG_VERSION_NUM >= 180000
  for (int i = 0; i < table->nparts; ++i)
    if (table->leafpart_rti_map[i] != 0) table->leafpart_rti_map[i] += offset;
#endif
}

/// Begins pruning for `node`, and finds the leaves that remain at the start of the execution. PostgreSQL 18 does the
/// latter for a statement's own nodes before any node begins. So this function does it for `node` alone.
inline PartitionPruneState* begin_pruning(PlanState* node, int leaves, PartitionPruneInfo* pruning, Bitmapset** left) {
#if PG_VERSION_NUM >= 180000
  EState* estate = node->state;
  List* const infos = std::exchange(estate->es_part_prune_infos, list_make1(pruning));
  List* const states = std::exchange(estate->es_part_prune_states, NIL);
  List* const results = std::exchange(estate->es_part_prune_results, NIL);
  ExecDoInitialPruning(estate);
  PartitionPruneState* state = ExecInitPartitionExecPruning(node, leaves, 0, pruning->relids, left);
  estate->es_part_prune_infos = infos;
  estate->es_part_prune_states = states;
  estate->es_part_prune_results = results;
  return state;
#else
  return ExecInitPartitionPruning(node, leaves, pruning, left);
#endif
}

/// The leaves that remain for the current parameters. They are numbered among those that remained at the start.
inline Bitmapset* prune_now(PartitionPruneState* state) {
#if PG_VERSION_NUM >= 180000
  return ExecFindMatchingSubPlans(state, false, nullptr);
#else
  return ExecFindMatchingSubPlans(state, false);
#endif
}

}  // namespace strom::pg::compat
