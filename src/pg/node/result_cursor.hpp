// The current row of the engine's results, and the batches that are cached for a rescan with the same parameters.
// Independent of PostgreSQL. Used by QueryRun.
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

  /// The current batch, or nullptr.
  const engine::op::ResultBatch* batch() const { return batch_.get(); }
  /// The current row in batch(); -1 before its first row.
  int64_t row() const { return row_; }

  /// Moves to the next row of the batch. False at its end; there is no current batch then.
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

  /// Caches later batches.
  void start_caching() { is_caching_ = true; }
  /// Stops caching: the batches cannot be returned again.
  void stop_caching() { is_caching_ = false; }
  bool is_caching() const { return is_caching_; }
  /// Makes a new batch the current one, before its first row. Caching stops for good if `may_cache` is false or more
  /// than `limit` bytes are cached.
  void take(Batch batch, bool may_cache, int64_t limit);
  /// Makes the next cached batch the current one, before its first row; false when all have been returned.
  bool next_cached();
  /// Starts again with the first cached batch. Only while caching.
  void rewind() {
    drop_batch();
    handed_out_ = 0;
  }
  /// Drops all batches and stops caching.
  void clear();

 private:
  Batch batch_;
  int64_t row_ = -1;
  bool is_caching_ = false;
  std::vector<Batch> cached_;  // all batches since start_caching()
  int64_t cached_bytes_ = 0;
  size_t handed_out_ = 0;  // number of batches in cached_ returned since rewind()
};

}  // namespace strom::pg::node
