// Writes a query's rows to the buffers of an export: the columns one after another as a matrix, or each column in
// Arrow's layout. The file ends with a description of itself: docs/format/exports.md. Used by export.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pg/exports/device_copy.hpp"
#include "pg/sqlfn/row_sink.hpp"
#include "service/export_file.hpp"

namespace strom::pg::sqlfn {

struct ExportSettings {
  enum class Nulls : uint8_t { kError, kMask, kFill };
  bool is_matrix = false;  // columns of one type of fixed width, without gaps
  bool is_stream = false;  // an Arrow stream, which supports all types
  bool is_pinned = false;
  Nulls nulls = Nulls::kMask;
  double fill = 0;    // the value for kFill
  int64_t limit = 0;  // limit of the buffers, in bytes
  // The GPU whose memory gets the columns; kServerMemory: no GPU.
  int32_t device = kServerMemory;

  static constexpr int32_t kServerMemory = -2;
};

/// The file for the keeper, with its facts.
struct FinishedExport {
  service::ExportFile* file = nullptr;
  int64_t bytes = 0;  // memory that it takes
  std::optional<exports::DeviceCopy> copy;
};

/// The error for exports that would exceed `limit` bytes.
Status over_limit(int64_t limit);
/// The bytes behind an export's buffers: the description (a JSON object), and how to find it.
std::string export_end(std::string description);

/// Writes rows to a sealed file. Main thread only.
class ExportBuffers final : public RowSink {
 public:
  explicit ExportBuffers(const ExportSettings& settings) : settings_(settings) {}

  /// Takes the columns from `row`. `expected`: the approximate number of rows, 0 = unknown. May throw: a type that
  /// exports do not support (0A000), different types in a matrix (42804).
  void start(TupleDesc row, int64_t expected);
  void add(const Datum* values, const bool* nulls) override { rows_->append(values, nulls); }
  void add(const codec::RegisterColumn* columns, int64_t first, int64_t count) override {
    rows_->append(columns, first, count);
  }
  int64_t room() const override;
  bool is_full() const override;
  void flush() override;
  /// Writes the remaining rows, copies to a GPU, and writes the description and the seal. May throw.
  FinishedExport finish();
  /// Everything besides the rows' values that the bytes depend on, in an arbitrary encoding. Empty if that is more than
  /// this object knows, such as the names of an enum's values. Call after start().
  std::string identity() const;
  int64_t rows() const { return rows_before_; }
  int64_t columns() const { return static_cast<int64_t>(columns_.size()); }

 private:
  struct Column {
    size_t values = 0, texts = 0, validity = 0;  // numbers of the file's buffers
    int64_t null_count = 0, text_bytes = 0;
  };
  void add_column(const char* name, int attribute, codec::SqlType type);
  void require_one_type() const;
  void put_nulls(size_t index, columnar::ColumnBuilder& column);
  void put_values(size_t index, const columnar::ColumnBuilder& column);
  void append(size_t buffer, const void* bytes, int64_t size);
  std::string description(const exports::DeviceCopy* copy) const;

  const ExportSettings settings_;
  std::unique_ptr<codec::RowWriter> rows_;
  std::unique_ptr<service::ExportFile> file_;
  std::vector<Column> columns_;
  std::vector<std::string> type_names_;
  std::vector<uint8_t> scratch_;
  int64_t rows_before_ = 0;
  bool is_lasting_ = true;  // the conversion depends on nothing that can be changed
};

}  // namespace strom::pg::sqlfn
