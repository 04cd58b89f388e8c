// The build side of a join on the host: collects rows, has them indexed, assigns group codes. Made by
// exec/inner_sides.cpp after a build pipeline, read by tile code through block::JoinTable.
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

  /// The table of `image`, which is valid as long as `cached`.
  JoinBuild(const std::vector<registry::Phys>& keys, const std::vector<registry::Phys>& payload, JoinNeeds needs,
            JoinImage image, std::shared_ptr<device::CachedJoin> cached);

  /// Appends rows of a finished tile output: key columns first, then payload. `texts` owns the texts of the `owned`
  /// columns.
  void append(const std::vector<block::TableColumn>& columns, const std::vector<bool>& has_flags, int64_t rows,
              const TextStore& texts, const std::vector<bool>& owned);
  void append_row(const std::vector<plan::Constant>& keys, const std::vector<plan::Constant>& payload);

  /// True when the table, built of the rows so far, takes at most `memory_limit` bytes.
  bool fits(int64_t memory_limit) const;
  /// From now on rows are only measured, including those that are already there.
  void measure();
  /// The measured sizes; nullptr when rows are kept.
  const BucketSizes* sizes() const { return sizes_.get(); }
  Partition partition() const { return partition_; }
  /// Texts that rows refer to.
  const TextStore& texts() const { return texts_; }
  /// True when a row with these keys belongs to the table's partition.
  bool is_in_partition(const std::vector<plan::Constant>& keys) const;

  /// Builds the table by `threads` threads, with an index that takes at most `memory_limit` bytes if there is one.
  Status finish(int64_t memory_limit, int threads);

  /// Marks a row of the built table as matched, also while threads probe the table.
  void mark_matched(int64_t row) {
    __atomic_store_n(&matched_[static_cast<size_t>(row)], uint8_t{1}, __ATOMIC_RELAXED);
  }

  /// Marks all rows that have the key of a marked row. No thread probes the table meanwhile.
  void mark_same_keys();

  /// Makes the finished table `cached`'s, from which devices may take it.
  void set_cached(std::shared_ptr<device::CachedJoin> cached) { cached_ = std::move(cached); }
  /// nullptr: devices get copies that they do not cache.
  device::CachedJoin* cached() const { return cached_.get(); }

  const block::JoinTable& table() const { return table_; }
  /// The index of the finished table.
  const JoinIndex& index() const { return *index_; }
  int64_t rows() const { return rows_.count; }
  int64_t memory() const;
  uint32_t code_count() const { return static_cast<uint32_t>(code_rows_.size()); }
  /// True when rows have group codes. They have none when a grouped value is unheld.
  bool is_coded() const { return !needs_.group_columns.empty(); }
  /// The build row that stands for group code `code`.
  uint32_t code_row(uint32_t code) const { return code_rows_[code]; }
  const std::vector<uint32_t>& code_rows() const { return code_rows_; }
  size_t key_count() const { return rows_.keys.size(); }
  size_t payload_count() const { return rows_.payload.size(); }
  const HostColumn& key(size_t ordinal) const { return rows_.keys[ordinal]; }
  const HostColumn& payload(uint32_t ordinal) const { return rows_.payload[ordinal]; }
  /// Values of key `key`; nullopt when it has no integer register or a value is unheld.
  std::optional<KeyRange> key_range(size_t key) const;
  /// Build rows that can match a row with `keys`; all rows when there are no keys. For fallback rows, one at a time, on
  /// the caller's thread.
  void lookup(const std::vector<plan::Constant>& keys, std::vector<int64_t>* rows) const;

 private:
  void set_views();
  void assign_codes();
  void measure_rows();
  /// The keys as columns of one value each.
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
