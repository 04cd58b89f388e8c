// Writes a query's rows as Arrow record batches, for SQL functions.
#pragma once

#include <algorithm>
#include <memory>
#include <string>

#include "format/arrow/statistics/batch_statistics.hpp"
#include "format/arrow/write/writer.hpp"
#include "pg/codec/column_writer.hpp"
#include "pg/sqlfn/row_sink.hpp"

namespace strom::pg::sqlfn {

/// The settings that the functions' argument `options` can change.
struct OutputSettings {
  codec::WriteSettings columns;
  format::arrow::Compression compression;
  int64_t batch_bytes = int64_t{64} << 20, batch_rows = INT64_MAX;
  bool overwrite = false, statistics = true;
};

/// Changes `settings` as the jsonb object says. May throw: kInvalidParameter.
void read_settings(Datum jsonb, OutputSettings* settings);

/// Converts rows to record batches. Main thread only.
class ArrowOutput final : public RowSink {
 public:
  ArrowOutput(const OutputSettings& settings, bool stream) : settings_(settings), stream_(stream) {}

  /// Takes the columns from `row`, and writes schema and dictionaries. May throw.
  void start(TupleDesc row, std::unique_ptr<format::ByteSink> sink);
  void add(const Datum* values, const bool* nulls) override { rows_->append(values, nulls); }
  void add(const codec::RegisterColumn* columns, int64_t first, int64_t count) override {
    rows_->append(columns, first, count);
  }
  int64_t room() const override {
    const int64_t row = rows_->row_bytes(), left = settings_.batch_bytes - rows_->bytes();
    return std::min(settings_.batch_rows - rows_->rows(), (left + row - 1) / row);
  }
  bool is_full() const override {
    return rows_->bytes() >= settings_.batch_bytes || rows_->rows() >= settings_.batch_rows;
  }
  /// Writes the rows so far as a record batch. May throw.
  void flush() override;
  /// Writes the last batch and the end of the stream. May throw.
  void finish();
  int64_t total_rows() const { return total_rows_; }

 private:
  const OutputSettings settings_;
  bool stream_;
  std::unique_ptr<codec::RowWriter> rows_;
  std::unique_ptr<format::arrow::FileWriter> writer_;
  std::unique_ptr<format::arrow::Compressor> compressor_;
  format::arrow::Statistics statistics_{{}};
  int64_t total_rows_ = 0;
};

/// A sink in memory. Its bytes are available as a bytea at any time, without another copy.
class MemorySink final : public format::ByteSink {
 public:
  Status append(std::vector<struct iovec> pieces) override;
  int64_t position() const override { return position_; }
  const std::string& path() const override { return name_; }
  Status commit() override { return Status::ok(); }

  int64_t size() const { return static_cast<int64_t>(bytes_.size()) - VARHDRSZ; }
  const char* data() const { return bytes_.data() + VARHDRSZ; }
  void clear() { bytes_.resize(VARHDRSZ); }
  /// The bytes that were appended since clear(). Valid until the next call of the sink. Throws: kOverBudget.
  bytea* value();

 private:
  std::vector<char> bytes_ = std::vector<char>(VARHDRSZ);
  std::string name_ = "memory";
  int64_t position_ = 0;
};

}  // namespace strom::pg::sqlfn
