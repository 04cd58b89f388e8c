// Divides an inner side that exceeds its budget: by the hash of its keys, into parts whose sizes were counted. Used by
// exec/inner_sides.cpp and op/join/join_table.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/block/hash.hpp"

namespace strom::engine::op {

/// Rows whose keys hash to the buckets [first, last] of block::partition_bucket.
struct Partition {
  uint32_t first = 0, last = block::kPartitionBuckets - 1;

  bool is_whole() const { return first == 0 && last == block::kPartitionBuckets - 1; }
  bool contains(uint64_t hash) const { return block::in_buckets(hash, first, last); }
};

/// Bytes of an inner side's rows, by bucket.
class BucketSizes {
 public:
  void add(uint64_t hash, int64_t bytes) {
    bytes_[block::partition_bucket(hash)] += bytes;
    ++rows_;
  }
  int64_t rows() const { return rows_; }

  /// Parts that cover all buckets. Each takes at most `budget` bytes, unless one bucket alone takes more or there would
  /// be more than `most` of them.
  std::vector<Partition> parts(int64_t budget, size_t most) const;

 private:
  std::vector<int64_t> bytes_ = std::vector<int64_t>(block::kPartitionBuckets, 0);
  int64_t rows_ = 0;
};

/// An inner side in parts that fit its budget, and the part that the running pass joins with.
struct InnerPartitions {
  std::vector<Partition> parts{Partition{}};
  size_t at = 0;
  bool measured = false;  // the parts are final
  int64_t rows = 0;       // rows of all parts, once measured

  const Partition& current() const { return parts[at]; }
};

}  // namespace strom::engine::op
