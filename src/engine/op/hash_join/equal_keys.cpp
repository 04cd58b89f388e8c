#include "engine/op/hash_join/equal_keys.hpp"

namespace strom::engine::op {

void EqualKeysIndex::find(const std::vector<HostColumn>& keys, std::vector<int64_t>* found) const {
  index_rows();
  std::vector<const HostColumn*> columns;
  columns.reserve(keys.size());
  for (const HostColumn& key : keys) columns.push_back(&key);
  const auto [first, last] = rows_by_hash_.equal_range(hash_at(columns, 0));
  for (auto entry = first; entry != last; ++entry) {
    bool equal = true;
    for (size_t i = 0; i < keys.size() && equal; ++i) equal = equal_at(rows_.keys[i], entry->second, keys[i], 0);
    if (equal) found->push_back(entry->second);
  }
}

void EqualKeysIndex::index_rows() const {
  if (!rows_by_hash_.empty()) return;
  for (int64_t row = 0; row < rows_.count; ++row)
    if (!rows_.has_null_key(row)) rows_by_hash_.emplace(rows_.key_hash(row), static_cast<uint32_t>(row));
}

}  // namespace strom::engine::op
