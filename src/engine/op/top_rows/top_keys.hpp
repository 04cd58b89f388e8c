// The sort keys of the first rows of an order that a worker has found so far. Used by op/output/worker_output.cpp only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace strom::engine::op {

class TopKeys {
 public:
  explicit TopKeys(int64_t wanted) : wanted_(static_cast<size_t>(wanted)) {}

  /// Rows after this sort key are not among the first ones.
  int64_t last() const { return last_; }

  void add(const int64_t* keys, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (keys[i] <= last_) keys_.push_back(keys[i]);
    if (keys_.size() < wanted_) return;
    const auto last = keys_.begin() + static_cast<int64_t>(wanted_) - 1;
    std::nth_element(keys_.begin(), last, keys_.end());
    last_ = *last;
    keys_.resize(wanted_);
  }

 private:
  const size_t wanted_;
  int64_t last_ = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> keys_;
};

}  // namespace strom::engine::op
