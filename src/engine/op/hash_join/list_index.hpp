// No index: a join without keys tries every build row. Each row leads to the next one.
#pragma once

#include <vector>

#include "engine/op/join/join_index.hpp"

namespace strom::engine::op {

class ListIndex final : public JoinIndex {
 public:
  using JoinIndex::JoinIndex;

  int64_t wanted_memory() const override { return rows_.count * 4; }
  Status build(const std::vector<uint32_t>& codes, int threads, block::JoinTable* table) override;
  int64_t memory() const override { return static_cast<int64_t>(next_.capacity() * sizeof(uint32_t)); }
  void find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const override;

  double probe_cost() const override { return 2.5; }
  int write_candidates(JoinWriter* writer, size_t position, int rows) const override;

 private:
  std::vector<uint32_t> next_;
};

}  // namespace strom::engine::op
