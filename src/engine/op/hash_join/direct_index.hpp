// A direct-address table: an entry for each integer between the lowest and the highest key. A bitmap decides which rows
// match; build rows and group codes are looked up for the rows that are left.
#pragma once

#include <optional>
#include <vector>

#include "engine/op/hash_join/equal_keys.hpp"

namespace strom::engine::op {

/// The entries of a direct-address table.
struct KeyEntries {
  int64_t lowest = 0;  // key of the first one
  uint64_t count = 0;
};

/// Nothing when the keys of the rows are not dense integers.
std::optional<KeyEntries> dense_entries(const JoinRows& rows);

class DirectIndex final : public EqualKeysIndex {
 public:
  DirectIndex(const JoinRows& rows, const JoinNeeds& needs, KeyEntries entries)
      : EqualKeysIndex(rows, needs), entries_(entries) {}

  int64_t wanted_memory() const override;
  Status build(const std::vector<uint32_t>& codes, int threads, block::JoinTable* table) override;
  int64_t memory() const override;
  static void add_arrays(const block::JoinTable& table, std::vector<TableArray>* arrays);

  double probe_cost() const override { return 0; }
  int write_candidates(JoinWriter* writer, size_t position, int rows) const override;
  bool has_test() const override { return true; }
  int write_test(JoinWriter* writer, size_t position) const override;
  int write_row(JoinWriter* writer, size_t position) const override;
  int write_code(JoinWriter* writer, size_t position) const override;

 private:
  uint64_t entry_of(int64_t row) const;
  bool fill_bitmap();

  const KeyEntries entries_;
  std::vector<uint32_t> bitmap_, index_, key_codes_;
};

}  // namespace strom::engine::op
