// See output.hpp.
#include "pcap2arrow/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "base/os_error.hpp"
#include "pcap2arrow/path_pattern.hpp"

namespace strom::pcap2arrow {

namespace {

using format::packets::Malformed;

int64_t now() {
  constexpr int64_t kNano = 1000000000;
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return int64_t{time.tv_sec} * kNano + time.tv_nsec;
}

void set_value(columnar::KeyValues& metadata, const std::string& key, int64_t value) {
  const std::string text = std::to_string(value);
  for (auto& [known, old] : metadata) {
    if (known == key) {
      old = text;
      return;
    }
  }
  metadata.emplace_back(key, text);
}

}  // namespace

void Written::add(const Written& other) {
  if (!other.path.empty()) path = other.path;
  files += other.files;
  batches += other.batches;
  rows += other.rows;
  bytes += other.bytes;
  counts.add(other.counts);
}

CaptureOutput::CaptureOutput(const Settings& settings, std::vector<columnar::Field> fields, std::string interface,
                             int64_t queue)
    : settings_(settings), interface_(std::move(interface)), queue_(queue) {
  schema_.fields = std::move(fields);
}

Status CaptureOutput::choose_statistics() {
  for (const std::string& name : settings_.statistics) {
    bool is_known = name == "*";
    for (size_t i = 0; i < schema_.fields.size(); ++i) {
      const columnar::Field& field = schema_.fields[i];
      if (name != "*" && name != field.name) continue;
      is_known = true;
      if (format::arrow::can_have_bounds(field)) {
        statistics_columns_.push_back(i);
      } else if (name != "*") {
        return Status(ErrorCode::kInvalidParameter, "column \"" + name + "\" can have no statistics")
            .with_detail("They are kept for numbers and times, not for " + columnar::type_text(field) + ".");
      }
    }
    if (!is_known)
      return Status(ErrorCode::kInvalidParameter, "there is no column \"" + name + "\" to keep statistics of");
  }
  std::sort(statistics_columns_.begin(), statistics_columns_.end());
  statistics_columns_.erase(std::unique(statistics_columns_.begin(), statistics_columns_.end()),
                            statistics_columns_.end());
  return Status::ok();
}

Status CaptureOutput::open() {
  STROM_TRY(choose_statistics());
  const std::string& pattern = settings_.output.path;
  statistics_ = format::arrow::Statistics(statistics_columns_);
  const bool has_time = path_of(pattern, {interface_, queue_, 0}) != path_of(pattern, {interface_, queue_, now()});
  if (!has_time) return open_file(0);
  const size_t slash = pattern.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : pattern.substr(0, slash + 1);
  if (folder.find('%') == std::string::npos && access(folder.c_str(), W_OK | X_OK) != 0)
    return base::os_error(errno, "could not write to folder \"" + folder + "\"");
  return Status::ok();
}

/// A file that another one of this run has the name of gets a number. The first one is as the user named it.
Status CaptureOutput::open_file(int64_t time) {
  tool::OutputOptions output = settings_.output;
  if (!output.is_stream()) {
    const std::string path = path_of(settings_.output.path, {interface_, queue_, time});
    same_path_ = path == base_path_ ? same_path_ + 1 : 0;
    base_path_ = path;
    output.path = path;
    const bool may_number = written_.files > 0;
    while (same_path_ > 0 || (may_number && !output.force && access(output.path.c_str(), F_OK) == 0)) {
      output.path = numbered(path, std::max<int64_t>(1, same_path_));
      if (output.force || access(output.path.c_str(), F_OK) != 0) break;
      ++same_path_;
    }
  }
  STROM_ASSIGN(auto sink, tool::open_output(output));
  written_.path = output.path;
  STROM_ASSIGN(writer_, format::arrow::FileWriter::create(std::move(sink), schema_, output.is_stream()));
  statistics_ = format::arrow::Statistics(statistics_columns_);
  file_rows_ = 0;
  file_counts_ = {};
  metadata_.clear();
  ++written_.files;
  return Status::ok();
}

Status CaptureOutput::close_file() {
  if (writer_ == nullptr) return Status::ok();
  columnar::KeyValues& metadata = writer_->schema().metadata;
  set_value(metadata, "pcap.packets", file_counts_.packets);
  set_value(metadata, "pcap.bytes", file_counts_.bytes);
  for (size_t i = 0; i < file_counts_.malformed.size(); ++i) {
    const int64_t count = file_counts_.malformed[i];
    if (count > 0)
      set_value(metadata, std::string("pcap.malformed.") + malformed_name(static_cast<Malformed>(i)), count);
  }
  metadata.insert(metadata.end(), metadata_.begin(), metadata_.end());
  statistics_.put(writer_->schema());
  written_.bytes += writer_->position();
  const Status status = writer_->finish();
  writer_.reset();
  return status;
}

bool CaptureOutput::is_full(int64_t bytes, int64_t rows) const {
  if (file_rows_ == 0 || settings_.output.is_stream()) return false;
  return (settings_.limit_bytes > 0 && writer_->position() + bytes > settings_.limit_bytes) ||
         (settings_.limit_packets > 0 && file_rows_ + rows > settings_.limit_packets);
}

std::vector<format::arrow::Bounds> CaptureOutput::bounds_of(const std::vector<columnar::ColumnBuilder>& columns) const {
  return format::arrow::Statistics(statistics_columns_).of(columns);
}

Status CaptureOutput::write(const format::arrow::EncodedBatch& batch, BatchFacts facts) {
  std::lock_guard lock(mutex_);
  if (writer_ != nullptr && is_full(batch.bytes(), facts.rows)) STROM_TRY(close_file());
  if (writer_ == nullptr) STROM_TRY(open_file(facts.first_time));
  STROM_TRY(writer_->write(batch).status());
  statistics_.add(std::move(facts.bounds));
  file_rows_ += facts.rows;
  file_counts_.add(facts.counts);
  written_.counts.add(facts.counts);
  written_.rows += facts.rows;
  ++written_.batches;
  return Status::ok();
}

void CaptureOutput::set_metadata(const std::string& key, int64_t value) { set_value(metadata_, key, value); }

Status CaptureOutput::finish() {
  if (writer_ == nullptr && written_.files == 0) STROM_TRY(open_file(now()));
  return close_file();
}

}  // namespace strom::pcap2arrow
