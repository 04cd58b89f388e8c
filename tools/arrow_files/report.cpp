// See report.hpp.
#include "arrow_files/report.hpp"

#include <fmt/format.h>

#include "arrow_files/open_file.hpp"
#include "arrow_files/stored_value.hpp"
#include "arrow_files/workers.hpp"
#include "cli/progress.hpp"
#include "format/arrow/write/file_storage.hpp"
#include "format/arrow/read/validate.hpp"
#include "format/arrow/statistics/value_range.hpp"

namespace strom::tool {

using columnar::Field;
using columnar::KeyValues;
using format::arrow::FileReader;
using format::arrow::FileStorage;
using format::arrow::ValueRange;

namespace {

/// The file may have changed since it was opened: then what belongs to its batches is not known.
Result<FileStorage> known_storage(const FileReader& file) {
  STROM_ASSIGN(FileStorage storage, storage_of(file));
  storage.batches.resize(static_cast<size_t>(file.batch_count()));
  return storage;
}

int64_t values_of(const FileStorage& storage, int64_t dictionary) {
  for (const auto& [id, values] : storage.dictionary_values)
    if (id == dictionary) return values;
  return 0;
}

/// Values of metadata can be as long as the file.
std::string shortened(const std::string& text) {
  constexpr size_t kMostShown = 120;
  if (text.size() <= kMostShown) return json_text(text);
  size_t shown = kMostShown;  // no half characters
  while (shown > 0 && (static_cast<unsigned char>(text[shown]) & 0xC0) == 0x80) --shown;
  return json_text(text.substr(0, shown)) + fmt::format(" + {} bytes", text.size() - shown);
}

std::string metadata_lines(const KeyValues& metadata, const std::string& indent) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    const std::string name = json_text(key);  // without its quotes
    text += fmt::format("{}{}: {}\n", indent, name.substr(1, name.size() - 2), shortened(value));
  }
  return text;
}

std::string range_text(const Field& field, const ValueRange& range) {
  if (range.low == format::arrow::kNoValue) return "unknown";
  return stored_value_text(field, range.low) + " .. " + stored_value_text(field, range.high);
}

/// How a column's values, or those of its parts, are dictionary-encoded.
std::string dictionary_text(const FileStorage& storage, size_t column) {
  std::string text;
  if (column >= storage.dictionaries.size()) return text;
  for (const auto& dictionary : storage.dictionaries[column])
    text +=
        fmt::format("{} dictionary {} of {} values, {} indexes{}", text.empty() ? "" : ",", dictionary.id,
                    values_of(storage, dictionary.id), dictionary.index_type, dictionary.is_ordered ? ", ordered" : "");
  return text;
}

std::string column_text(const FileReader& file, const FileStorage& storage, size_t column, const ReportParts& parts) {
  const Field& field = file.schema().fields[column];
  std::string text = fmt::format("  {} {}{}{}\n", field.name, value_type_text(field), dictionary_text(storage, column),
                                 field.nullable ? "" : " not null");
  if (parts.metadata) text += metadata_lines(field.metadata, "    ");
  if (!parts.statistics || !field.unsupported.empty()) return text;
  const auto ranges = format::arrow::stated_ranges(field, file.batch_count());
  for (size_t batch = 0; batch < ranges.size(); ++batch)
    text += fmt::format("    [{}] {}\n", batch, range_text(field, ranges[batch]));
  return text;
}

Result<std::string> batch_lines(const FileReader& file, const FileStorage& storage, bool with_metadata) {
  std::string text;
  for (int batch = 0; batch < file.batch_count(); ++batch) {
    STROM_ASSIGN(const auto place, file.batch_location(batch));
    STROM_ASSIGN(const int64_t rows, file.batch_rows(batch));
    const auto& stored = storage.batches[static_cast<size_t>(batch)];
    text += fmt::format("RecordBatch[{}]: offset={} length={} (meta={}, body={}) nitems={}", batch, place.offset,
                        place.meta_size + place.body_size, place.meta_size, place.body_size, rows);
    if (stored.codec != format::arrow::Codec::kNone)
      text += std::string(" codec=") + format::arrow::codec_text(stored.codec);
    text += "\n";
    if (with_metadata) text += metadata_lines(stored.metadata, "  ");
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

std::string json_dictionaries(const FileStorage& storage, size_t column) {
  std::string text = "[";
  if (column >= storage.dictionaries.size()) return text + "]";
  for (const auto& dictionary : storage.dictionaries[column])
    text += fmt::format("{}{{\"id\":{},\"values\":{},\"index\":{},\"ordered\":{}}}", text.size() > 1 ? "," : "",
                        dictionary.id, values_of(storage, dictionary.id), json_text(dictionary.index_type),
                        dictionary.is_ordered);
  return text + "]";
}

std::string json_column(const FileReader& file, const FileStorage& storage, size_t column) {
  const Field& field = file.schema().fields[column];
  return fmt::format(
      "{{\"name\":{},\"type\":{},\"readable\":{},\"nullable\":{},\"dictionaries\":{},\"statistics\":{},\"metadata\":{}}"
      "}",
      json_text(field.name), json_text(value_type_text(field)), field.unsupported.empty(), field.nullable,
      json_dictionaries(storage, column), json_statistics(file, field), json_metadata(field.metadata));
}

}  // namespace

Result<std::string> text_report(const FileReader& file, const ReportParts& parts) {
  STROM_ASSIGN(const int64_t rows, count_rows(file));
  std::string text = fmt::format("{}: {} bytes, {} record batches, {} rows, {} columns\n", file.path(),
                                 file.identity().size, file.batch_count(), rows, file.schema().fields.size());
  STROM_ASSIGN(const FileStorage storage, known_storage(file));
  for (size_t i = 0; i < file.schema().fields.size(); ++i) text += column_text(file, storage, i, parts);
  if (parts.metadata && !file.schema().metadata.empty())
    text += "metadata:\n" + metadata_lines(file.schema().metadata, "  ");
  if (parts.batches) {
    STROM_ASSIGN(const std::string lines, batch_lines(file, storage, parts.metadata));
    text += lines;
  }
  return text;
}

Result<std::string> json_report(const FileReader& file) {
  STROM_ASSIGN(const int64_t rows, count_rows(file));
  std::string columns, batches;
  STROM_ASSIGN(const FileStorage storage, known_storage(file));
  for (size_t i = 0; i < file.schema().fields.size(); ++i)
    columns += (columns.empty() ? "" : ",") + json_column(file, storage, i);
  for (int batch = 0; batch < file.batch_count(); ++batch) {
    STROM_ASSIGN(const auto place, file.batch_location(batch));
    STROM_ASSIGN(const int64_t batch_rows, file.batch_rows(batch));
    const auto& stored = storage.batches[static_cast<size_t>(batch)];
    batches += fmt::format(
        "{}{{\"offset\":{},\"metadata_bytes\":{},\"body_bytes\":{},\"rows\":{},\"codec\":{},\"metadata\":{}}}",
        batches.empty() ? "" : ",", place.offset, place.meta_size, place.body_size, batch_rows,
        json_text(format::arrow::codec_text(stored.codec)), json_metadata(stored.metadata));
  }
  return fmt::format(
      "{{\"file\":{},\"format\":{},\"bytes\":{},\"rows\":{},\"columns\":[{}],\"batches\":[{}],"
      "\"metadata\":{}}}\n",
      json_text(file.path()), json_text(storage.is_stream ? "stream" : "file"), file.identity().size, rows, columns,
      batches, json_metadata(file.schema().metadata));
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
