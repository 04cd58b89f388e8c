// The row of the engine's results that is the current one, and the batches that are cached for a rescan with the same
// parameters. Knows nothing of PostgreSQL. Used by QueryRun.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/exec/execution.hpp"

namespace strom::pg::node {

class ResultCursor {
 public:
  using Batch = std::shared_ptr<const engine::op::ResultBatch>;

  /// nullptr: there is no current batch.
  const engine::op::ResultBatch* batch() const { return batch_.get(); }
  /// In batch(); -1 before its first one.
  int64_t row() const { return row_; }

  /// Moves to the next row of the batch; false when there is none, and then there is no batch either.
  bool next_row() {
    if (batch_ != nullptr && ++row_ < batch_->rows) return true;
    drop_batch();
    return false;
  }
  /// Moves to a row of any batch.
  void move_to(const Batch& batch, int64_t row) {
    if (batch_ != batch) batch_ = batch;
    row_ = row;
  }
  void drop_batch() {
    batch_.reset();
    row_ = -1;
  }

  /// Batches that come from now on are cached.
  void start_caching() { is_caching_ = true; }
  /// The batches cannot be handed out again.
  void stop_caching() { is_caching_ = false; }
  bool is_caching() const { return is_caching_; }
  /// A new batch becomes the current one, before its first row. Caching ends for good when `may_cache` is false or
  /// there are more than `limit` bytes.
  void take(Batch batch, bool may_cache, int64_t limit);
  /// The next cached batch becomes the current one, before its first row; false when all have been handed out.
  bool next_cached();
  /// All cached batches are to be handed out again. Only while caching.
  void rewind() {
    drop_batch();
    handed_out_ = 0;
  }
  /// Forgets all batches; caching ends.
  void clear();

 private:
  Batch batch_;
  int64_t row_ = -1;
  bool is_caching_ = false;
  std::vector<Batch> cached_;  // all batches since start_caching()
  int64_t cached_bytes_ = 0;
  size_t handed_out_ = 0;  // of cached_, since rewind()
};

}  // namespace strom::pg::node
