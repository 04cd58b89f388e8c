// Writes full record batches in a thread while the rows of the next one are collected. Used by PendingWrite, on the
// main thread. The thread calls no PostgreSQL.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "columnar/builder.hpp"
#include "format/arrow/batch/compression.hpp"
#include "format/arrow/write/file_appender.hpp"

namespace strom::pg::files {

class BatchWriter {
 public:
  using Columns = std::vector<columnar::ColumnBuilder>;

  /// Nobody else touches `appender` and `compressor` between start() and wait().
  BatchWriter(format::arrow::FileAppender& appender, format::arrow::Compressor& compressor)
      : appender_(appender), compressor_(compressor) {}
  /// Waits, however long it takes.
  ~BatchWriter() { join(); }
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  /// Writes in the calling thread.
  Status write(const Columns& columns, int64_t rows, bool is_last);
  /// Begins to write `columns`, which are empty then. Nothing else is being written or was left by a failure.
  void start(Columns& columns, int64_t rows);
  /// Until what was started is written; `idle` is called meanwhile, and may throw: then it goes on being written.
  Status wait(const std::function<void()>& idle);
  /// As wait(), without end. What was not written is kept for take_back().
  void settle() { join(); }
  /// The last batch was not written.
  bool has_failed() const { return failed_; }
  /// The rows of the batch that was not written.
  void take_back(Columns& columns);

 private:
  void join();

  format::arrow::FileAppender& appender_;
  format::arrow::Compressor& compressor_;
  Columns columns_;  // being written, or empty
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false, failed_ = false;
  Status outcome_;
};

}  // namespace strom::pg::files
