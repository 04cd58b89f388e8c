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

class HostGroupTable {
 public:
  explicit HostGroupTable(const Assembly& assembly);

  block::GroupTable* view() { return &table_; }
  int64_t memory() const;
  bool hashed() const { return hashed_; }
  /// Copies text keys of groups that are new since the last call, where their memory will not last: before the chunk
  /// is left and before the arena of computed text is emptied.
  void own_text();
  /// Hashed: makes room for four times the groups.
  void grow();
  /// Forgets all groups.
  void reset();
  /// Adds the groups of `other`, made from the same assembly.
  void merge(const HostGroupTable& other);
  /// All groups as a result batch; keys by Assembly::group_keys.
  std::shared_ptr<const ResultBatch> emit(const plan::Program& program, const plan::Pipeline& pipeline) const;
  bool empty() const;

 private:
  struct Accumulator {
    std::vector<uint8_t> values;
    std::vector<int64_t> nulls;
    int size = 0;  // bytes of one value, 0 for counts
  };

  void allocate(uint32_t capacity);
  void set_identity(Accumulator& acc, const block::AggregateCode& code, uint32_t from, uint32_t to);
  void rebuild_slots();
  uint32_t find_or_add(const HostGroupTable& other, uint32_t group);
  void add_group(uint32_t into, const HostGroupTable& other, uint32_t group);
  void refresh_view();

  const Assembly& assembly_;
  const bool hashed_;
  std::vector<uint32_t> slots_;
  std::vector<uint64_t> hashes_;
  std::vector<std::vector<uint8_t>> key_values_, key_flags_;
  std::vector<block::TableColumn> key_views_;
  std::vector<int64_t> rows_;
  std::vector<Accumulator> accumulators_;
  std::vector<int64_t*> null_pointers_;
  std::vector<void*> value_pointers_;
  TextStore texts_{64 << 10};
  uint32_t owned_groups_ = 0;  // whose text keys have been copied
  block::GroupTable table_{};
};

}  // namespace strom::engine::exec
