// The blocks of a table that a scan reads, in order. Used by HeapRows.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::table {

/// Blocks [begin, end).
struct BlockRange {
  BlockNumber begin, end;
};

class BlockWalk {
 public:
  /// From the next begin() on, walks only blocks of these ranges, which are in ascending order and do not overlap.
  void restrict_to(std::vector<BlockRange> ranges) { ranges_ = std::move(ranges); }

  /// Starts at the first block of a table with `count` blocks.
  void begin(BlockNumber count) {
    count_ = count;
    place_ = 0;
    block_ = 0;
    find();
  }

  bool is_restricted() const { return ranges_.has_value(); }
  /// The next block of an unrestricted walk.
  BlockNumber position() const { return block_; }
  void skip_to(BlockNumber block) { block_ = block; }
  BlockNumber count() const { return count_; }

  bool at_end() const { return block_ >= count_; }
  /// Returns the next block and moves on. Not to be called at the end.
  BlockNumber next() {
    const BlockNumber block = block_++;
    find();
    return block;
  }

  /// The number of a table's first `count` blocks that are walked.
  BlockNumber chosen_of(BlockNumber count) const {
    if (!ranges_) return count;
    BlockNumber sum = 0;
    for (const BlockRange& range : *ranges_) sum += std::min(range.end, count) - std::min(range.begin, count);
    return sum;
  }

 private:
  // Moves on to the next block within the ranges.
  void find() {
    if (!ranges_) return;
    while (place_ < ranges_->size() && block_ >= (*ranges_)[place_].end) ++place_;
    block_ = place_ < ranges_->size() ? std::max(block_, (*ranges_)[place_].begin) : count_;
  }

  std::optional<std::vector<BlockRange>> ranges_;
  BlockNumber count_ = 0, block_ = 0;
  size_t place_ = 0;
};

}  // namespace strom::pg::table
