// See file_statistics.hpp.
#include "arrowstat/file_statistics.hpp"

#include "arrow_files/workers.hpp"
#include "format/arrow/write/footer_edit.hpp"

namespace strom::tool {

using format::arrow::FileReader;

Result<Ranges> compute_ranges(const FileReader& file, const std::vector<int>& columns, int threads,
                              Progress& progress) {
  const auto batches = static_cast<size_t>(file.batch_count());
  Ranges ranges;
  for (const int column : columns) ranges[column].resize(batches);
  int64_t total = 0;
  for (int batch = 0; batch < file.batch_count(); ++batch) {
    for (const int column : columns) {
      STROM_ASSIGN(const int64_t bytes, file.column_bytes(batch, column));
      total += bytes;
    }
  }
  progress.add_total(total);
  // One batch after the other, as they lie in the file.
  const auto pieces = static_cast<int64_t>(batches * columns.size());
  STROM_TRY(run_pieces(pieces, threads, [&](int64_t piece, int) -> Status {
    const auto batch = static_cast<size_t>(piece) / columns.size();
    const int column = columns[static_cast<size_t>(piece) % columns.size()];
    STROM_ASSIGN(const FileColumn view, file.column(static_cast<int>(batch), column));
    STROM_ASSIGN(const int64_t bytes, file.column_bytes(static_cast<int>(batch), column));
    ranges.find(column)->second[batch] = format::arrow::value_range(view);
    progress.add(column == columns.front() ? view.length : 0, bytes);
    progress.add_done(bytes);
    return file.is_poisoned() ? file.check_unchanged() : Status::ok();
  }));
  return ranges;
}

Ranges read_ranges(const FileReader& file, const std::vector<int>& columns) {
  Ranges ranges;
  for (const int column : columns) {
    auto stated = format::arrow::stated_ranges(file.schema().fields[static_cast<size_t>(column)], file.batch_count());
    if (!stated.empty()) ranges[column] = std::move(stated);
  }
  return ranges;
}

Status store_ranges(const FileReader& file, const Ranges& ranges) {
  format::arrow::FieldMetadata metadata;
  for (const auto& [column, range] : ranges)
    metadata[column] = format::arrow::with_ranges(file.schema().fields[static_cast<size_t>(column)].metadata, range);
  return format::arrow::edit_footer(file, metadata);
}

}  // namespace strom::tool
