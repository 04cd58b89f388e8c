// Rows in an order: engine threads sort each batch of results, and the consumer merges the batches. The first key
// becomes a number for sorting; other keys are compared where these numbers are equal. Used by exec/pipeline_run.hpp
// and src/pg/node.
#pragma once

#include <memory>
#include <vector>

#include "engine/op/output/result_batch.hpp"

namespace strom::engine::op {

/// Sorts the rows of `batch` and fills its places. Returns the new memory of its columns; the former memory is free,
/// except that of texts. Any thread.
std::vector<std::unique_ptr<uint8_t[]>> sort_rows(const std::vector<plan::SortKey>& keys, ResultBatch* batch);

/// Merges sorted batches. For one thread.
class SortedRows {
 public:
  explicit SortedRows(std::vector<plan::SortKey> keys) : keys_(std::move(keys)) {}

  /// All batches are added before the first next().
  void add(std::shared_ptr<const ResultBatch> batch);
  /// Bytes of all batches.
  int64_t memory() const { return memory_; }
  const std::vector<std::shared_ptr<const ResultBatch>>& batches() const { return batches_; }

  /// Makes the next row the current one; false when there is none.
  bool next();
  const std::shared_ptr<const ResultBatch>& batch() const { return batches_[current_.batch]; }
  int64_t row() const { return current_.row; }

 private:
  struct Head {
    uint64_t place;
    uint32_t row, batch;
  };
  bool precedes(const Head& a, const Head& b) const;
  void begin();
  void sift_down(size_t at);

  const std::vector<plan::SortKey> keys_;
  std::vector<std::shared_ptr<const ResultBatch>> batches_;
  std::vector<Head> heads_;  // a heap: the first remaining row of each batch
  Head current_{};
  int64_t memory_ = 0;
  bool started_ = false;
};

}  // namespace strom::engine::op
