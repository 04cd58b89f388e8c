// See sorted_copy.hpp.
#include "arrowstat/sorted_copy.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>

#include "arrow_files/workers.hpp"
#include "arrowstat/row_order.hpp"
#include "columnar/append_view.hpp"
#include "columnar/builder.hpp"
#include "columnar/dictionary_builder.hpp"
#include "columnar/layout.hpp"
#include "columnar/text.hpp"
#include "format/arrow/write/file_storage.hpp"
#include "format/arrow/statistics/value_range.hpp"
#include "format/arrow/write/writer.hpp"

namespace strom::tool {

using columnar::ColumnBuilder;
using columnar::ColumnView;
using columnar::Field;
using format::arrow::FileReader;
using format::arrow::ValueRange;

namespace {

class SortedWriter {
 public:
  SortedWriter(const FileReader& file, const SortedCopy& copy, Progress& progress)
      : file_(file), copy_(copy), progress_(progress) {}

  Status run() {
    STROM_TRY(load_columns());
    STROM_TRY(sort());
    STROM_TRY(load_storage());
    STROM_ASSIGN(writer_, format::arrow::FileWriter::create(copy_.path, copied_schema(), copy_.force, copy_.cache));
    ranges_.resize(schema().fields.size());
    const auto rows = static_cast<int64_t>(rows_.size());
    progress_.add_total(rows);
    for (int64_t begin = 0; begin < rows; begin += copy_.batch_rows)
      STROM_TRY(write_batch(begin, std::min(begin + copy_.batch_rows, rows)));
    STROM_TRY(write_dictionaries());
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

  columnar::Schema copied_schema() const {
    columnar::Schema copy = schema();
    for (Field& field : copy.fields) field.metadata = format::arrow::with_ranges(field.metadata, {});
    return copy;
  }

  /// The codec of the first record batch, a file without any having none, and the dictionaries.
  Status load_storage() {
    STROM_ASSIGN(const format::arrow::FileStorage storage, format::arrow::read_storage(file_.path()));
    codec_ = storage.batches.empty() ? format::arrow::Codec::kNone : storage.batches[0].codec;
    STROM_ASSIGN(dictionaries_, format::arrow::load_dictionaries(file_.path(), storage));
    return Status::ok();
  }

  Status write_batch(int64_t begin, int64_t end) {
    const std::vector<Field>& fields = writer_->schema().fields;
    std::vector<ColumnBuilder> columns(fields.begin(), fields.end());
    for (ColumnBuilder& column : columns) columnar::attach_dictionaries(column, dictionaries_);
    STROM_TRY(run_pieces(static_cast<int64_t>(columns.size()), copy_.threads, [&](int64_t column, int) {
      const auto i = static_cast<size_t>(column);
      const bool is_shared = has_dictionary(columns[i].field());  // columns may share one
      std::unique_lock lock(dictionaries_mutex_, std::defer_lock);
      if (is_shared) lock.lock();
      STROM_TRY(gather(views_[i], begin, end, columns[i]));
      if (const auto range = range_of(columns[i])) ranges_[i].push_back(*range);
      return Status::ok();
    }));
    progress_.add(end - begin, 0);
    progress_.add_done(end - begin);
    format::arrow::Compressor compressor({codec_, 0});
    STROM_ASSIGN(const auto batch, format::arrow::encode_batch(columns, end - begin, compressor));
    return writer_->write(batch).status();
  }

  Status gather(const std::vector<ColumnView>& views, int64_t begin, int64_t end, ColumnBuilder& column) const {
    for (int64_t i = begin; i < end; ++i) {
      const RowPlace place = rows_[static_cast<size_t>(i)];
      Status appended = columnar::append_view(views[place.batch], place.row, 1, column);
      if (appended.code() == ErrorCode::kUnsupported)
        return std::move(appended).with_hint("--batch-rows makes smaller ones.");
      STROM_TRY(appended);
    }
    return Status::ok();
  }

  /// Of texts of a dictionary, too.
  static std::optional<ValueRange> range_of(const ColumnBuilder& column) {
    const Field& field = column.field();
    if (!format::arrow::has_value_range(field.layout)) return std::nullopt;
    if (!field.dictionary) return format::arrow::value_range(column.view());
    if (column.dictionary() == nullptr || !columnar::is_text(field.layout)) return std::nullopt;
    const ColumnView& values = column.dictionary()->values().view();
    std::vector<registry::StrView> texts(static_cast<size_t>(values.length));
    for (int64_t i = 0; i < values.length; ++i) {
      registry::StrView& text = texts[static_cast<size_t>(i)];
      if (!columnar::is_valid(values, i) || !columnar::text_at(values, i, &text.ptr, &text.len)) text = {"", 0};
    }
    ColumnView view = column.view();
    view.dictionary = texts.data();
    view.dictionary_size = values.length;
    return format::arrow::value_range(view);
  }

  static bool has_dictionary(const Field& field) {
    return field.dictionary || std::any_of(field.children.begin(), field.children.end(), has_dictionary);
  }

  /// At the file's end, when all values are known.
  Status write_dictionaries() {
    for (const auto& [id, dictionary] : dictionaries_)
      STROM_TRY(writer_->write_dictionary(id, dictionary->values(), false));
    return Status::ok();
  }

  void store_statistics() {
    for (size_t i = 0; i < ranges_.size(); ++i)
      writer_->schema().fields[i].metadata = format::arrow::with_ranges(schema().fields[i].metadata, ranges_[i]);
  }

  const FileReader& file_;
  const SortedCopy& copy_;
  Progress& progress_;
  std::vector<FileColumn> columns_;             // whose memory the views point to
  std::vector<std::vector<ColumnView>> views_;  // by column, then by batch
  std::vector<RowPlace> rows_;
  std::vector<std::vector<ValueRange>> ranges_;  // by column, then by batch of the copy
  columnar::DictionaryBuilders dictionaries_;    // of the copy
  std::mutex dictionaries_mutex_;
  format::arrow::Codec codec_ = format::arrow::Codec::kNone;
  std::unique_ptr<format::arrow::FileWriter> writer_;
};

}  // namespace

Status write_sorted(const FileReader& file, const SortedCopy& copy, Progress& progress) {
  return SortedWriter(file, copy, progress).run();
}

}  // namespace strom::tool
