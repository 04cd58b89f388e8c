// A tree over the points or boxes of the build rows, for joins by distance and by overlapping boxes. See
// geo/packed_tree.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/op/join/join_index.hpp"
#include "geo/build_packed_tree.hpp"

namespace strom::engine::op {

class SpatialKeys;

class TreeIndex final : public JoinIndex {
 public:
  using JoinIndex::JoinIndex;

  int64_t wanted_memory() const override { return geo::tree_index_memory(rows_.count); }
  Status build(const std::vector<uint32_t>& codes, int threads, block::JoinTable* table) override;
  int64_t memory() const override { return static_cast<int64_t>(image_.capacity() * sizeof(uint64_t)); }
  void find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const override;
  static void add_arrays(const block::JoinTable& table, std::vector<TableArray>* arrays);
  /// Uses an image that somebody else owns.
  void adopt(const char* image) { bytes_ = image; }

  double probe_cost() const override { return 1.5; }
  /// The found item.
  std::optional<registry::Phys> more_phys() const override { return registry::Phys::kI32; }
  int write_candidates(JoinWriter* writer, size_t position, int rows) const override;
  int write_following(JoinWriter* writer, size_t position, int rows) const override;

 private:
  bool by_distance() const { return needs_.spatial == plan::SpatialMatch::kNear; }
  void add(const SpatialKeys& keys, int64_t row, geo::TreeInput* input) const;
  bool find_in_box(const SpatialKeys& keys, std::vector<int64_t>* found) const;

  base::LargeVector<uint64_t> image_;
  const char* bytes_ = nullptr;
};

}  // namespace strom::engine::op
