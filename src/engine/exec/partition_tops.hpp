// The places of the first rows of each partition that a worker has found so far, as far as its memory goes: rows of
// partitions that it does not know count as first ones. Used by exec/worker_output.cpp only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace strom::engine::exec {

class PartitionTops {
 public:
  /// The first places of one partition, in order.
  using Places = std::vector<int64_t>;

  /// `distinct`: rows with equal places count as one.
  PartitionTops(int64_t wanted, bool distinct, int64_t budget)
      : wanted_(static_cast<size_t>(wanted)), distinct_(distinct), budget_(budget) {}

  /// Adds a row of the partition with the bytes `key`. Its places, which stay where they are; nullptr when there is no
  /// room.
  const Places* add(std::string_view key, int64_t place);

  /// Rows behind this place are not among the first ones of their partition.
  bool is_behind(const Places* places, int64_t place) const {
    return places != nullptr && places->size() == wanted_ && place > places->back();
  }

  /// Counts rows that were added and those that were left out. False when it is not worth going on.
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
  std::unordered_map<std::string, Places, Hash, std::equal_to<>> partitions_;
};

}  // namespace strom::engine::exec
