#include "engine/op/top_rows/partition_tops.hpp"

#include <algorithm>

namespace strom::engine::op {

namespace {

constexpr int64_t kOverhead = 128;  // of a partition, besides its key and sort keys
constexpr int64_t kTriedRows = 1 << 16;
constexpr int64_t kWorthwhile = 8;  // at least one row in so many has to be dropped

}  // namespace

const PartitionTops::SortKeys* PartitionTops::add(std::string_view partition, int64_t key) {
  auto found = partitions_.find(partition);
  if (found == partitions_.end()) {
    const int64_t bytes = kOverhead + static_cast<int64_t>(partition.size());
    if (memory_ + bytes > budget_) return nullptr;
    memory_ += bytes;
    found = partitions_.emplace(std::string(partition), SortKeys()).first;
  }
  SortKeys& keys = found->second;
  if (is_behind(&keys, key)) return &keys;
  const auto after = std::upper_bound(keys.begin(), keys.end(), key);
  if (distinct_ && after != keys.begin() && *(after - 1) == key) return &keys;
  const size_t had = keys.capacity();
  keys.insert(after, key);
  if (keys.size() > wanted_) keys.pop_back();
  memory_ += static_cast<int64_t>((keys.capacity() - had) * sizeof(int64_t));
  return &keys;
}

bool PartitionTops::is_worth_it(int64_t rows, int64_t left_out) {
  rows_ += rows;
  left_out_ += left_out;
  return rows_ < kTriedRows || left_out_ * kWorthwhile >= rows_;
}

}  // namespace strom::engine::op
