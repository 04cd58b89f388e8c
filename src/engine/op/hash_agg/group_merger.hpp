// Merges the groups of a pipeline's workers: tables that are flushed before the end, in parts by hash, and all tables
// at the end. Used by exec/pipeline_run.hpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "engine/op/hash_agg/group_table.hpp"

namespace strom::engine::op {

/// Sums of floats, and which of two equal values stays, depend on the order in which tables are merged. With lanes,
/// that order follows the source's rows: flushed tables are merged in the order of the morsels that filled them, and at
/// the end the lanes' own tables in turn. Without lanes, a table is merged when it comes.
class GroupMerger {
 public:
  using Push = std::function<void(std::shared_ptr<const ResultBatch>)>;
  /// `budget`: bytes of all parts. `lanes`: 0 for no lanes.
  GroupMerger(const plan::Program& program, uint32_t pipeline, const Assembly& assembly, int64_t budget, size_t lanes,
              Push push);

  /// Takes a table that a worker flushes while it runs morsel `number`. Returns an empty table for reuse, or nullptr.
  /// Any thread.
  std::unique_ptr<HostGroupTable> take(std::unique_ptr<HostGroupTable> groups, int64_t number);
  /// With lanes: tells that morsel `number` has been run. Any thread.
  void end_morsel(int64_t number);

  /// Called after all morsels. Pushes the remaining groups, merged into as few batches as the budget allows. False, and
  /// nothing is pushed, when `ties_matter` and two values met that are equal but not the same.
  bool finish(const std::vector<HostGroupTable*>& workers, bool ties_matter);

  /// True when some group is in more than one batch.
  bool has_partial_groups() const { return has_partial_groups_; }
  int64_t flushes() const { return flushes_; }
  int64_t peak_memory() const { return peak_; }

 private:
  /// A part that merges tables. It leaves as partial groups when all parts exceed the budget.
  struct HashPart {
    std::mutex mutex;
    std::unique_ptr<HostGroupTable> table;
    int64_t bytes = 0;
    size_t next = 0;  // of due_
  };
  /// A table whose turn has come.
  struct Due {
    std::unique_ptr<HostGroupTable> table;
    uint64_t parts_left = HostGroupTable::kParts;
  };

  bool has_parts() const;
  bool are_shared(const HostGroupTable& groups) const;
  void merge_due();
  HostGroupTable* due_at(size_t place);
  void drop_due(size_t place);
  void absorb(const HostGroupTable& groups, uint64_t part);
  bool is_over_budget(const HashPart& part, int64_t all) const;
  void push_partial(const HostGroupTable& groups);
  void push_groups(const HostGroupTable& groups);
  bool finish_parts(const std::vector<HostGroupTable*>& workers, bool ties_matter);

  const plan::Program& program_;
  const plan::Pipeline& pipeline_;
  const Assembly& assembly_;
  const int64_t budget_;
  const Push push_;
  std::array<HashPart, HostGroupTable::kParts> parts_;
  std::atomic<int64_t> bytes_{0}, peak_{0}, flushes_{0};
  std::atomic<bool> has_partial_groups_{false};
  // With lanes.
  const size_t lanes_;
  std::mutex order_mutex_;
  int64_t first_left_ = 0;                                           // all earlier morsels have been run
  std::set<int64_t> run_;                                            // later morsels that have been run
  std::multimap<int64_t, std::unique_ptr<HostGroupTable>> waiting_;  // by the number of their morsel
  std::deque<Due> due_;
  std::vector<std::unique_ptr<HostGroupTable>> done_;
};

}  // namespace strom::engine::op
