// Groups and accumulators of one worker on the host: memory, growth, merging of workers, and emission as a result. A
// GroupIndex finds the groups.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/block/tile.hpp"
#include "engine/op/hash_agg/group_index.hpp"
#include "engine/op/output/result_batch.hpp"
#include "engine/op/output/text_store.hpp"
#include "engine/op/pipeline/assemble.hpp"

namespace strom::engine::op {

class HostGroupTable {
 public:
  explicit HostGroupTable(const Assembly& assembly);
  HostGroupTable(const HostGroupTable&) = delete;  // the index works on the view

  block::GroupTable* view() { return &table_; }
  /// The arrays that view() points to, in its order: those of the index, rows, and for each aggregate nulls and values
  /// (0 bytes for counts).
  std::vector<GroupArray> arrays();
  /// A view whose arrays are elsewhere, in the order of arrays(), and the arrays for its other pointers.
  struct PlacedView {
    block::GroupTable table;
    std::vector<block::TableColumn> keys;
    std::vector<int64_t*> nulls;
    std::vector<void*> values;
  };
  PlacedView view_of(const std::vector<char*>& arrays) const;
  int64_t memory() const;
  /// Bytes that merging `other` may add.
  int64_t growth_by(const HostGroupTable& other) const { return has_keys() ? other.memory() : 0; }
  /// See GroupIndex. Tables without keys do not grow.
  bool has_keys() const { return index_->has_keys(); }
  /// Copies text keys of groups that are new since the last call, and texts of min and max, where their memory will not
  /// last. Called before the chunk is left and before the arena of computed text is emptied.
  void own_text();
  /// Makes room for `groups` groups, more than before, where groups are added as rows come.
  void grow_to(uint32_t groups);
  uint32_t capacity() const { return table_.capacity; }
  /// Removes all groups.
  void reset();
  /// Adds the groups of `other`, which has the same assembly. Its texts are not copied.
  void merge(const HostGroupTable& other);
  /// The same, but copies the texts that the groups need.
  void absorb(const HostGroupTable& other);
  /// The same for those groups whose hash falls into part `part` of kParts. Only for groups with keys.
  void absorb(const HostGroupTable& other, uint64_t part);
  static constexpr int kPartBits = 4;
  static constexpr uint64_t kParts = 1 << kPartBits;
  /// As merge(), by some of the keys: bit k of `kept` stands for group key k of the pipeline. Only for groups with
  /// keys. A key that is not kept has the value of any of its groups.
  void merge_by(const HostGroupTable& other, uint64_t kept);
  /// See GroupIndex.
  int64_t note_positions(int64_t position) { return index_->note_positions(position); }
  /// True when the order of merging decided which of two equal values became a group's minimum or maximum.
  bool has_ties() const { return has_ties_; }
  uint32_t count() const { return table_.count; }
  /// All groups as a result batch; keys by Assembly::group_keys.
  std::shared_ptr<ResultBatch> emit(const plan::Program& program, const plan::Pipeline& pipeline) const;
  bool empty() const;

 private:
  struct Accumulator {
    std::vector<uint8_t> values;
    std::vector<int64_t> nulls;
    std::vector<registry::StrView> owned;  // texts that were copied
    int size = 0;                          // bytes of one value, 0 for counts
  };

  void allocate(uint32_t capacity);
  void resize_accumulators(uint32_t from);
  void set_identity(Accumulator& acc, const block::AggregateCode& code, uint32_t from, uint32_t to);
  template <class Find>
  void add_groups(const HostGroupTable& other, Find find);
  void add_group(uint32_t into, const HostGroupTable& other, uint32_t group);
  void share_texts(const HostGroupTable& other);
  void own_best(Accumulator& acc);
  void drop_replaced_text();

  const Assembly& assembly_;
  block::GroupTable table_{};
  std::unique_ptr<GroupIndex> index_;
  std::vector<int64_t> rows_;
  bool has_ties_ = false;
  std::vector<Accumulator> accumulators_;
  std::vector<int64_t*> null_pointers_;
  std::vector<void*> value_pointers_;
  static constexpr int64_t kTextBlock = 64 << 10;
  TextStore texts_{kTextBlock};
  int64_t replaced_text_ = 0;  // bytes of texts_ that are not used any more
};

}  // namespace strom::engine::op
