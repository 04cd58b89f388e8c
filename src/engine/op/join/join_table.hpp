// The build side of a join on the host: collects rows, has them indexed, gives out group codes. Made by
// exec/execution.cpp after a build pipeline, read by tile code through block::JoinTable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.hpp"
#include "engine/block/join_table.hpp"
#include "engine/op/join/inner_partitions.hpp"
#include "engine/op/join/join_index.hpp"
#include "engine/op/join/join_rows.hpp"
#include "engine/op/output/text_store.hpp"
#include "engine/op/scan/key_range.hpp"
#include "engine/plan/ir.hpp"

namespace strom::engine::device {
class CachedJoin;
}

namespace strom::engine::op {

struct JoinImage;

class JoinBuild {
 public:
  JoinBuild(const std::vector<registry::Phys>& keys, const std::vector<registry::Phys>& payload, JoinNeeds needs,
            Partition partition);

  /// The table that `image` holds, which stays as long as `cached`.
  JoinBuild(const std::vector<registry::Phys>& keys, const std::vector<registry::Phys>& payload, JoinNeeds needs,
            JoinImage image, std::shared_ptr<device::CachedJoin> cached);

  /// Rows of a finished tile output: key columns first, then payload. `texts` owns the texts of the `owned` columns.
  void append(const std::vector<block::TableColumn>& columns, const std::vector<bool>& has_flags, int64_t rows,
              const TextStore& texts, const std::vector<bool>& owned);
  void append_row(const std::vector<plan::Constant>& keys, const std::vector<plan::Constant>& payload);

  /// Whether the table, once built of the rows so far, takes at most `memory_limit` bytes.
  bool fits(int64_t memory_limit) const;
  /// From now on, rows are not kept but measured, those that are there included.
  void measure();
  /// What the rows take; nullptr when they are kept.
  const BucketSizes* sizes() const { return sizes_.get(); }
  Partition partition() const { return partition_; }
  /// Texts that rows refer to.
  const TextStore& texts() const { return texts_; }
  /// Whether a row with these keys belongs to the table's partition.
  bool is_in_partition(const std::vector<plan::Constant>& keys) const;

  /// Builds the table, with an index of a kind that takes at most `memory_limit` bytes if there is one. By
  /// so many threads.
  Status finish(int64_t memory_limit, int threads);

  /// A row of the built table has a match; also while threads probe it.
  void mark_matched(int64_t row) {
    __atomic_store_n(&matched_[static_cast<size_t>(row)], uint8_t{1}, __ATOMIC_RELAXED);
  }

  /// Rows with the key of a row that has a match have one, too. No thread probes the table.
  void mark_same_keys();

  /// The finished table is `cached`'s, from which devices may take it.
  void set_cached(std::shared_ptr<device::CachedJoin> cached) { cached_ = std::move(cached); }
  /// nullptr: devices get copies that they do not cache.
  device::CachedJoin* cached() const { return cached_.get(); }

  const block::JoinTable& table() const { return table_; }
  /// Of the finished table.
  const JoinIndex& index() const { return *index_; }
  int64_t rows() const { return rows_.count; }
  int64_t memory() const;
  uint32_t code_count() const { return static_cast<uint32_t>(code_rows_.size()); }
  /// Whether rows have group codes: not when a grouped value is none that the engine holds.
  bool is_coded() const { return !needs_.group_columns.empty(); }
  /// Build row that stands for group code `code`.
  uint32_t code_row(uint32_t code) const { return code_rows_[code]; }
  const std::vector<uint32_t>& code_rows() const { return code_rows_; }
  size_t key_count() const { return rows_.keys.size(); }
  size_t payload_count() const { return rows_.payload.size(); }
  const HostColumn& key(size_t ordinal) const { return rows_.keys[ordinal]; }
  const HostColumn& payload(uint32_t ordinal) const { return rows_.payload[ordinal]; }
  /// Values of the key at place `key`; nullopt when it has no integer register or a value is not held.
  std::optional<KeyRange> key_range(size_t key) const;
  /// Build rows that can match a row with `keys`, all rows when there are no keys; for fallback rows, one by
  /// one, on the caller's thread.
  void lookup(const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const;

 private:
  void set_views();
  void assign_codes();
  void measure_rows();
  /// Columns of one value each.
  std::vector<HostColumn> single_keys(const std::vector<plan::Constant>& keys, TextStore* texts) const;

  JoinRows rows_;
  JoinNeeds needs_;
  Partition partition_;
  TextStore texts_;
  std::vector<bool> owns_texts_;  // of each column, keys first
  std::unique_ptr<BucketSizes> sizes_;
  block::JoinTable table_{};
  std::unique_ptr<JoinIndex> index_;  // of the finished table
  std::vector<block::TableColumn> key_views_, payload_views_;
  std::vector<uint32_t> codes_, code_rows_;
  std::vector<uint8_t> matched_;
  std::shared_ptr<device::CachedJoin> cached_;
};

}  // namespace strom::engine::op
