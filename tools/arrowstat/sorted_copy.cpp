// See sorted_copy.hpp.
#include "arrowstat/sorted_copy.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "arrow_files/workers.hpp"
#include "arrowstat/row_order.hpp"
#include "columnar/builder.hpp"
#include "columnar/layout.hpp"
#include "columnar/text.hpp"
#include "format/arrow/value_range.hpp"
#include "format/arrow/writer.hpp"

namespace strom::tool {

using columnar::ColumnBuilder;
using columnar::ColumnView;
using columnar::Field;
using columnar::Layout;
using format::arrow::FileReader;
using format::arrow::ValueRange;

namespace {

template <size_t kWidth>
struct Bytes {
  char bytes[kWidth];
};

template <size_t kWidth>
void append_fixed(const ColumnView& view, int64_t row, ColumnBuilder& column) {
  Bytes<kWidth> value;
  std::memcpy(&value, static_cast<const char*>(view.values) + row * static_cast<int64_t>(kWidth), kWidth);
  column.append_value(value);
}

class SortedWriter {
 public:
  SortedWriter(const FileReader& file, const SortedCopy& copy, Progress& progress)
      : file_(file), copy_(copy), progress_(progress) {}

  Status run() {
    STROM_TRY(load_columns());
    STROM_TRY(sort());
    STROM_ASSIGN(writer_, format::arrow::FileWriter::create(copy_.path, copied_schema(), copy_.force, copy_.cache));
    ranges_.resize(schema().fields.size());
    const auto rows = static_cast<int64_t>(rows_.size());
    progress_.add_total(rows);
    for (int64_t begin = 0; begin < rows; begin += copy_.batch_rows)
      STROM_TRY(write_batch(begin, std::min(begin + copy_.batch_rows, rows)));
    store_statistics();
    STROM_TRY(file_.check_unchanged());
    return writer_->finish();
  }

 private:
  const columnar::Schema& schema() const { return file_.schema(); }

  Status load_columns() {
    views_.resize(schema().fields.size());
    for (size_t column = 0; column < views_.size(); ++column) {
      for (int batch = 0; batch < file_.batch_count(); ++batch) {
        STROM_ASSIGN(columns_.emplace_back(), file_.column(batch, static_cast<int>(column)));
        views_[column].push_back(columns_.back());
      }
    }
    return Status::ok();
  }

  Status sort() {
    STROM_ASSIGN(const int64_t all_rows, count_rows(file_));
    rows_.reserve(static_cast<size_t>(all_rows));
    for (int batch = 0; batch < file_.batch_count(); ++batch) {
      STROM_ASSIGN(const int64_t rows, file_.batch_rows(batch));
      if (rows > std::numeric_limits<uint32_t>::max())
        return Status(ErrorCode::kUnsupported, "a record batch of " + std::to_string(rows) + " rows is too large");
      for (int64_t row = 0; row < rows; ++row)
        rows_.push_back({static_cast<uint32_t>(batch), static_cast<uint32_t>(row)});
    }
    for (auto column = copy_.sort_columns.rbegin(); column != copy_.sort_columns.rend(); ++column) {
      const auto i = static_cast<size_t>(*column);
      STROM_TRY(sort_rows(schema().fields[i], views_[i], copy_.threads, rows_));
    }
    return Status::ok();
  }

  /// Views of text are written with offsets.
  columnar::Schema copied_schema() const {
    columnar::Schema copy = schema();
    for (Field& field : copy.fields) {
      field.metadata = format::arrow::with_ranges(field.metadata, {});
      if (field.layout == Layout::kUtf8View) field.layout = Layout::kUtf8;
    }
    return copy;
  }

  Status write_batch(int64_t begin, int64_t end) {
    const columnar::Schema copied = copied_schema();
    std::vector<ColumnBuilder> columns(copied.fields.begin(), copied.fields.end());
    STROM_TRY(run_pieces(static_cast<int64_t>(columns.size()), copy_.threads, [&](int64_t column, int) {
      const auto i = static_cast<size_t>(column);
      STROM_TRY(gather(views_[i], begin, end, columns[i]));
      if (format::arrow::has_value_range(columns[i].field().layout))
        ranges_[i].push_back(format::arrow::value_range(columns[i].view()));
      return Status::ok();
    }));
    columnar::BatchView batch;
    batch.rows = end - begin;
    for (const ColumnBuilder& column : columns) batch.columns.push_back(column.view());
    progress_.add(batch.rows, 0);
    progress_.add_done(batch.rows);
    return writer_->write(batch);
  }

  Status gather(const std::vector<ColumnView>& views, int64_t begin, int64_t end, ColumnBuilder& column) const {
    for (int64_t i = begin; i < end; ++i) {
      const RowPlace place = rows_[static_cast<size_t>(i)];
      const ColumnView& view = views[place.batch];
      if (!columnar::is_valid(view, place.row)) {
        column.append_null();
      } else {
        STROM_TRY(append(view, place.row, column));
      }
    }
    return Status::ok();
  }

  Status append(const ColumnView& view, int64_t row, ColumnBuilder& column) const {
    const char* text = nullptr;
    int64_t size = 0;
    if (columnar::text_at(view, row, &text, &size)) {
      if (column.append_bytes({text, static_cast<size_t>(size)})) return Status::ok();
      return Status(ErrorCode::kUnsupported, "column \"" + column.field().name + "\" has too much text for a batch")
          .with_hint("--batch-rows makes smaller ones.");
    }
    if (columnar::refers_to_texts(view.layout))
      return Status(ErrorCode::kCorruptFile,
                    "column \"" + column.field().name + "\" has a text outside of its buffers");
    switch (columnar::value_width(view.layout, view.byte_width)) {
      case 0: column.append_bool((static_cast<const uint8_t*>(view.values)[row >> 3] >> (row & 7)) & 1); break;
      case 1: append_fixed<1>(view, row, column); break;
      case 2: append_fixed<2>(view, row, column); break;
      case 4: append_fixed<4>(view, row, column); break;
      case 8: append_fixed<8>(view, row, column); break;
      case 16: append_fixed<16>(view, row, column); break;
      default: return Status(ErrorCode::kInternal, "no such width of values");
    }
    return Status::ok();
  }

  void store_statistics() {
    for (size_t i = 0; i < ranges_.size(); ++i)
      writer_->set_metadata(static_cast<int>(i), format::arrow::with_ranges(schema().fields[i].metadata, ranges_[i]));
  }

  const FileReader& file_;
  const SortedCopy& copy_;
  Progress& progress_;
  std::vector<FileColumn> columns_;             // whose memory the views point to
  std::vector<std::vector<ColumnView>> views_;  // by column, then by batch
  std::vector<RowPlace> rows_;
  std::vector<std::vector<ValueRange>> ranges_;  // by column, then by batch of the copy
  std::unique_ptr<format::arrow::FileWriter> writer_;
};

}  // namespace

Status write_sorted(const FileReader& file, const SortedCopy& copy, Progress& progress) {
  return SortedWriter(file, copy, progress).run();
}

}  // namespace strom::tool
