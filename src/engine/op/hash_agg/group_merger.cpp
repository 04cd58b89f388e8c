#include "engine/op/hash_agg/group_merger.hpp"

#include <algorithm>
#include <utility>

namespace strom::engine::op {

namespace {

constexpr uint32_t kGroupsWorthMerging = 1024;
/// With less memory, the first tables of the parts would take all of it.
constexpr int64_t kLeastSharedBudget = 4 << 20;

}  // namespace

GroupMerger::GroupMerger(const plan::Program& program, uint32_t pipeline, const Assembly& assembly, int64_t budget,
                         size_t lanes, Push push)
    : program_(program),
      pipeline_(program.pipelines[pipeline]),
      assembly_(assembly),
      budget_(budget),
      push_(std::move(push)),
      lanes_(lanes) {}

// ---- tables that are flushed ----

std::unique_ptr<HostGroupTable> GroupMerger::take(std::unique_ptr<HostGroupTable> groups, int64_t number) {
  ++flushes_;
  if (lanes_ == 0) {
    if (!are_shared(*groups)) push_partial(*groups);
    for (uint64_t part = 0; are_shared(*groups) && part < HostGroupTable::kParts; ++part) absorb(*groups, part);
    groups->reset();
    return groups;
  }
  {
    std::lock_guard lock(order_mutex_);
    waiting_.emplace(number, std::move(groups));
  }
  merge_due();
  std::lock_guard lock(order_mutex_);
  if (done_.empty()) return nullptr;
  std::unique_ptr<HostGroupTable> empty = std::move(done_.back());
  done_.pop_back();
  return empty;
}

void GroupMerger::end_morsel(int64_t number) {
  bool has_waiting;
  {
    std::lock_guard lock(order_mutex_);
    run_.insert(number);
    for (; !run_.empty() && *run_.begin() == first_left_; ++first_left_) run_.erase(run_.begin());
    has_waiting = !waiting_.empty();
  }
  if (has_waiting) merge_due();
}

bool GroupMerger::are_shared(const HostGroupTable& groups) const {
  return groups.has_keys() && budget_ >= kLeastSharedBudget;
}

/// Merges the tables that no table of an earlier morsel can precede any more. Each part takes them one after another,
/// and different parts work at the same time.
void GroupMerger::merge_due() {
  {
    std::lock_guard lock(order_mutex_);
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first <= first_left_;
         first = waiting_.erase(first))
      due_.push_back({std::move(first->second)});
  }
  for (uint64_t number = 0; number < HostGroupTable::kParts; ++number) {
    HashPart& part = parts_[number];
    std::lock_guard lock(part.mutex);
    for (; HostGroupTable* groups = due_at(part.next); ++part.next) {
      if (are_shared(*groups))
        absorb(*groups, number);
      else if (number == 0)
        push_partial(*groups);
      drop_due(part.next);
    }
  }
}

HostGroupTable* GroupMerger::due_at(size_t place) {
  std::lock_guard lock(order_mutex_);
  return place < due_.size() ? due_[place].table.get() : nullptr;
}

void GroupMerger::drop_due(size_t place) {
  std::unique_ptr<HostGroupTable> table;
  {
    std::lock_guard lock(order_mutex_);
    if (--due_[place].parts_left > 0) return;
    table = std::move(due_[place].table);
    if (done_.size() >= lanes_) return;
  }
  table->reset();
  std::lock_guard lock(order_mutex_);
  done_.push_back(std::move(table));
}

/// With lanes, the caller holds the part's lock.
void GroupMerger::absorb(const HostGroupTable& groups, uint64_t number) {
  HashPart& part = parts_[number];
  std::unique_lock lock(part.mutex, std::defer_lock);
  if (lanes_ == 0) lock.lock();
  if (!part.table) part.table = std::make_unique<HostGroupTable>(assembly_);
  const int64_t before = part.bytes;
  part.table->absorb(groups, number);
  part.bytes = part.table->memory();
  const int64_t all = bytes_.fetch_add(part.bytes - before) + part.bytes - before;
  if (all > peak_.load()) peak_.store(all);
  if (!is_over_budget(part, all)) return;
  push_partial(*part.table);
  part.table.reset();
  bytes_.fetch_sub(part.bytes);
  part.bytes = 0;
}

/// With lanes, only the part's own size counts: the size of the others depends on time.
bool GroupMerger::is_over_budget(const HashPart& part, int64_t all) const {
  if (lanes_ == 0) return all > budget_;
  return part.bytes > budget_ / static_cast<int64_t>(HostGroupTable::kParts);
}

/// Pushes groups that can come again in other batches.
void GroupMerger::push_partial(const HostGroupTable& groups) {
  has_partial_groups_ = true;
  push_(groups.emit(program_, pipeline_));
}

// ---- the end ----

bool GroupMerger::has_parts() const {
  return std::any_of(parts_.begin(), parts_.end(), [](const HashPart& part) { return part.table != nullptr; });
}

bool GroupMerger::finish(const std::vector<HostGroupTable*>& workers, bool ties_matter) {
  first_left_ = INT64_MAX;
  if (!waiting_.empty()) merge_due();
  if (workers.empty()) return true;
  if (has_parts()) return finish_parts(workers, ties_matter);
  HostGroupTable& target = *workers[0];
  for (size_t i = 1; i < workers.size(); ++i) {
    HostGroupTable& other = *workers[i];
    const int64_t growth = target.growth_by(other);
    if (growth > 0 && target.memory() + growth > budget_)
      push_partial(other);
    else
      target.merge(other);
  }
  if (ties_matter && target.has_ties() && !has_partial_groups_) return false;
  if (!target.empty()) push_groups(target);
  return true;
}

bool GroupMerger::finish_parts(const std::vector<HostGroupTable*>& workers, bool ties_matter) {
  bool has_ties = false;
  for (uint64_t number = 0; number < HostGroupTable::kParts; ++number) {
    for (const HostGroupTable* groups : workers) absorb(*groups, number);
    has_ties = has_ties || (parts_[number].table && parts_[number].table->has_ties());
    if (ties_matter || assembly_.ordered_groups || !parts_[number].table) continue;
    if (!parts_[number].table->empty()) push_groups(*parts_[number].table);
    parts_[number].table.reset();
  }
  if (ties_matter && has_ties && !has_partial_groups_) return false;
  std::unique_ptr<HostGroupTable> all;
  for (HashPart& part : parts_) {
    if (!part.table) continue;
    if (!assembly_.ordered_groups) {
      if (!part.table->empty()) push_groups(*part.table);
    } else if (!all) {
      all = std::move(part.table);
    } else {
      all->merge(*part.table);
    }
    part.table.reset();
  }
  if (all && !all->empty()) push_groups(*all);
  return true;
}

/// Pushes many groups merged by each grouping set. Few groups are merged faster by the receiver.
void GroupMerger::push_groups(const HostGroupTable& groups) {
  if (pipeline_.grouping_sets.empty() || !groups.has_keys() || groups.count() < kGroupsWorthMerging) {
    push_(groups.emit(program_, pipeline_));
    return;
  }
  for (size_t i = 0; i < pipeline_.grouping_sets.size(); ++i) {
    HostGroupTable merged(assembly_);
    merged.merge_by(groups, pipeline_.grouping_sets[i]);
    auto batch = merged.emit(program_, pipeline_);
    batch->grouping_set = static_cast<int>(i);
    push_(std::move(batch));
  }
}

}  // namespace strom::engine::op
