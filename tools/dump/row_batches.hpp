// One worker's rows on their way into record batches: columns that are filled, encoded and written when they are full.
#pragma once

#include <algorithm>
#include <vector>

#include "columnar/builder.hpp"
#include "cli/progress.hpp"
#include "dump/output_files.hpp"
#include "dump/settings.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::tool {

/// Used by one thread.
class RowBatches {
 public:
  RowBatches(const DumpSettings& settings, OutputFiles& files, Progress& progress, size_t worker);

  std::vector<columnar::ColumnBuilder>& columns() { return columns_; }
  /// After rows were appended: `rows` since the beginning, `size` bytes of input since the last call. Writes a batch
  /// when it is full.
  Status advance(int64_t rows, int64_t size) {
    step_bytes_ += size;
    if (step_bytes_ < step_ && rows - flushed_rows_ < most_rows_) return Status::ok();
    return look(rows);
  }
  /// Rows that may be appended at once; `rows` as in advance().
  int64_t room(int64_t rows) const { return most_rows_ - (rows - flushed_rows_); }
  /// Bytes of input after which advance() looks at the columns' size.
  int64_t step() const { return step_; }
  /// Writes what there is.
  Status flush(int64_t rows);

 private:
  Status look(int64_t rows);
  void count(int64_t rows, int64_t bytes);
  int64_t memory() const;

  const DumpSettings& settings_;
  OutputFiles& files_;
  Progress& progress_;
  const size_t worker_;
  format::arrow::Compressor compressor_;
  std::vector<columnar::ColumnBuilder> columns_;
  const int64_t step_, most_rows_;
  int64_t step_bytes_ = 0, input_bytes_ = 0, counted_rows_ = 0, flushed_rows_ = 0;
};

}  // namespace strom::tool
