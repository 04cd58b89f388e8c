// See report.hpp.
#include "arrow_files/report.hpp"

#include <fmt/format.h>

#include "arrow_files/stored_value.hpp"
#include "arrow_files/workers.hpp"
#include "common/progress.hpp"
#include "format/arrow/batch_metadata.hpp"
#include "format/arrow/validate.hpp"
#include "format/arrow/value_range.hpp"

namespace strom::tool {

using columnar::Field;
using columnar::KeyValues;
using format::arrow::FileReader;
using format::arrow::ValueRange;

namespace {

/// Values of metadata can be as long as the file.
std::string shortened(const std::string& text) {
  constexpr size_t kMostShown = 120;
  if (text.size() <= kMostShown) return json_text(text);
  return json_text(text.substr(0, kMostShown)) + fmt::format(" + {} bytes", text.size() - kMostShown);
}

std::string metadata_lines(const KeyValues& metadata, const std::string& indent) {
  std::string text;
  for (const auto& [key, value] : metadata) text += fmt::format("{}{}: {}\n", indent, key, shortened(value));
  return text;
}

std::string range_text(const Field& field, const ValueRange& range) {
  if (range.low == format::arrow::kNoValue) return "unknown";
  return stored_value_text(field, range.low) + " .. " + stored_value_text(field, range.high);
}

std::string column_text(const FileReader& file, const Field& field, const ReportParts& parts) {
  std::string text = fmt::format("  {} {}{}\n", field.name, type_text(field), field.nullable ? "" : " not null");
  if (parts.metadata) text += metadata_lines(field.metadata, "    ");
  if (!parts.statistics || !field.unsupported.empty()) return text;
  const auto ranges = format::arrow::stated_ranges(field, file.batch_count());
  for (size_t batch = 0; batch < ranges.size(); ++batch)
    text += fmt::format("    [{}] {}\n", batch, range_text(field, ranges[batch]));
  return text;
}

Result<std::string> batch_lines(const FileReader& file, bool with_metadata) {
  std::string text;
  std::vector<KeyValues> metadata(static_cast<size_t>(file.batch_count()));
  if (with_metadata) {
    STROM_ASSIGN(metadata, format::arrow::batch_metadata(file.path()));
    metadata.resize(static_cast<size_t>(file.batch_count()));  // the file may have changed meanwhile
  }
  for (int batch = 0; batch < file.batch_count(); ++batch) {
    STROM_ASSIGN(const auto place, file.batch_location(batch));
    STROM_ASSIGN(const int64_t rows, file.batch_rows(batch));
    text += fmt::format("RecordBatch[{}]: offset={} length={} (meta={}, body={}) nitems={}\n", batch, place.offset,
                        place.meta_size + place.body_size, place.meta_size, place.body_size, rows);
    text += metadata_lines(metadata[static_cast<size_t>(batch)], "  ");
  }
  return text;
}

std::string json_metadata(const KeyValues& metadata) {
  std::string text = "[";
  for (const auto& [key, value] : metadata)
    text += fmt::format("{}{{\"key\":{},\"value\":{}}}", text.size() > 1 ? "," : "", json_text(key), json_text(value));
  return text + "]";
}

std::string json_statistics(const FileReader& file, const Field& field) {
  const auto ranges = format::arrow::stated_ranges(field, file.batch_count());
  if (ranges.empty() || !field.unsupported.empty()) return "null";
  std::string text = "[";
  for (const ValueRange& range : ranges) {
    if (text.size() > 1) text += ",";
    text += range.low == format::arrow::kNoValue
                ? std::string("null")
                : fmt::format("{{\"min\":{},\"max\":{}}}", json_text(stored_value_text(field, range.low)),
                              json_text(stored_value_text(field, range.high)));
  }
  return text + "]";
}

std::string json_column(const FileReader& file, const Field& field) {
  return fmt::format("{{\"name\":{},\"type\":{},\"readable\":{},\"nullable\":{},\"statistics\":{},\"metadata\":{}}}",
                     json_text(field.name), json_text(type_text(field)), field.unsupported.empty(), field.nullable,
                     json_statistics(file, field), json_metadata(field.metadata));
}

}  // namespace

Result<std::string> text_report(const FileReader& file, const ReportParts& parts) {
  STROM_ASSIGN(const int64_t rows, count_rows(file));
  std::string text = fmt::format("{}: {} bytes, {} record batches, {} rows, {} columns\n", file.path(),
                                 file.identity().size, file.batch_count(), rows, file.schema().fields.size());
  for (const Field& field : file.schema().fields) text += column_text(file, field, parts);
  if (parts.metadata && !file.schema().metadata.empty())
    text += "metadata:\n" + metadata_lines(file.schema().metadata, "  ");
  if (parts.batches) {
    STROM_ASSIGN(const std::string lines, batch_lines(file, parts.metadata));
    text += lines;
  }
  return text;
}

Result<std::string> json_report(const FileReader& file) {
  STROM_ASSIGN(const int64_t rows, count_rows(file));
  std::string columns, batches;
  for (const Field& field : file.schema().fields) columns += (columns.empty() ? "" : ",") + json_column(file, field);
  for (int batch = 0; batch < file.batch_count(); ++batch) {
    STROM_ASSIGN(const auto place, file.batch_location(batch));
    STROM_ASSIGN(const int64_t batch_rows, file.batch_rows(batch));
    batches += fmt::format("{}{{\"offset\":{},\"metadata_bytes\":{},\"body_bytes\":{},\"rows\":{}}}",
                           batches.empty() ? "" : ",", place.offset, place.meta_size, place.body_size, batch_rows);
  }
  return fmt::format("{{\"file\":{},\"bytes\":{},\"rows\":{},\"columns\":[{}],\"batches\":[{}],\"metadata\":{}}}\n",
                     json_text(file.path()), file.identity().size, rows, columns, batches,
                     json_metadata(file.schema().metadata));
}

Result<std::vector<std::string>> problems(const FileReader& file, int threads) {
  const auto& fields = file.schema().fields;
  const auto pieces = static_cast<int64_t>(fields.size()) * file.batch_count();
  std::vector<std::vector<std::string>> found(static_cast<size_t>(pieces));
  STROM_TRY(run_pieces(pieces, threads, [&](int64_t piece, int) -> Status {
    const auto batch = static_cast<int>(piece / static_cast<int64_t>(fields.size()));
    const auto column = static_cast<size_t>(piece) % fields.size();
    const Field& field = fields[column];
    if (!field.unsupported.empty()) return Status::ok();
    const auto view = file.column(batch, static_cast<int>(column));
    std::vector<std::string>& lines = found[static_cast<size_t>(piece)];
    const std::string where = fmt::format("record batch {}, column \"{}\"", batch, field.name);
    if (!view.is_ok()) {
      if (view.status().code() != ErrorCode::kCorruptFile) return view.status();
      lines.push_back(where + ": " + view.status().detail());
      return Status::ok();
    }
    for (const auto& finding : format::arrow::validate_column(field, view.value(), batch, file.batch_count()))
      lines.push_back(where + (finding.row < 0 ? "" : fmt::format(", row {}", finding.row)) + ": " + finding.what);
    return file.is_poisoned() ? file.check_unchanged() : Status::ok();
  }));
  std::vector<std::string> all;
  for (const auto& lines : found) all.insert(all.end(), lines.begin(), lines.end());
  STROM_TRY(file.check_unchanged());
  return all;
}

}  // namespace strom::tool
