// An index over the polygons of the build rows, for joins by where points lie in them. See geo/cell_index.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "base/large_allocator.hpp"
#include "engine/op/join/join_index.hpp"
#include "geo/cell_index.hpp"

namespace strom::engine::op {

class SpatialIndex final : public JoinIndex {
 public:
  using JoinIndex::JoinIndex;

  int64_t wanted_memory() const override;
  Status build(const std::vector<uint32_t>& codes, int threads, block::JoinTable* table) override;
  int64_t memory() const override { return static_cast<int64_t>(image_.capacity() * sizeof(uint64_t)); }
  void find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const override;
  static void add_arrays(const block::JoinTable& table, std::vector<TableArray>* arrays);
  /// Uses an image that somebody else owns.
  void adopt(const char* cells) { cells_ = cells; }

  double probe_cost() const override { return 1; }
  /// Whether there are more candidates.
  std::optional<registry::Phys> more_phys() const override { return registry::Phys::kBool; }
  int write_candidates(JoinWriter* writer, size_t position, int rows) const override;
  int write_following(JoinWriter* writer, size_t position, int rows) const override;

 private:
  bool find_in_box(const geo::Box& box, std::set<uint32_t>* rows) const;

  base::LargeVector<uint64_t> image_;
  const char* cells_ = nullptr;
};

}  // namespace strom::engine::op
