#include "engine/exec/partition_tops.hpp"

#include <algorithm>

namespace strom::engine::exec {

namespace {

constexpr int64_t kOverhead = 128;  // of a partition, besides its key and places
constexpr int64_t kTriedRows = 1 << 16;
constexpr int64_t kWorthwhile = 8;  // one row of so many has to be left out

}  // namespace

const PartitionTops::Places* PartitionTops::add(std::string_view key, int64_t place) {
  auto found = partitions_.find(key);
  if (found == partitions_.end()) {
    const int64_t bytes = kOverhead + static_cast<int64_t>(key.size());
    if (memory_ + bytes > budget_) return nullptr;
    memory_ += bytes;
    found = partitions_.emplace(std::string(key), Places()).first;
  }
  Places& places = found->second;
  if (is_behind(&places, place)) return &places;
  const auto after = std::upper_bound(places.begin(), places.end(), place);
  if (distinct_ && after != places.begin() && *(after - 1) == place) return &places;
  const size_t had = places.capacity();
  places.insert(after, place);
  if (places.size() > wanted_) places.pop_back();
  memory_ += static_cast<int64_t>((places.capacity() - had) * sizeof(int64_t));
  return &places;
}

bool PartitionTops::is_worth_it(int64_t rows, int64_t left_out) {
  rows_ += rows;
  left_out_ += left_out;
  return rows_ < kTriedRows || left_out_ * kWorthwhile >= rows_;
}

}  // namespace strom::engine::exec
