// Memory for text that outlives the chunk or arena that it came from. Sinks (outputs, build sides, group keys) take
// views first; the host copies the texts before their memory changes. Used by op/output/worker_output.cpp,
// join_table.hpp and group_table.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "registry/types.hpp"

namespace strom::engine::op {

/// Blocks are shared, so a result batch keeps its texts alive after the store has been emptied.
class TextStore {
 public:
  using Block = std::shared_ptr<const char[]>;

  /// `least_block`: the smallest allocation in bytes.
  explicit TextStore(int64_t least_block = 0) : least_block_(least_block) {}

  /// Copies the texts of values[0, count) and points the values to the copies. Values with a flag become empty.
  void own(registry::StrView* values, const uint8_t* flags, int64_t count);

  const std::vector<Block>& blocks() const { return blocks_; }
  int64_t memory() const { return bytes_; }
  /// Keeps the blocks of `other` alive, too.
  void share(const TextStore& other);
  void clear();

 private:
  char* room(int64_t bytes);

  int64_t least_block_;
  std::vector<Block> blocks_;
  int64_t bytes_ = 0;     // of all blocks
  char* free_ = nullptr;  // in the last block of our own
  int64_t left_ = 0;
};

}  // namespace strom::engine::op
