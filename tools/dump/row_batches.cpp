// See row_batches.hpp.
#include "dump/row_batches.hpp"

namespace strom::tool {

RowBatches::RowBatches(const DumpSettings& settings, OutputFiles& files, Progress& progress, size_t worker)
    : settings_(settings),
      files_(files),
      progress_(progress),
      worker_(worker),
      compressor_(settings.output.compression),
      step_(std::min<int64_t>(1 << 20, settings.segment_size / 4)),
      most_rows_(settings.rows_per_file > 0 ? settings.rows_per_file : INT64_MAX) {
  columns_.reserve(files.schema().fields.size());
  for (const auto& field : files.schema().fields) columns_.emplace_back(field);
}

int64_t RowBatches::memory() const {
  int64_t bytes = 0;
  for (const auto& column : columns_) bytes += column.memory_bytes();
  return bytes;
}

void RowBatches::count(int64_t rows, int64_t bytes) {
  progress_.add(rows - counted_rows_, bytes);
  progress_.add_done(rows - counted_rows_);
  counted_rows_ = rows;
}

/// The columns' size is looked at now and then, since adding it up takes time; counters are brought up to date then,
/// too.
Status RowBatches::look(int64_t rows) {
  constexpr int64_t kMostInputBytes = 1 << 30;
  input_bytes_ += step_bytes_;
  step_bytes_ = 0;
  count(rows, 0);
  const bool is_full =
      rows - flushed_rows_ >= most_rows_ || input_bytes_ >= kMostInputBytes || memory() >= settings_.segment_size;
  return is_full ? flush(rows) : Status::ok();
}

Status RowBatches::flush(int64_t rows) {
  const int64_t added = rows - flushed_rows_;
  if (added == 0) return Status::ok();
  STROM_ASSIGN(const auto batch, format::arrow::encode_batch(columns_, added, compressor_));
  STROM_TRY(files_.write(batch, added, files_.statistics().of(columns_), worker_));
  count(rows, batch.bytes());
  flushed_rows_ = rows;
  input_bytes_ = 0;
  for (auto& column : columns_) column.clear();
  return Status::ok();
}

}  // namespace strom::tool
