// Hands out the rows of a source to the threads of a pipeline. Used by exec/pipeline_run.hpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
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
    return source_.feeder() != nullptr ? next_fed(morsel, waits) : next_slice(morsel, waits);
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

  /// Rows of a morsel of pages, once they are known.
  void add_rows(int64_t rows) { rows_ += rows; }

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

  /// Rows of a chunk that was loaded, before others are. Threads load at the same time, which takes long where there is
  /// something to decompress; `waits`: for what others are loading.
  Result<bool> next_slice(Morsel* morsel, bool waits) {
    std::unique_lock lock(mutex_);
    for (;;) {
      if (!open_.empty()) {
        take_slice(morsel);
        return true;
      }
      if (chunk_ + 1 < chunks_) {
        STROM_TRY(load_chunk(&lock));
      } else if (loading_ == 0 || all_fed_ || !waits) {
        return false;
      } else {
        fed_.wait(lock, [&] { return !open_.empty() || loading_ == 0 || all_fed_; });
      }
    }
  }

  void take_slice(Morsel* morsel) {
    OpenChunk& open = open_.front();
    morsel->chunk = open.chunk;
    morsel->begin = open.row;
    morsel->rows = static_cast<int32_t>(std::min(morsel_rows_, open.batch->rows - open.row));
    morsel->batch = open.batch;
    open.row += morsel->rows;
    if (open.row >= open.batch->rows) open_.pop_front();
  }

  /// Without the lock while it loads.
  Status load_chunk(std::unique_lock<std::mutex>* lock) {
    const int64_t chunk = ++chunk_;
    if (!may_match(chunk)) {
      ++skipped_;
      return Status::ok();
    }
    ++loaded_;
    auto view = load_unlocked(chunk, lock);
    if (view.is_ok() && view.value().rows > 0) {
      rows_ += view.value().rows;
      open_.push_back({chunk, 0, std::make_shared<const columnar::BatchView>(std::move(view).value())});
    }
    return view.status();
  }

  Result<columnar::BatchView> load_unlocked(int64_t chunk, std::unique_lock<std::mutex>* lock) {
    struct Loading {  // whoever waits goes on even if there is no memory
      MorselQueue* queue;
      std::unique_lock<std::mutex>* lock;
      ~Loading() {
        lock->lock();
        --queue->loading_;
        queue->fed_.notify_all();
      }
    };
    ++loading_;
    lock->unlock();
    const Loading loading{this, lock};
    return source_.chunk(chunk);
  }

  const ChunkSource& source_;
  int64_t chunks_;  // of a fed source: so far
  const int64_t morsel_rows_;
  const std::vector<ColumnKeys> wanted_;
  std::mutex mutex_;
  std::condition_variable fed_;
  bool all_fed_ = false;
  int64_t chunk_ = -1;
  int loading_ = 0;
  struct OpenChunk {
    int64_t chunk, row;
    std::shared_ptr<const columnar::BatchView> batch;
  };
  std::deque<OpenChunk> open_;  // loaded, with rows that nobody has taken yet
  std::atomic<int64_t> rows_{0}, skipped_{0}, loaded_{0};
};

}  // namespace strom::engine::exec
