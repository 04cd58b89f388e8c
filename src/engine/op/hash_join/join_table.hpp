// The build side of a join on the host: collects rows, decides between a direct-address and a hash table, gives
// out group codes. Made by exec/execution.cpp after a build pipeline, read by tile code through block::JoinTable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "engine/block/tile.hpp"
#include "engine/op/hash_join/inner_partitions.hpp"
#include "engine/op/scan/key_range.hpp"
#include "engine/op/output/text_store.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::exec {

/// A column in register layout that owns its values, or one of a cached image; text stays where it was, or is in
/// the build's store.
struct HostColumn {
  registry::Phys phys = registry::Phys::kI32;
  std::vector<uint8_t> values;  // phys_size bytes each
  std::vector<uint8_t> flags;   // empty: no nulls
  int64_t rows = 0;
  block::TableColumn cached{};  // with data: instead of the values and flags above

  void append(const void* from, const uint8_t* from_flags, int64_t count);
  void append_constant(const plan::Constant& value, TextStore* texts);
  void clear();
  const uint8_t* data() const {
    return cached.data != nullptr ? static_cast<const uint8_t*>(cached.data) : values.data();
  }
  const void* at(int64_t row) const { return data() + row * registry::phys_size(phys); }
  bool is_null(int64_t row) const {
    const uint8_t* of = cached.data != nullptr ? cached.flags : flags.empty() ? nullptr : flags.data();
    return of != nullptr && (of[row] & block::kNullFlag);
  }
  /// Some value is none that the engine holds.
  bool has_errors() const;
  block::TableColumn view() const;
  int64_t memory() const { return static_cast<int64_t>(values.capacity() + flags.capacity()); }
};

/// What the probing pipeline asks of a table.
struct JoinNeeds {
  bool any_match = false;               // one row of each key is enough
  bool matches = false;                 // which build rows have had a match; all rows are kept
  bool rows = false;                    // build rows: payload is read or the join is not a mere filter
  std::vector<uint32_t> group_columns;  // payload ordinals that are grouped by, coded together
};

struct JoinImage;
class CachedJoin;

class JoinBuild {
 public:
  JoinBuild(std::vector<registry::Phys> keys, std::vector<registry::Phys> payload, JoinNeeds needs,
            Partition partition);

  /// The table that `image` holds, which stays as long as `cached`.
  JoinBuild(std::vector<registry::Phys> keys, std::vector<registry::Phys> payload, JoinNeeds needs, JoinImage image,
            std::shared_ptr<CachedJoin> cached);

  /// Rows of a finished tile output: key columns first, then payload. `texts` owns the texts of the `owned` columns.
  void append(const std::vector<block::TableColumn>& columns, const std::vector<bool>& has_flags, int64_t rows,
              const TextStore& texts, const std::vector<bool>& owned);
  void append_row(const std::vector<plan::Constant>& keys, const std::vector<plan::Constant>& payload);

  /// Whether the table, once built of the rows so far, takes at most `memory_limit` bytes.
  bool fits(int64_t memory_limit) const { return memory() + table_memory(memory_limit) <= memory_limit; }
  /// From now on, rows are not kept but measured, those that are there included.
  void measure();
  /// What the rows take; nullptr when they are kept.
  const BucketSizes* sizes() const { return sizes_.get(); }
  Partition partition() const { return partition_; }
  /// Texts that rows refer to.
  const TextStore& texts() const { return texts_; }
  /// Whether a row with these keys belongs to the table's partition.
  bool is_in_partition(const std::vector<plan::Constant>& keys) const;

  /// Builds the table, of a kind that takes at most `memory_limit` bytes if there is one.
  Status finish(int64_t memory_limit);

  /// A row of the built table has a match; also while threads probe it.
  void mark_matched(int64_t row) {
    __atomic_store_n(&matched_[static_cast<size_t>(row)], uint8_t{1}, __ATOMIC_RELAXED);
  }

  /// Rows with the key of a row that has a match have one, too. No thread probes the table.
  void mark_same_keys();

  /// The finished table is `cached`'s, from which devices may take it.
  void set_cached(std::shared_ptr<CachedJoin> cached) { cached_ = std::move(cached); }
  /// nullptr: devices get copies that they do not cache.
  CachedJoin* cached() const { return cached_.get(); }

  const block::JoinTable& table() const { return table_; }
  int64_t rows() const { return rows_; }
  int64_t memory() const;
  uint32_t code_count() const { return static_cast<uint32_t>(code_rows_.size()); }
  /// Whether rows have group codes: not when a grouped value is none that the engine holds.
  bool is_coded() const { return !needs_.group_columns.empty(); }
  /// Build row that stands for group code `code`.
  uint32_t code_row(uint32_t code) const { return code_rows_[code]; }
  const std::vector<uint32_t>& code_rows() const { return code_rows_; }
  size_t key_count() const { return keys_.size(); }
  size_t payload_count() const { return payload_.size(); }
  const HostColumn& key(size_t ordinal) const { return keys_[ordinal]; }
  const HostColumn& payload(uint32_t ordinal) const { return payload_[ordinal]; }
  /// Values of the key at place `key`; nullopt when it has no integer register or a value is not held.
  std::optional<KeyRange> key_range(size_t key) const;
  /// Build rows whose key equals `keys`, all rows when there are no keys; for rows that are re-checked one by one, on
  /// the caller's thread.
  void lookup(const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const;

 private:
  std::optional<uint64_t> direct_range(int64_t* lowest) const;
  int64_t direct_memory(uint64_t range) const;
  int64_t hash_memory() const;
  int64_t table_memory(int64_t memory_limit) const;
  void build_direct();
  void build_hash();
  void build_list();
  void set_views();
  void assign_codes();
  void measure_rows();
  uint64_t hash_row(int64_t row) const;
  void index_for_lookup() const;
  bool same_key(int64_t a, int64_t b) const;
  int64_t int_key(int64_t row) const;
  bool null_key(int64_t row) const;

  std::vector<HostColumn> keys_, payload_;
  JoinNeeds needs_;
  Partition partition_;
  TextStore texts_;
  std::vector<bool> owns_texts_;  // of each column, keys first
  std::unique_ptr<BucketSizes> sizes_;
  int64_t rows_ = 0;
  block::JoinTable table_{};
  std::vector<block::TableColumn> key_views_, payload_views_;
  mutable std::unordered_multimap<uint64_t, uint32_t> lookup_index_;  // hash of the keys -> row; made when first asked
  std::vector<uint32_t> bitmap_, index_, key_codes_, slots_, tags_, next_, codes_, code_rows_;
  std::vector<uint8_t> matched_;
  std::shared_ptr<CachedJoin> cached_;
};

}  // namespace strom::engine::exec
