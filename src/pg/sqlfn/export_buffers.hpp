// A query's rows as the buffers of an export: the columns one after another as a matrix, or each by itself in Arrow's
// layout. The file describes itself at its end: docs/format/exports.md. Used by export.cpp.
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
  bool is_matrix = false;  // columns of one type of fixed width, without gaps between them
  bool is_stream = false;  // Arrow's stream, which has all types
  bool is_pinned = false;
  Nulls nulls = Nulls::kMask;
  double fill = 0;    // of kFill
  int64_t limit = 0;  // bytes that the buffers may take
  // The GPU whose memory gets the columns; kServerMemory: none does.
  int32_t device = kServerMemory;

  static constexpr int32_t kServerMemory = -2;
};

/// The file to hand to the keeper, and what goes with it.
struct FinishedExport {
  service::ExportFile* file = nullptr;
  int64_t bytes = 0;  // of the memory that it takes
  std::optional<exports::DeviceCopy> copy;
};

/// The error of exports that would take more than `limit` bytes.
Status over_limit(int64_t limit);
/// What is behind an export's buffers: the description, a JSON object, and how to find it.
std::string export_end(std::string description);

/// Rows in, a sealed file out. Main thread only.
class ExportBuffers final : public RowSink {
 public:
  explicit ExportBuffers(const ExportSettings& settings) : settings_(settings) {}

  /// Columns are those of `row`. `expected`: about how many rows there will be, 0 = not known. May throw: a type that
  /// exports do not have (0A000), types that differ in a matrix (42804).
  void start(TupleDesc row, int64_t expected);
  void add(const Datum* values, const bool* nulls) override { rows_->append(values, nulls); }
  void add(const codec::RegisterColumn* columns, int64_t first, int64_t count) override {
    rows_->append(columns, first, count);
  }
  int64_t room() const override;
  bool is_full() const override;
  void flush() override;
  /// The rest, the copy to a GPU, the description and the seal. May throw.
  FinishedExport finish();
  /// All that the bytes depend on besides the values of the rows, as arbitrary bytes. Empty: on more than that, such as
  /// names of an enum's values. After start().
  std::string identity() const;
  int64_t rows() const { return rows_before_; }
  int64_t columns() const { return static_cast<int64_t>(columns_.size()); }

 private:
  struct Column {
    size_t values = 0, texts = 0, validity = 0;  // buffers of the file
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
  bool is_lasting_ = true;  // what values become depends on nothing that can be changed
};

}  // namespace strom::pg::sqlfn
