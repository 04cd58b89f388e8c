// What the indexes over equal keys share: chains of rows with the same key, and lookups on the host. Base of
// DirectIndex and HashIndex.
#pragma once

#include <unordered_map>
#include <vector>

#include "engine/op/join/join_index.hpp"

namespace strom::engine::op {

class EqualKeysIndex : public JoinIndex {
 public:
  using JoinIndex::JoinIndex;
  void find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const override;

 protected:
  std::vector<uint32_t> next_;  // row -> next row with its key; empty: no row has a next one

 private:
  void index_rows() const;
  mutable std::unordered_multimap<uint64_t, uint32_t> rows_by_hash_;  // made when first needed
};

inline const uint32_t* array_or_null(const std::vector<uint32_t>& array) {
  return array.empty() ? nullptr : array.data();
}
inline int64_t array_bytes(const std::vector<uint32_t>& array) {
  return static_cast<int64_t>(array.capacity() * sizeof(uint32_t));
}

}  // namespace strom::engine::op
