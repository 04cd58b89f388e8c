#include "engine/op/join/inner_partitions.hpp"

#include <algorithm>
#include <numeric>

namespace strom::engine::op {

std::vector<Partition> BucketSizes::parts(int64_t budget, size_t most) const {
  const int64_t all = std::accumulate(bytes_.begin(), bytes_.end(), int64_t{0});
  int64_t limit = std::max(budget, all / static_cast<int64_t>(most));
  for (;; limit += limit / 4 + 1) {
    std::vector<Partition> parts;
    uint32_t first = 0;
    int64_t filled = 0;
    for (uint32_t bucket = 0; bucket < block::kPartitionBuckets; ++bucket) {
      if (filled > 0 && bytes_[bucket] > 0 && filled + bytes_[bucket] > limit) {
        parts.push_back({first, bucket - 1});
        first = bucket;
        filled = 0;
      }
      filled += bytes_[bucket];
    }
    parts.push_back({first, block::kPartitionBuckets - 1});
    if (parts.size() <= most) return parts;
  }
}

}  // namespace strom::engine::op
