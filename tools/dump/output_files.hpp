// The files that record batches go to: one, or several by number of rows or by the values of partition columns.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "columnar/schema.hpp"
#include "cli/progress.hpp"
#include "dump/append.hpp"
#include "dump/settings.hpp"
#include "format/append_lock.hpp"
#include "format/arrow/statistics/batch_statistics.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::tool {

using format::arrow::Bounds;
using format::arrow::Statistics;

/// The first files of a dump by --rows-per-file that are there.
struct WrittenParts {
  int64_t files = 0, rows = 0;
};
Result<WrittenParts> written_parts(const DumpSettings& settings);

/// Thread-safe, but for new_partition() and finish().
class OutputFiles {
 public:
  /// `contents` are fitted to the file that is appended to, if there is one. `metadata`: of the schema.
  static Result<std::unique_ptr<OutputFiles>> open(const DumpSettings& settings, Contents& contents,
                                                   columnar::KeyValues metadata, Progress& progress);

  const columnar::Schema& schema() const { return schema_; }
  const Statistics& statistics() const { return statistics_; }
  /// `worker`: its number, for the progress.
  Status write(const format::arrow::EncodedBatch& batch, int64_t rows, std::vector<Bounds> bounds, size_t worker);
  /// What follows has other values in the partition columns; one that came before is gone on with in another file.
  Status new_partition(const std::vector<std::optional<std::string>>& values);
  Status finish();

  DumpResult result() const { return {path_, files_, batches_, rows_}; }

 private:
  OutputFiles(const DumpSettings& settings, Progress& progress) : settings_(settings), progress_(progress) {}
  Status choose_statistics();
  Status open_next();
  Status open_append(Contents& contents);
  Status close_current();
  Status write_dictionaries(bool is_end);
  Status write_dictionary(int64_t id, Dictionary& dictionary);
  Result<std::unique_ptr<format::ByteSink>> open_sink(const std::string& path);
  std::string next_path() const;

  const DumpSettings& settings_;
  Progress& progress_;
  columnar::Schema schema_;
  Dictionaries dictionaries_;
  std::vector<size_t> statistics_columns_;
  Statistics statistics_{{}};
  std::unique_ptr<format::AppendLock> lock_;

  std::mutex mutex_;
  std::unique_ptr<format::arrow::FileWriter> writer_;
  std::string path_, partition_;          // partition_: folders, with a slash behind
  std::map<std::string, int64_t> parts_;  // files of partitions that came before
  int64_t file_rows_ = 0, part_ = 0, files_ = 0, batches_ = 0, rows_ = 0;
};

}  // namespace strom::tool
