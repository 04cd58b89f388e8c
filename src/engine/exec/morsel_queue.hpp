// Hands out the rows of a source to the threads of a pipeline. Used by exec/pipeline_run.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "engine/exec/worker.hpp"

namespace strom::engine::exec {

/// Hands out morsels of a source, chunk after chunk. A fed source's chunks are loaded by whoever takes them.
class MorselQueue {
 public:
  /// Chunks without any of the `wanted` keys are left out.
  MorselQueue(const ChunkSource& source, int64_t morsel_rows, std::vector<ColumnKeys> wanted)
      : source_(source),
        chunks_(source.feeder() != nullptr ? 0 : source.chunk_count()),
        morsel_rows_(morsel_rows),
        wanted_(std::move(wanted)) {}

  /// False at the end; an error of the source is returned once. `waits`: for chunks that are yet to be fed.
  Result<bool> next(Morsel* morsel, bool waits) {
    return source_.feeder() != nullptr ? next_fed(morsel, waits) : next_slice(morsel);
  }

  /// Fed chunks that nobody has taken yet.
  int64_t ready() {
    std::lock_guard lock(mutex_);
    return chunks_ - (chunk_ + 1);
  }
  void add_fed() {
    {
      std::lock_guard lock(mutex_);
      ++chunks_;
    }
    fed_.notify_one();
  }
  /// No more will be fed.
  void end_feeding() {
    {
      std::lock_guard lock(mutex_);
      all_fed_ = true;
    }
    fed_.notify_all();
  }

  int64_t chunks() const { return chunks_; }
  int64_t rows() const { return rows_; }
  int64_t skipped() const { return skipped_; }
  int64_t loaded() const { return loaded_; }

 private:
  bool may_match(int64_t chunk) const {
    return std::all_of(wanted_.begin(), wanted_.end(),
                       [&](const ColumnKeys& column) { return source_.may_hold(chunk, column.column, column.keys); });
  }

  Result<bool> next_fed(Morsel* morsel, bool waits) {
    int64_t chunk;
    {
      std::unique_lock lock(mutex_);
      if (waits) fed_.wait(lock, [&] { return chunk_ + 1 < chunks_ || all_fed_; });
      if (chunk_ + 1 >= chunks_) return false;
      chunk = ++chunk_;
    }
    STROM_ASSIGN(auto view, source_.chunk(chunk));
    rows_ += view.rows;
    *morsel = {chunk, view.begin, static_cast<int32_t>(view.rows),
               std::make_shared<const columnar::BatchView>(std::move(view))};
    return true;
  }

  Result<bool> next_slice(Morsel* morsel) {
    std::lock_guard lock(mutex_);
    while (!batch_ || row_ >= batch_->rows) {
      batch_.reset();
      if (chunk_ + 1 >= chunks_) return false;
      ++chunk_;
      if (!may_match(chunk_)) {
        ++skipped_;
        continue;
      }
      ++loaded_;
      row_ = 0;
      STROM_ASSIGN(auto view, source_.chunk(chunk_));
      batch_ = std::make_shared<const columnar::BatchView>(std::move(view));
      rows_ += batch_->rows;
    }
    morsel->chunk = chunk_;
    morsel->begin = row_;
    morsel->rows = static_cast<int32_t>(std::min(morsel_rows_, batch_->rows - row_));
    morsel->batch = batch_;
    row_ += morsel->rows;
    return true;
  }

  const ChunkSource& source_;
  int64_t chunks_;  // of a fed source: so far
  const int64_t morsel_rows_;
  const std::vector<ColumnKeys> wanted_;
  std::mutex mutex_;
  std::condition_variable fed_;
  bool all_fed_ = false;
  int64_t chunk_ = -1, row_ = 0;
  std::atomic<int64_t> rows_{0}, skipped_{0}, loaded_{0};
  std::shared_ptr<const columnar::BatchView> batch_;
};

}  // namespace strom::engine::exec
