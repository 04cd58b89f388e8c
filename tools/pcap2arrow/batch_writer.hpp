// A live capture's record batches on their way into files: a thread of their own writes them, so that packets are taken
// from the kernel meanwhile.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "cli/progress.hpp"
#include "pcap2arrow/output.hpp"

namespace strom::pcap2arrow {

/// Columns that are being filled.
struct Batch {
  std::vector<columnar::ColumnBuilder> columns;
  BatchFacts facts;
  int64_t next_window = INT64_MIN;  // nothing of windows before this one follows

  int64_t memory() const;
};

/// Two batches that a capture's thread and this one's have by turns.
class BatchWriter {
 public:
  /// `writer`: the number that CaptureOutput knows it by. `failed` is called once, by the thread, when it cannot write.
  BatchWriter(const Settings& settings, CaptureOutput& output, int64_t writer,
              const std::vector<columnar::Field>& fields, tool::Progress& progress, std::function<void()> failed);
  ~BatchWriter();
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  /// An empty batch; waits until there is one.
  std::unique_ptr<Batch> take();
  /// To be written; one without rows only begins its next_window.
  void give(std::unique_ptr<Batch> batch);
  /// Writes what was given. The first failure; batches behind it are lost.
  Status finish();

 private:
  void run();
  Status write(Batch& batch, format::arrow::Compressor& compressor);

  const Settings& settings_;
  CaptureOutput& output_;
  const int64_t writer_;
  tool::Progress& progress_;
  const std::function<void()> failed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Batch>> empty_, full_;
  bool is_end_ = false;
  Status status_;
  std::thread thread_;
};

}  // namespace strom::pcap2arrow
