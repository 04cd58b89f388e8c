#include "pg/node/partitions.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/compat/partition_prune.hpp"

namespace strom::pg::node {

using boundary::guard;

namespace {

/// A copy with the range table indexes of run time. May ereport.
PartitionPruneInfo* at_run_time(const PartitionPruneInfo* planned, int offset) {
  auto* pruning = static_cast<PartitionPruneInfo*>(copyObjectImpl(planned));
  ListCell *hierarchy, *table;
  foreach (hierarchy, pruning->prune_infos)
    foreach (table, static_cast<List*>(lfirst(hierarchy)))
      compat::shift_relids(static_cast<PartitionedRelPruneInfo*>(lfirst(table)), offset);
  return pruning;
}

std::vector<size_t> members(const Bitmapset* set) {
  std::vector<size_t> result;
  for (int member = -1; (member = bms_next_member(set, member)) >= 0;) result.push_back(static_cast<size_t>(member));
  return result;
}

}  // namespace

Partitions::Partitions(CustomScanState* state, const PlanSpec& plan, const PipelineSpec& source)
    : state_(state), was_read_(source.leaves.size()) {
  for (size_t i = 0; i < source.leaves.size(); ++i) left_.push_back(i);
  if (source.pruning == nullptr) return;
  const int offset = plan.relid_offset;
  const int count = static_cast<int>(source.leaves.size());
  Bitmapset* left = nullptr;
  pruning_ = guard([&] {
    PlanState* node = &state->ss.ps;
    MemoryContext caller = MemoryContextSwitchTo(node->state->es_query_cxt);
    // PostgreSQL gives the node a new expression context here. The node's own expressions are compiled for the old one,
    // so it is restored.
    ExprContext* context = node->ps_ExprContext;
    PartitionPruneState* pruning = compat::begin_pruning(node, count, at_run_time(source.pruning, offset), &left);
    node->ps_ExprContext = context;
    MemoryContextSwitchTo(caller);
    return pruning;
  });
  if (pruning_ != nullptr) left_ = members(left);
}

std::vector<size_t> Partitions::choose() {
  std::vector<size_t> chosen = left_;
  if (prunes_scans()) {
    PartitionPruneState* pruning = pruning_;
    MemoryContext memory = state_->ss.ps.ps_ExprContext->ecxt_per_tuple_memory;
    const Bitmapset* set = guard([=] {
      MemoryContext caller = MemoryContextSwitchTo(memory);
      const Bitmapset* found = compat::prune_now(pruning);
      MemoryContextSwitchTo(caller);
      return found;
    });
    chosen.clear();
    for (const size_t member : members(set)) chosen.push_back(left_[member]);
  }
  for (const size_t leaf : chosen) was_read_[leaf] = true;
  return chosen;
}

size_t Partitions::read_count() const {
  return static_cast<size_t>(std::count(was_read_.begin(), was_read_.end(), true));
}

}  // namespace strom::pg::node
