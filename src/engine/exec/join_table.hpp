// The build side of a hash join on the host: collects rows, decides between a direct-address and a hash table, gives
// out group codes. Made by exec/execution.cpp after a build pipeline, read by tile code through block::JoinTable.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "engine/block/tile.hpp"
#include "engine/exec/text_store.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::exec {

/// A column in register layout that owns its values; text stays where it was, in the
/// build's store, or in `texts` when it was added by value.
struct HostColumn {
  registry::Phys phys = registry::Phys::kI32;
  std::vector<uint8_t> values;  // phys_size bytes each
  std::vector<uint8_t> flags;   // empty: no nulls
  int64_t rows = 0;

  void append(const void* from, const uint8_t* from_flags, int64_t count);
  void append_constant(const plan::Constant& value, std::deque<std::string>* texts);
  const void* at(int64_t row) const { return values.data() + row * registry::phys_size(phys); }
  bool is_null(int64_t row) const { return !flags.empty() && (flags[row] & block::kNullFlag); }
  block::TableColumn view() const;
  int64_t memory() const { return static_cast<int64_t>(values.capacity() + flags.capacity()); }
};

/// What the probing pipeline asks of a table.
struct JoinNeeds {
  bool rows = false;                   // build rows: payload is read or the join is not a mere filter
  std::vector<uint32_t> group_columns; // payload ordinals that are grouped by, coded together
};

class JoinBuild {
 public:
  JoinBuild(std::vector<registry::Phys> keys, std::vector<registry::Phys> payload, JoinNeeds needs);

  /// Rows of a finished tile output: key columns first, then payload.
  void append(const std::vector<block::TableColumn>& columns, const std::vector<bool>& has_flags, int64_t rows);
  /// Keeps the texts that appended columns refer to.
  void keep(const TextStore& texts) { stored_texts_.share(texts); }
  void append_row(const std::vector<plan::Constant>& keys, const std::vector<plan::Constant>& payload);

  /// Builds the table; kOverBudget when it would take more than `memory_limit` bytes.
  Status finish(int64_t memory_limit);

  const block::JoinTable& table() const { return table_; }
  int64_t rows() const { return keys_.empty() ? 0 : keys_[0].rows; }
  int64_t memory() const;
  uint32_t code_count() const { return static_cast<uint32_t>(code_rows_.size()); }
  /// Build row that stands for group code `code`.
  uint32_t code_row(uint32_t code) const { return code_rows_[code]; }
  const HostColumn& payload(uint32_t ordinal) const { return payload_[ordinal]; }
  /// Build rows whose key equals `keys`; for rows that are re-checked one by one, on the caller's thread.
  void lookup(const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const;

 private:
  bool plan_direct();
  void build_direct();
  void build_hash();
  void assign_codes();
  uint64_t hash_row(int64_t row) const;
  void index_for_lookup() const;
  bool same_key(int64_t a, int64_t b) const;
  int64_t int_key(int64_t row) const;
  bool null_key(int64_t row) const;

  std::vector<HostColumn> keys_, payload_;
  JoinNeeds needs_;
  std::deque<std::string> texts_;  // texts of rows that were added by value; a deque keeps their addresses
  TextStore stored_texts_;         // texts of the rows that tiles put out
  block::JoinTable table_{};
  std::vector<block::TableColumn> key_views_, payload_views_;
  mutable std::unordered_multimap<uint64_t, uint32_t> lookup_index_;  // hash of the keys -> row; made when first asked
  std::vector<uint32_t> bitmap_, index_, key_codes_, slots_, tags_, next_, codes_, code_rows_;
};

}  // namespace strom::engine::exec
