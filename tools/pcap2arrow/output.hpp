// The files that packets go to: one after the other, as they reach their size, with names from a pattern.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/builder.hpp"
#include "columnar/schema.hpp"
#include "format/arrow/batch_statistics.hpp"
#include "format/arrow/writer.hpp"
#include "format/packets/headers.hpp"
#include "pcap2arrow/settings.hpp"

namespace strom::pcap2arrow {

/// What is known of a record batch besides its bytes.
struct BatchFacts {
  int64_t rows = 0;
  int64_t first_time = 0;  // of its first packet, in nanoseconds
  std::vector<format::arrow::Bounds> bounds;
  format::packets::PacketCounts counts;
};

/// What was written; `path` is that of the last file.
struct Written {
  std::string path;
  int64_t files = 0, batches = 0, rows = 0, bytes = 0;
  format::packets::PacketCounts counts;

  void add(const Written& other);
};

/// Thread-safe, but for open() and finish().
class CaptureOutput {
 public:
  /// `interface` and `queue` stand in names of files.
  CaptureOutput(const Settings& settings, std::vector<columnar::Field> fields, std::string interface, int64_t queue);

  /// Opens what can be opened before the first packet. Errors: a file that exists, a folder that cannot be written to,
  /// kInvalidParameter (statistics of columns that there are not).
  Status open();
  std::vector<format::arrow::Bounds> bounds_of(const std::vector<columnar::ColumnBuilder>& columns) const;
  Status write(const format::arrow::EncodedBatch& batch, BatchFacts facts);
  /// A value of the last file's metadata.
  void set_metadata(const std::string& key, int64_t value);
  /// At least one file has been written, if nothing has failed.
  Status finish();

  const Written& written() const { return written_; }

 private:
  Status choose_statistics();
  Status open_file(int64_t time);
  Status close_file();
  bool is_full(int64_t bytes, int64_t rows) const;

  const Settings& settings_;
  const std::string interface_;
  const int64_t queue_;
  columnar::Schema schema_;
  std::vector<size_t> statistics_columns_;

  std::mutex mutex_;
  std::unique_ptr<format::arrow::FileWriter> writer_;
  format::arrow::Statistics statistics_{{}};
  std::string base_path_;  // of the last file, without a number
  int64_t same_path_ = 0;  // files that had it
  int64_t file_rows_ = 0;
  format::packets::PacketCounts file_counts_;
  columnar::KeyValues metadata_;
  Written written_;
};

}  // namespace strom::pcap2arrow
