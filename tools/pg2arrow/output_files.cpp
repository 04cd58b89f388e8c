// See output_files.hpp.
#include "pg2arrow/output_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/os_error.hpp"
#include "common/verify.hpp"
#include "format/staged_file.hpp"

namespace strom::pg2arrow {

namespace {

using columnar::Kind;
using columnar::NestedField;
using format::arrow::NestedWriter;

/// As Hive writes them: what has a meaning in paths or would not be printed is %XX.
std::string path_part(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || std::string_view("\"#%'*/:=?\\{[]^").find(c) != std::string_view::npos) {
      out += fmt::format("%{:02X}", byte);
    } else {
      out += c;
    }
  }
  return out;
}

Status make_folder(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0777) != 0 && errno != EEXIST)
      return base::os_error(errno, "could not create folder \"" + part + "\"");
  }
  return Status::ok();
}

}  // namespace

Result<std::unique_ptr<OutputFiles>> OutputFiles::open(const Settings& settings, std::vector<Column>& columns,
                                                       const std::string& sql, tool::Progress& progress) {
  auto files = std::unique_ptr<OutputFiles>(new OutputFiles(settings, progress));
  files->schema_.metadata.emplace_back("sql_command", sql);
  if (!settings.append.empty()) {
    STROM_TRY(files->open_append(columns));
    return files;
  }
  for (const Column& column : columns) {
    files->schema_.fields.push_back(column.field);
    files->collect_dictionaries(column.field, column.wire);
  }
  STROM_TRY(files->choose_statistics());
  if (settings.partition_by.empty()) STROM_TRY(files->open_next());
  return files;
}

void OutputFiles::collect_dictionaries(const NestedField& field, const format::pgwire::WireColumn& wire) {
  const bool known = std::any_of(dictionaries_.begin(), dictionaries_.end(),
                                 [&](const auto& dictionary) { return dictionary.first == field.dictionary; });
  if (field.dictionary >= 0 && !known) dictionaries_.emplace_back(field.dictionary, wire.labels);
  for (size_t i = 0; i < field.children.size(); ++i) collect_dictionaries(field.children[i], wire.children[i]);
}

Status OutputFiles::choose_statistics() {
  for (const std::string& name : settings_.statistics) {
    bool found = name == "*";
    for (size_t i = 0; i < schema_.fields.size(); ++i) {
      const NestedField& field = schema_.fields[i];
      if (name != "*" && field.name != name) continue;
      found = true;
      if (can_have_bounds(field)) {
        statistics_columns_.push_back(i);
      } else if (name != "*") {
        return Status(ErrorCode::kInvalidParameter, "column \"" + name + "\" can have no statistics")
            .with_detail("They are kept for numbers, dates, times and timestamps, not for " +
                         columnar::type_text(field) + ".");
      }
    }
    if (!found)
      return Status(ErrorCode::kInvalidParameter, "there is no column \"" + name + "\" to keep statistics of");
  }
  std::sort(statistics_columns_.begin(), statistics_columns_.end());
  statistics_columns_.erase(std::unique(statistics_columns_.begin(), statistics_columns_.end()),
                            statistics_columns_.end());
  statistics_ = Statistics(statistics_columns_);
  return Status::ok();
}

Status OutputFiles::write_dictionary(int64_t id, const std::vector<std::string>& labels, bool is_delta) {
  NestedField field;
  field.kind = Kind::kUtf8;
  columnar::NestedBuilder values(field);
  for (const std::string& label : labels) values.append_bytes(label.data(), static_cast<int64_t>(label.size()));
  return writer_->write_dictionary(id, values, is_delta);
}

std::string OutputFiles::next_path() const {
  const std::string& path = settings_.output.path;
  if (!settings_.partition_by.empty()) return fmt::format("{}/{}part-{:05}.arrow", path, partition_, part_ + 1);
  if (settings_.rows_per_file == 0) return path;
  const size_t slash = path.rfind('/'), dot = path.rfind('.');
  const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
  const size_t end = has_suffix ? dot : path.size();
  return fmt::format("{}-{:05}{}", path.substr(0, end), part_ + 1, path.substr(end));
}

Result<std::unique_ptr<format::ByteSink>> OutputFiles::open_sink(const std::string& path) {
  tool::OutputOptions output = settings_.output;
  output.path = path;
  STROM_ASSIGN(auto sink, tool::open_output(output));
  if (!settings_.verify || output.is_stream()) return sink;
  std::string file = sink->path();
  return tool::verifying_sink(std::move(sink), std::move(file));
}

Status OutputFiles::open_next() {
  path_ = next_path();
  if (!settings_.partition_by.empty()) STROM_TRY(make_folder(path_));
  STROM_ASSIGN(auto sink, open_sink(path_));
  statistics_ = Statistics(statistics_columns_);
  STROM_ASSIGN(writer_, NestedWriter::create(std::move(sink), schema_, settings_.output.is_stream()));
  for (const auto& [id, labels] : dictionaries_) STROM_TRY(write_dictionary(id, labels->all(), false));
  file_rows_ = 0;
  ++part_;
  ++files_;
  return Status::ok();
}

Status OutputFiles::open_append(std::vector<Column>& columns) {
  STROM_ASSIGN(path_, tool::file_behind(settings_.append));
  // It will be replaced rather than written to, which its permissions would not prevent.
  if (access(path_.c_str(), F_OK) == 0 && access(path_.c_str(), W_OK) != 0) {
    return base::os_error(errno, "could not append to file \"" + path_ + "\"");
  }
  STROM_ASSIGN(lock_, AppendLock::take(path_));
  STROM_ASSIGN(const auto existing, format::arrow::ExistingFile::open(path_));
  STROM_ASSIGN(const auto growth, fit_to_file(*existing, path_, columns));
  schema_.metadata = existing->schema.metadata;
  for (const Column& column : columns) schema_.fields.push_back(column.field);
  STROM_TRY(choose_statistics());
  // Columns that have statistics go on having them.
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    const auto& metadata = schema_.fields[i].metadata;
    const bool has =
        std::any_of(metadata.begin(), metadata.end(), [](const auto& item) { return item.first == "min_values"; });
    if (has && can_have_bounds(schema_.fields[i])) statistics_columns_.push_back(i);
  }
  std::sort(statistics_columns_.begin(), statistics_columns_.end());
  statistics_columns_.erase(std::unique(statistics_columns_.begin(), statistics_columns_.end()),
                            statistics_columns_.end());
  statistics_ = Statistics(statistics_columns_);
  statistics_.resume(existing->schema, existing->batches);
  STROM_ASSIGN(auto file, format::StagedFile::create(path_, true));
  STROM_TRY(existing->copy_messages(*file));
  std::unique_ptr<format::ByteSink> sink = std::move(file);
  if (settings_.verify) sink = tool::verifying_sink(std::move(sink), path_);
  STROM_ASSIGN(writer_, NestedWriter::resume(std::move(sink), *existing, schema_));
  for (const DictionaryGrowth& dictionary : growth) STROM_TRY(write_dictionary(dictionary.id, dictionary.added, true));
  ++files_;
  return Status::ok();
}

Status OutputFiles::close_current() {
  if (writer_ == nullptr) return Status::ok();
  statistics_.put(writer_->schema());
  Status status = writer_->finish();
  writer_.reset();
  return status;
}

Status OutputFiles::write(const format::arrow::EncodedBatch& batch, int64_t rows, std::vector<Bounds> bounds) {
  std::lock_guard lock(mutex_);
  if (settings_.rows_per_file > 0 && file_rows_ > 0 && file_rows_ + rows > settings_.rows_per_file)
    STROM_TRY(close_current());
  if (writer_ == nullptr) STROM_TRY(open_next());
  STROM_ASSIGN(const auto place, writer_->write(batch));
  statistics_.add(std::move(bounds));
  file_rows_ += rows;
  rows_ += rows;
  ++batches_;
  progress_.note(fmt::format("RecordBatch[{}]: offset={} length={} (meta={}, body={}) nitems={}", place.index,
                             place.offset, place.meta_size + place.body_size, place.meta_size, place.body_size, rows));
  return Status::ok();
}

Status OutputFiles::new_partition(const std::vector<std::optional<std::string>>& values) {
  STROM_TRY(close_current());
  partition_.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string value = values[i] ? path_part(*values[i]) : "__HIVE_DEFAULT_PARTITION__";
    partition_ += path_part(settings_.partition_by[i]) + "=" + value + "/";
  }
  part_ = 0;
  return Status::ok();
}

Status OutputFiles::finish() { return close_current(); }

}  // namespace strom::pg2arrow
