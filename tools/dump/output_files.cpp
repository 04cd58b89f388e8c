// See output_files.hpp.
#include "dump/output_files.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/hex.hpp"
#include "base/os_error.hpp"
#include "cli/verify.hpp"
#include "format/arrow/statistics/statistics_text.hpp"
#include "format/staged_file.hpp"

namespace strom::tool {

namespace {

using columnar::Field;
using format::arrow::can_have_bounds;
using format::arrow::FileWriter;

/// As Hive writes them: what has a meaning in paths or would not be printed is %XX.
std::string path_part(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F || std::string_view("\"#%'*/:=?\\{[]^").find(c) != std::string_view::npos) {
      base::append_hex(&(out += '%'), c, base::kUpperHexDigits);
    } else {
      out += c;
    }
  }
  return out;
}

/// FILE-00001.arrow
std::string numbered_path(const std::string& path, int64_t number) {
  const size_t slash = path.rfind('/'), dot = path.rfind('.');
  const bool has_suffix = dot != std::string::npos && (slash == std::string::npos || dot > slash + 1) && dot > 0;
  const size_t end = has_suffix ? dot : path.size();
  return fmt::format("{}-{:05}{}", path.substr(0, end), number, path.substr(end));
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

Result<WrittenParts> written_parts(const DumpSettings& settings) {
  WrittenParts out;
  for (;; ++out.files) {
    const std::string path = numbered_path(settings.output.path, out.files + 1);
    if (access(path.c_str(), F_OK) != 0) return out;
    STROM_ASSIGN(const auto file, format::arrow::ExistingFile::open(path));
    STROM_ASSIGN(const int64_t rows, file->count_rows());
    out.rows += rows;
  }
}

Result<std::unique_ptr<OutputFiles>> OutputFiles::open(const DumpSettings& settings, Contents& contents,
                                                       columnar::KeyValues metadata, Progress& progress) {
  auto files = std::unique_ptr<OutputFiles>(new OutputFiles(settings, progress));
  files->schema_.metadata = std::move(metadata);
  files->part_ = settings.first_part;
  if (!settings.append.empty()) {
    STROM_TRY(files->open_append(contents));
    return files;
  }
  files->schema_.fields = contents.fields;
  files->dictionaries_ = contents.dictionaries;
  STROM_TRY(files->choose_statistics());
  if (settings.partition_by.empty() && settings.first_part == 0) STROM_TRY(files->open_next());
  return files;
}

Status OutputFiles::choose_statistics() {
  for (const std::string& name : settings_.statistics) {
    bool found = name == "*";
    for (size_t i = 0; i < schema_.fields.size(); ++i) {
      const Field& field = schema_.fields[i];
      if (name != "*" && field.name != name) continue;
      found = true;
      if (can_have_bounds(field)) {
        statistics_columns_.push_back(i);
      } else if (name != "*") {
        return Status(ErrorCode::kInvalidParameter, "column \"" + name + "\" can have no statistics")
            .with_detail("They are kept for numbers, dates, times, timestamps and text, not for " +
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

Status OutputFiles::write_dictionary(int64_t id, Dictionary& dictionary) {
  Field field;
  field.layout = columnar::Layout::kUtf8;
  columnar::ColumnBuilder values(field);
  for (const std::string& label : dictionary.labels->from(dictionary.written)) {
    if (!values.append_bytes(label.data(), static_cast<int64_t>(label.size())))
      return Status(ErrorCode::kOverBudget, "more than 2 GiB in a dictionary")
          .with_hint("Leave out the column that has so many values from --dictionary.");
  }
  STROM_TRY(writer_->write_dictionary(id, values, dictionary.exists));
  dictionary.exists = true;
  dictionary.written += values.length();
  return Status::ok();
}

/// What is known is written at once. Of those that grow, files have one at their end, where readers find it as well as
/// anywhere; streams have what is new before each batch.
Status OutputFiles::write_dictionaries(bool is_end) {
  for (auto& [id, dictionary] : dictionaries_) {
    if (dictionary.labels->grows() && !is_end && !settings_.output.is_stream()) continue;
    if (dictionary.exists && dictionary.labels->size() == dictionary.written) continue;
    STROM_TRY(write_dictionary(id, dictionary));
  }
  return Status::ok();
}

std::string OutputFiles::next_path() const {
  const std::string& path = settings_.output.path;
  if (!settings_.partition_by.empty()) return fmt::format("{}/{}part-{:05}.arrow", path, partition_, part_ + 1);
  return settings_.rows_per_file == 0 ? path : numbered_path(path, part_ + 1);
}

Result<std::unique_ptr<format::ByteSink>> OutputFiles::open_sink(const std::string& path) {
  OutputOptions output = settings_.output;
  output.path = path;
  STROM_ASSIGN(auto sink, open_output(output));
  if (!settings_.verify || output.is_stream()) return sink;
  std::string file = sink->path();
  return verifying_sink(std::move(sink), std::move(file));
}

Status OutputFiles::open_next() {
  path_ = next_path();
  if (!settings_.partition_by.empty()) STROM_TRY(make_folder(path_));
  STROM_ASSIGN(auto sink, open_sink(path_));
  statistics_ = Statistics(statistics_columns_);
  STROM_ASSIGN(writer_, FileWriter::create(std::move(sink), schema_, settings_.output.is_stream()));
  for (auto& [id, dictionary] : dictionaries_) {
    dictionary.exists = false;
    dictionary.written = 0;
  }
  STROM_TRY(write_dictionaries(false));
  file_rows_ = 0;
  ++part_;
  ++files_;
  return Status::ok();
}

Status OutputFiles::open_append(Contents& contents) {
  STROM_ASSIGN(path_, file_behind(settings_.append));
  // It will be replaced rather than written to, which its permissions would not prevent.
  if (access(path_.c_str(), F_OK) == 0 && access(path_.c_str(), W_OK) != 0) {
    return base::os_error(errno, "could not append to file \"" + path_ + "\"");
  }
  STROM_ASSIGN(lock_, format::AppendLock::take(path_));
  STROM_ASSIGN(const auto existing, format::arrow::ExistingFile::open(path_));
  STROM_TRY(fit_to_file(*existing, path_, contents));
  schema_.metadata = existing->schema.metadata;
  schema_.fields = contents.fields;
  dictionaries_ = contents.dictionaries;
  STROM_TRY(choose_statistics());
  // Columns that have statistics go on having them.
  for (size_t i = 0; i < schema_.fields.size(); ++i) {
    const bool has = format::arrow::find_value(schema_.fields[i].metadata, format::arrow::kMinValuesKey) != nullptr;
    if (has && can_have_bounds(schema_.fields[i])) statistics_columns_.push_back(i);
  }
  std::sort(statistics_columns_.begin(), statistics_columns_.end());
  statistics_columns_.erase(std::unique(statistics_columns_.begin(), statistics_columns_.end()),
                            statistics_columns_.end());
  statistics_ = Statistics(statistics_columns_);
  statistics_.resume(existing->schema, existing->batches);
  STROM_ASSIGN(auto file, format::StagedFile::create(path_, true, settings_.output.cache()));
  STROM_TRY(existing->copy_messages(*file));
  std::unique_ptr<format::ByteSink> sink = std::move(file);
  if (settings_.verify) sink = verifying_sink(std::move(sink), path_);
  STROM_ASSIGN(writer_, FileWriter::resume(std::move(sink), *existing, schema_));
  STROM_TRY(write_dictionaries(false));
  ++files_;
  return Status::ok();
}

Status OutputFiles::close_current() {
  if (writer_ == nullptr) return Status::ok();
  STROM_TRY(write_dictionaries(true));
  statistics_.put(writer_->schema());
  Status status = writer_->finish();
  writer_.reset();
  return status;
}

Status OutputFiles::write(const format::arrow::EncodedBatch& batch, int64_t rows, std::vector<Bounds> bounds,
                          size_t worker) {
  std::lock_guard lock(mutex_);
  if (settings_.rows_per_file > 0 && file_rows_ > 0 && file_rows_ + rows > settings_.rows_per_file)
    STROM_TRY(close_current());
  if (writer_ == nullptr) STROM_TRY(open_next());
  STROM_TRY(write_dictionaries(false));
  STROM_ASSIGN(const auto place, writer_->write(batch));
  statistics_.add(std::move(bounds));
  file_rows_ += rows;
  rows_ += rows;
  ++batches_;
  progress_.note(fmt::format("{} RecordBatch[{}]: offset={} length={} (meta={}, body={}) nitems={} by worker:{}",
                             local_time(), place.index, place.offset, place.meta_size + place.body_size,
                             place.meta_size, place.body_size, rows, worker));
  return Status::ok();
}

Status OutputFiles::new_partition(const std::vector<std::optional<std::string>>& values) {
  STROM_TRY(close_current());
  parts_[partition_] = part_;
  partition_.clear();
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string value = values[i] ? path_part(*values[i]) : "__HIVE_DEFAULT_PARTITION__";
    partition_ += path_part(settings_.partition_by[i]) + "=" + value + "/";
  }
  part_ = parts_[partition_];
  return Status::ok();
}

Status OutputFiles::finish() { return close_current(); }

}  // namespace strom::tool
