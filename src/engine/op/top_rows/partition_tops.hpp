// The sort keys of the first rows of each partition that a worker has found so far. Partitions that do not fit its
// memory count all their rows as first ones. Used by op/output/worker_output.cpp only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace strom::engine::op {

class PartitionTops {
 public:
  /// The first sort keys of one partition, in order.
  using SortKeys = std::vector<int64_t>;

  /// `distinct`: rows with equal sort keys count as one.
  PartitionTops(int64_t wanted, bool distinct, int64_t budget)
      : wanted_(static_cast<size_t>(wanted)), distinct_(distinct), budget_(budget) {}

  /// Adds a row of the partition with the bytes `partition`. Returns the partition's sort keys, which stay in place;
  /// nullptr when there is no room.
  const SortKeys* add(std::string_view partition, int64_t key);

  /// True when a row with this sort key is not among the first ones of its partition.
  bool is_behind(const SortKeys* keys, int64_t key) const {
    return keys != nullptr && keys->size() == wanted_ && key > keys->back();
  }

  /// Counts rows that were added and rows that were dropped. False when going on is not worth it.
  bool is_worth_it(int64_t rows, int64_t left_out);

  int64_t memory() const { return memory_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };

  const size_t wanted_;
  const bool distinct_;
  const int64_t budget_;
  int64_t memory_ = 0, rows_ = 0, left_out_ = 0;
  std::unordered_map<std::string, SortKeys, Hash, std::equal_to<>> partitions_;
};

}  // namespace strom::engine::op
