// The files that record batches go to: one, or several by number of rows or by the values of partition columns.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "columnar/nested.hpp"
#include "common/progress.hpp"
#include "format/arrow/nested_writer.hpp"
#include "pg2arrow/append.hpp"
#include "pg2arrow/catalog.hpp"
#include "pg2arrow/settings.hpp"
#include "pg2arrow/statistics.hpp"

namespace strom::pg2arrow {

/// Thread-safe, but for new_partition() and finish().
class OutputFiles {
 public:
  /// `columns` are fitted to the file that is appended to, if there is one. `sql`: for the metadata.
  static Result<std::unique_ptr<OutputFiles>> open(const Settings& settings, std::vector<Column>& columns,
                                                   const std::string& sql, tool::Progress& progress);

  const columnar::NestedSchema& schema() const { return schema_; }
  const Statistics& statistics() const { return statistics_; }
  Status write(const format::arrow::EncodedBatch& batch, int64_t rows, std::vector<Bounds> bounds);
  /// What follows has other values in the partition columns.
  Status new_partition(const std::vector<std::optional<std::string>>& values);
  Status finish();

  int64_t files() const { return files_; }
  int64_t batches() const { return batches_; }
  int64_t rows() const { return rows_; }
  /// Of the last file.
  const std::string& path() const { return path_; }

 private:
  OutputFiles(const Settings& settings, tool::Progress& progress) : settings_(settings), progress_(progress) {}
  void collect_dictionaries(const columnar::NestedField& field, const format::pgwire::WireColumn& wire);
  Status choose_statistics();
  Status open_next();
  Status open_append(std::vector<Column>& columns);
  Status close_current();
  Status write_dictionary(int64_t id, const std::vector<std::string>& labels, bool is_delta);
  Result<std::unique_ptr<format::ByteSink>> open_sink(const std::string& path);
  std::string next_path() const;

  const Settings& settings_;
  tool::Progress& progress_;
  columnar::NestedSchema schema_;
  std::vector<std::pair<int64_t, std::shared_ptr<const format::pgwire::Labels>>> dictionaries_;
  std::vector<size_t> statistics_columns_;
  Statistics statistics_{{}};
  std::unique_ptr<AppendLock> lock_;

  std::mutex mutex_;
  std::unique_ptr<format::arrow::NestedWriter> writer_;
  std::string path_, partition_;  // partition_: folders, with a slash behind
  int64_t file_rows_ = 0, part_ = 0, files_ = 0, batches_ = 0, rows_ = 0;
};

}  // namespace strom::pg2arrow
