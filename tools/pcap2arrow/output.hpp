// The files that packets go to: one after the other, as they reach their size or their time is over, with names from a
// pattern.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/statistics/batch_statistics.hpp"
#include "format/arrow/write/writer.hpp"
#include "format/packets/headers.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// What is known of a record batch besides its bytes.
struct BatchFacts {
  int64_t rows = 0;
  int64_t first_time = 0;  // of its first packet, in nanoseconds
  int64_t window = 0;      // see arrow_files/time_window.hpp
  std::vector<format::arrow::Bounds> bounds;
  format::packets::PacketCounts counts;
};

/// What was written; `path` is that of the last file.
struct Written {
  std::string path;
  int64_t files = 0, batches = 0, rows = 0, bytes = 0;
  int64_t lost = 0;  // rows of add_lost()
  format::packets::PacketCounts counts;

  void add(const Written& other);
};

/// Names of files that a run has taken: several outputs may have the same pattern. Thread-safe.
class TakenNames {
 public:
  /// How often the path was taken before.
  int64_t take(const std::string& path) {
    std::lock_guard lock(mutex_);
    return counts_[path]++;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, int64_t> counts_;
};

/// What one output of several is for.
struct OutputShare {
  std::string interface;  // this and the next stand in names of files
  int64_t queue = 0;
  int64_t writers = 1;  // threads that write
};

/// Thread-safe, but for open() and finish().
class CaptureOutput {
 public:
  CaptureOutput(const Settings& settings, std::vector<columnar::Field> fields, OutputShare share, TakenNames& names);
  ~CaptureOutput();

  /// Opens what can be opened before the first packet. Errors: a file that exists, a folder that cannot be written to,
  /// kInvalidParameter (statistics of columns that there are not).
  Status open();
  std::vector<format::arrow::Bounds> bounds_of(const std::vector<columnar::ColumnBuilder>& columns) const;
  /// `placed` is called when it is clear where the batch stands in the file, before it is written: others can write
  /// behind it then. kDiskFull: the batch has found no room; what was written before becomes a whole file
  /// by finish().
  Status write(const format::arrow::EncodedBatch& batch, BatchFacts facts, const std::function<void()>& placed = {});
  /// The writer will write nothing of windows before `window`. Files that nobody writes to any more are completed.
  Status begin_window(int64_t writer, int64_t window);
  /// Packets that were lost, which the newest file's metadata will say.
  void add_dropped(int64_t count);
  /// Rows of record batches that could not be written, which the newest file's metadata will say.
  void add_lost(int64_t rows);
  /// Packets of no record batch, which the newest file's metadata will count.
  void add_counts(const format::packets::PacketCounts& counts);
  /// A value of the last file's metadata.
  void set_metadata(const std::string& key, const std::string& value);
  /// At least one file has been written, if nothing has failed.
  Status finish();
  /// After a failure: how many files are whole under their names. Waits for those that are being completed.
  int64_t complete_files();

  Written written() const;

 private:
  struct File;
  class PlacingSink;
  File* newest() const;
  Status choose_statistics();
  Result<std::shared_ptr<File>> file_of(const BatchFacts& facts, int64_t bytes);
  Result<std::shared_ptr<File>> place(const format::arrow::EncodedBatch& batch, BatchFacts facts);
  Result<std::shared_ptr<File>> open_file(int64_t time);
  Status open_sink(int64_t time, File& file, std::unique_ptr<format::ByteSink>& sink);
  Status close_file(std::shared_ptr<File> file);
  Status close_all();
  Status finished_files(bool all);

  const Settings& settings_;
  const OutputShare share_;
  TakenNames& names_;
  columnar::Schema schema_;
  std::vector<size_t> statistics_columns_;

  mutable std::mutex mutex_;
  std::map<int64_t, std::shared_ptr<File>> files_;  // by window
  std::vector<int64_t> windows_;                    // by writer
  std::vector<std::future<Status>> closing_;
  int64_t complete_ = 0;                  // files, of those that were closing
  int64_t dropped_ = 0, lost_ = 0;        // that no file knows of yet
  format::packets::PacketCounts counts_;  // likewise
  columnar::KeyValues metadata_;
  Written written_;
};

}  // namespace strom::pcap2arrow
