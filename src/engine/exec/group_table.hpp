// Groups and accumulators of one worker on the host: memory, growth, merging of workers, and emission as a result.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/block/tile.hpp"
#include "engine/exec/assemble.hpp"
#include "engine/exec/execution.hpp"
#include "engine/exec/text_store.hpp"

namespace strom::engine::exec {

/// First 8 bytes of an accumulator that has seen nothing, and zeros where it has fewer.
uint64_t accumulator_identity(const block::AggregateCode& code);

class HostGroupTable {
 public:
  explicit HostGroupTable(const Assembly& assembly);

  block::GroupTable* view() { return &table_; }
  /// The arrays that view() points to, in its order: slots (hashed only), hashes and for each key values and flags
  /// (likewise), rows, and for each aggregate nulls and values (0 bytes for counts).
  struct Array {
    void* data;
    size_t group_bytes;  // of each group; slots: 0
    size_t bytes;
  };
  std::vector<Array> arrays();
  int64_t memory() const;
  bool hashed() const { return hashed_; }
  /// Copies text keys of groups that are new since the last call, and texts of min and max, where their memory will not
  /// last: before the chunk is left and before the arena of computed text is emptied.
  void own_text();
  /// Hashed: makes room for `groups` groups, more than before.
  void grow_to(uint32_t groups) { allocate(groups); }
  uint32_t capacity() const { return table_.capacity; }
  /// Forgets all groups.
  void reset();
  /// Adds the groups of `other`, made from the same assembly.
  void merge(const HostGroupTable& other);
  /// The same by some of the keys: bit k of `kept` stands for group key k of the pipeline. Hashed tables only; keys
  /// that are not kept have any value of their groups.
  void merge_by(const HostGroupTable& other, uint64_t kept);
  /// Adds those groups of `other` whose hash falls into part `part` of kParts, and copies what text they need. Hashed
  /// tables only.
  void absorb(const HostGroupTable& other, uint64_t part);
  static constexpr uint64_t kParts = 16;
  /// Groups that are new since the last call were met one after another from `place` on in the order of the source's
  /// rows; returns the place behind them. Where Assembly::ordered_groups asks for it.
  int64_t note_places(int64_t place);
  /// Which of two equal values is the minimum or maximum of a group depended on the order in which tables were merged.
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
  void set_identity(Accumulator& acc, const block::AggregateCode& code, uint32_t from, uint32_t to);
  void rebuild_slots();
  uint32_t find_or_add(const HostGroupTable& other, uint32_t group, uint64_t hash, const std::vector<bool>& kept);
  bool same_keys(uint32_t mine, const HostGroupTable& other, uint32_t group, const std::vector<bool>& kept) const;
  uint64_t hash_of(uint32_t group, const std::vector<bool>& kept) const;
  void add_group(uint32_t into, const HostGroupTable& other, uint32_t group);
  void refresh_view();
  void own_best(Accumulator& acc);
  void drop_replaced_text();
  void keep_first_keys(uint32_t mine, const HostGroupTable& other, uint32_t group);
  std::vector<uint32_t> emitted_groups() const;
  void gather_coded(const GroupKeySource& source, const std::vector<uint32_t>& groups, std::vector<uint8_t>* values,
                    std::vector<uint8_t>* flags) const;

  const Assembly& assembly_;
  const bool hashed_;
  std::vector<uint32_t> slots_;
  std::vector<uint64_t> hashes_;
  std::vector<std::vector<uint8_t>> key_values_, key_flags_;
  std::vector<block::TableColumn> key_views_;
  std::vector<int64_t> rows_;
  std::vector<int64_t> places_;  // where each group was met first; empty unless asked for
  uint32_t placed_ = 0;          // groups whose places are known
  bool has_ties_ = false;
  std::vector<Accumulator> accumulators_;
  std::vector<int64_t*> null_pointers_;
  std::vector<void*> value_pointers_;
  static constexpr int64_t kTextBlock = 64 << 10;
  TextStore texts_{kTextBlock};
  int64_t replaced_text_ = 0;  // bytes in texts_ that nothing refers to
  uint32_t owned_groups_ = 0;  // whose text keys have been copied
  block::GroupTable table_{};
};

}  // namespace strom::engine::exec
