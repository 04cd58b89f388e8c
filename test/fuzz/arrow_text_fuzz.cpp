// Fuzzer of what tools make of Arrow files: any bytes may be a file. Its rows are written in every style, its
// statistics computed, its values validated.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "format/arrow/read/reader.hpp"
#include "format/arrow/read/validate.hpp"
#include "format/arrow/statistics/value_range.hpp"
#include "format/csv/row_text.hpp"

namespace {

using strom::columnar::BatchView;
using strom::columnar::ColumnView;
using strom::columnar::Field;
using strom::format::csv::RowText;
using strom::format::csv::Style;
using strom::format::csv::TextBuffer;
using strom::format::csv::TextOptions;

constexpr int64_t kEnoughRows = 2'000;
constexpr int64_t kEnoughBytes = 1 << 20;  // hostile offsets can make every row as long as the whole text

/// The same bytes whether rows are written at once or one by one.
void write_rows(const std::vector<Field>& fields, const BatchView& batch, Style style) {
  TextOptions options;
  options.style = style;
  options.delimiter = style == Style::kTsv ? '\t' : ',';
  options.binary_hex = style == Style::kJsonLines;
  const auto text = RowText::create(fields, options);
  if (!text.is_ok()) return;
  const int64_t rows = std::min(batch.rows, kEnoughRows);
  TextBuffer whole, parts;
  bool written = true;
  for (int64_t row = 0; row < rows && written; ++row) {
    written = text.value()->append_rows(batch, row, row + 1, parts).is_ok();
    if (parts.size() > kEnoughBytes) return;
  }
  if (text.value()->append_rows(batch, 0, rows, whole).is_ok() != written) __builtin_trap();
  if (written && whole.view() != parts.view()) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const auto copy = std::make_unique<uint8_t[]>(size);
  if (size > 0) std::memcpy(copy.get(), bytes, size);
  const auto opened = strom::format::arrow::FileReader::open_memory("fuzz", {copy.get(), size});
  if (!opened.is_ok()) return 0;
  const auto& reader = *opened.value();
  constexpr size_t kEnough = 1024;
  if (static_cast<size_t>(reader.batch_count()) * (reader.schema().fields.size() + 1) > kEnough) return 0;
  for (int batch = 0; batch < reader.batch_count(); ++batch) {
    std::vector<Field> fields;
    BatchView view;
    std::vector<decltype(reader.column(0, 0))> columns;  // keep what the views point to
    const auto rows = reader.batch_rows(batch);
    if (!rows.is_ok()) continue;
    view.rows = rows.value();
    for (size_t i = 0; i < reader.schema().fields.size(); ++i) {
      const auto& column = columns.emplace_back(reader.column(batch, static_cast<int>(i)));
      if (!column.is_ok()) continue;
      fields.push_back(reader.schema().fields[i]);
      view.columns.push_back(column.value());
      if (view.rows > kEnoughRows) continue;
      const auto actual = strom::format::arrow::value_range(column.value());
      if (!strom::format::arrow::covers(column.value().layout, actual, actual)) __builtin_trap();
      strom::format::arrow::validate_column(fields.back(), column.value(), batch, reader.batch_count());
    }
    for (const Style style : {Style::kCsv, Style::kTsv, Style::kJsonLines, Style::kMarkdown})
      write_rows(fields, view, style);
  }
  return 0;
}
