// Writes a full record batch in a thread while the rows of the next one are collected. PendingWrite uses it on the main
// thread. The thread calls no PostgreSQL.
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

  /// The caller does not use `appender` and `compressor` between start() and wait().
  BatchWriter(format::arrow::FileAppender& appender, format::arrow::Compressor& compressor)
      : appender_(appender), compressor_(compressor) {}
  /// Waits for the thread, however long that takes.
  ~BatchWriter() { join(); }
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  /// Writes in the calling thread.
  Status write(const Columns& columns, int64_t rows, bool is_last);
  /// Starts to write `columns` and leaves them empty. No other batch may be in progress or left from a failure.
  void start(Columns& columns, int64_t rows);
  /// Waits until the batch is written. Calls `idle` meanwhile. If `idle` throws, the thread continues to write.
  Status wait(const std::function<void()>& idle);
  /// Like wait(), but without interruption. A batch that was not written stays available to take_back().
  void settle() { join(); }
  /// True when the last batch could not be written.
  bool has_failed() const { return failed_; }
  /// Returns the rows of the batch that was not written.
  void take_back(Columns& columns);

 private:
  void join();

  format::arrow::FileAppender& appender_;
  format::arrow::Compressor& compressor_;
  Columns columns_;  // the batch in progress, or empty
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable done_changed_;
  bool done_ = false, failed_ = false;
  Status outcome_;
};

}  // namespace strom::pg::files
