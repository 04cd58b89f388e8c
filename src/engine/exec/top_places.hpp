// The places of the first rows of an order that a worker has found so far. Used by exec/worker_output.cpp only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace strom::engine::exec {

class TopPlaces {
 public:
  explicit TopPlaces(int64_t wanted) : wanted_(static_cast<size_t>(wanted)) {}

  /// Rows behind this place are not among the first ones.
  int64_t last() const { return last_; }

  void add(const int64_t* places, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      if (places[i] <= last_) places_.push_back(places[i]);
    if (places_.size() < wanted_) return;
    const auto last = places_.begin() + static_cast<int64_t>(wanted_) - 1;
    std::nth_element(places_.begin(), last, places_.end());
    last_ = *last;
    places_.resize(wanted_);
  }

 private:
  const size_t wanted_;
  int64_t last_ = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> places_;
};

}  // namespace strom::engine::exec
