// Open addressing with tags, for keys of any kind and number.
#pragma once

#include <vector>

#include "engine/op/hash_join/equal_keys.hpp"

namespace strom::engine::op {

class HashIndex final : public EqualKeysIndex {
 public:
  using EqualKeysIndex::EqualKeysIndex;

  int64_t wanted_memory() const override;
  Status build(const std::vector<uint32_t>& codes, int threads, block::JoinTable* table) override;
  int64_t memory() const override;
  static void add_arrays(const block::JoinTable& table, std::vector<TableArray>* arrays);

  double probe_cost() const override { return 0.5; }
  int write_candidates(JoinWriter* writer, size_t position, int rows) const override;

 private:
  void put(int64_t row, uint64_t hash, uint64_t slot_mask);

  std::vector<uint32_t> slots_, tags_;
  std::vector<uint64_t> filter_;
};

}  // namespace strom::engine::op
