// See event_files.hpp.
#include "fluent2arrow/event_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "arrow_files/file_names.hpp"
#include "base/os_error.hpp"
#include "fluent2arrow/chunk_notes.hpp"
#include "format/append_lock.hpp"
#include "format/arrow/read/reader.hpp"
#include "format/arrow/statistics/batch_statistics.hpp"
#include "format/arrow/write/file_appender.hpp"
#include "format/arrow/metadata/footer_note.hpp"
#include "format/staged_file.hpp"
#include "format/temporary_name.hpp"

namespace strom::fluent2arrow {

using columnar::ColumnBuilder;

namespace {

constexpr size_t kLongestTag = 200;
constexpr size_t kLongestName = 230;  // of a file or folder: file systems take 255 bytes, and a number may follow
constexpr int64_t kNano = 1000000000;

std::string safe_name(std::string_view tag) {
  std::string name(tag);
  for (char& c : name) {
    const bool is_safe =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
    if (!is_safe) c = '_';
  }
  if (name.empty() || name[0] == '.') name.insert(0, "_");
  name.resize(std::min(name.size(), kLongestTag));
  return name;
}

/// A part of the pattern between slashes. The tag is cut where the name would be too long.
std::string name_with_tag(std::string_view part, std::string_view tag, int64_t time_s) {
  std::string fixed;
  std::vector<size_t> places;  // of the tag in it
  for (size_t at = 0; at < part.size();) {
    const size_t next = std::min(part.find(kTag, at), part.size());
    fixed += tool::name_of(std::string(part.substr(at, next - at)), time_s, [](char) { return std::string(); });
    if (next < part.size()) places.push_back(fixed.size());
    at = next + kTag.size();
  }
  if (places.empty()) return fixed;
  const size_t room = kLongestName - std::min(kLongestName, fixed.size());
  tag = tag.substr(0, std::max<size_t>(room / places.size(), 1));
  for (auto place = places.rbegin(); place != places.rend(); ++place) fixed.insert(*place, tag);
  return fixed;
}

/// Puts the name of a new folder onto the disk.
Status sync_parent(const std::string& folder) {
  const std::string parent = format::folder_of(folder);
  const int error_number = format::sync_folder(parent);
  // Who may not read the folder cannot sync it.
  if (error_number == 0 || error_number == EACCES) return Status::ok();
  return base::os_error(error_number, "could not sync folder \"" + parent + "\"");
}

/// The folders of a path that are not there. They are on the disk then.
Status make_folders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    const std::string folder = path.substr(0, at);
    constexpr mode_t kMode = 0777;
    if (mkdir(folder.c_str(), kMode) != 0) {
      if (errno == EEXIST) continue;
      return base::os_error(errno, "could not make folder \"" + folder + "\"");
    }
    const Status status = sync_parent(folder);
    if (status.is_ok()) continue;
    (void)rmdir(folder.c_str());  // else the next try would not sync it
    return status;
  }
  return Status::ok();
}

/// What is gone meanwhile is no reason to go on.
bool is_regular(const std::string& path) {
  struct stat found = {};
  return stat(path.c_str(), &found) != 0 || S_ISREG(found.st_mode);
}

int64_t size_of(const std::string& path) {
  struct stat found = {};
  return stat(path.c_str(), &found) == 0 ? found.st_size : -1;
}

std::vector<columnar::Field> fields_of(const std::vector<ColumnBuilder>& columns) {
  std::vector<columnar::Field> fields;
  fields.reserve(columns.size());
  for (const ColumnBuilder& column : columns) fields.push_back(column.field());
  return fields;
}

}  // namespace

Status check_pattern(const std::string& pattern) { return tool::check_name_pattern(pattern, "", std::string(kTag)); }

std::string path_of(const std::string& pattern, std::string_view tag, int64_t time_s) {
  const std::string name = safe_name(tag);
  std::string path;
  for (size_t at = 0; at <= pattern.size();) {
    const size_t slash = std::min(pattern.find('/', at), pattern.size());
    if (at > 0) path += '/';
    path += name_with_tag(std::string_view(pattern).substr(at, slash - at), name, time_s);
    at = slash + 1;
  }
  return path;
}

Status check_times(const std::string& pattern, int64_t seconds) {
  constexpr int64_t kBegin = 1704067200;  // a time of no importance
  constexpr int64_t kSpans = 1000;
  tool::TimeWindows windows(seconds);
  int64_t number = windows.number_of(kBegin * kNano);
  std::string name = path_of(pattern, "", windows.begin() / kNano);
  for (int64_t i = 1; i < kSpans; ++i) {
    const int64_t next = windows.number_of((kBegin + i * seconds) * kNano);
    std::string other = path_of(pattern, "", windows.begin() / kNano);
    if (next != number && other == name)
      return Status(ErrorCode::kInvalidParameter, "the names of -o do not tell times by which --limit-time divides")
          .with_hint("They need %Y%m%d, and %H, %M and %S as far as it takes.");
    number = next;
    name = std::move(other);
  }
  return Status::ok();
}

bool same_fields(const std::vector<columnar::Field>& a, const std::vector<columnar::Field>& b, size_t count) {
  if (a.size() < count || b.size() < count) return false;
  return std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin(),
                    [](const auto& x, const auto& y) { return x.name == y.name && same_type(x, y); });
}

EventFiles::EventFiles(const Settings& settings)
    : settings_(settings), compressor_(settings.compression), windows_(settings.limit_seconds) {}

std::vector<std::string> EventFiles::written_chunks(size_t most) const {
  constexpr size_t kMostFiles = 10000;
  std::vector<std::string> newest_first;
  for (const std::string& path : files_of_pattern(settings_.path, kMostFiles)) {
    const Result<std::string> note = format::arrow::read_footer_note(path, kChunksNote);
    if (!note.is_ok()) continue;  // it is not one of ours
    std::vector<std::string> chunks = chunks_of(note.value());
    newest_first.insert(newest_first.end(), std::make_move_iterator(chunks.rbegin()),
                        std::make_move_iterator(chunks.rend()));
    if (newest_first.size() >= most) break;
  }
  if (newest_first.size() > most) newest_first.resize(most);
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

Status EventFiles::write(EventBuffer& events, int64_t time_s) {
  Status failure;
  for (auto& [tag, of_tag] : events.tags()) {
    Status status = write_all_of(tag, of_tag, time_s);
    if (failure.is_ok()) failure = std::move(status);
  }
  events.forget_idle_tags();
  return failure;
}

Status EventFiles::write_all_of(const std::string& tag, EventBuffer::TagEvents& events, int64_t time_s) {
  while (!events.older.empty()) {
    STROM_TRY(write_tag(tag, events.older.front(), time_s));
    events.older.erase(events.older.begin());
  }
  if (events.newest.rows() > 0) STROM_TRY(write_tag(tag, events.newest, time_s));
  EventBuffer::clear(events.newest);
  return Status::ok();
}

/// What cannot be read is not full: who appends to it says why.
bool EventFiles::is_full(const std::string& path, int64_t size) {
  constexpr size_t kMostKnown = 10000;
  if (size >= settings_.limit_bytes) return true;
  if (settings_.limit_rows == 0) return false;
  if (full_.contains(path)) return true;
  const auto file = format::arrow::FileReader::open(path);
  if (!file.is_ok()) return false;
  int64_t rows = 0;
  for (int i = 0; i < file.value()->batch_count(); ++i) {
    const Result<int64_t> of_batch = file.value()->batch_rows(i);
    if (of_batch.is_ok()) rows += of_batch.value();
  }
  if (rows < settings_.limit_rows) return false;
  if (full_.size() == kMostKnown) full_.clear();
  full_.insert(path);
  return true;
}

Status EventFiles::write_tag(const std::string& tag, Waiting& waiting, int64_t time_s) {
  if (settings_.limit_seconds > 0) {
    (void)windows_.number_of(time_s * kNano);
    time_s = windows_.begin() / kNano;
  }
  const std::string base = path_of(settings_.path, tag, time_s);
  for (int64_t number = 0;; ++number) {
    const std::string path = tool::numbered(base, number);
    if (size_of(path) < 0) {
      full_.erase(path);
      STROM_TRY(make_folders(path));
      const Status status = create_file(path, waiting);
      // Another receiver may have made it meanwhile; then it is gone on with.
      if (status.code() != ErrorCode::kFileExists) return status;
    }
    if (is_full(path, size_of(path))) continue;
    // A file of other columns, or of somebody else, is left alone, and so is what cannot be gone on with at all.
    bool is_ours = false;
    if (!is_regular(path)) continue;
    const Status status = append_to_file(path, waiting, &is_ours);
    if (!is_ours && (status.code() == ErrorCode::kCorruptFile || status.code() == ErrorCode::kUnsupported)) continue;
    if (is_ours || !status.is_ok()) return status;
  }
}

std::vector<size_t> EventFiles::statistics_columns(const std::vector<ColumnBuilder>& columns) const {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < columns.size(); ++i) {
    const columnar::Field& field = columns[i].field();
    const bool is_wanted = std::any_of(settings_.statistics.begin(), settings_.statistics.end(),
                                       [&](const auto& name) { return name == "*" || name == field.name; });
    if (is_wanted && format::arrow::can_have_bounds(field)) chosen.push_back(i);
  }
  return chosen;
}

Status EventFiles::create_file(const std::string& path, Waiting& waiting) {
  columnar::Schema schema;
  schema.fields = fields_of(waiting.columns);
  STROM_ASSIGN(const auto writer, format::arrow::FileWriter::create(path, std::move(schema), false));
  STROM_ASSIGN(const auto batch, format::arrow::encode_batch(waiting.columns, waiting.rows(), compressor_));
  format::arrow::Statistics statistics(statistics_columns(waiting.columns));
  statistics.add(statistics.of(waiting.columns));
  STROM_TRY(writer->write(batch).status());
  statistics.put(writer->schema());
  if (!waiting.chunks.empty()) writer->set_note(kChunksNote, note_with("", waiting.chunks));
  STROM_TRY(writer->finish());
  return Status::ok();
}

/// Small record batches at the file's end become one with the new one, so that there are few.
Status EventFiles::append_to_file(const std::string& path, Waiting& waiting, bool* is_ours) {
  STROM_ASSIGN(auto lock, format::AppendLock::take(path));
  STROM_ASSIGN(const auto file, format::arrow::FileAppender::open(path, std::move(lock), {}));
  const auto fields = fields_of(waiting.columns);
  *is_ours = file->schema().fields.size() == fields.size() && same_fields(file->schema().fields, fields, fields.size());
  if (!*is_ours) return Status::ok();
  constexpr int64_t kFull = int64_t{16} << 20;
  int64_t bytes = 0;
  for (const ColumnBuilder& column : waiting.columns) bytes += column.memory_bytes();
  std::vector<ColumnBuilder> columns;
  const auto mark = file->mark();
  const size_t small = file->small_batches(bytes, kFull);
  const std::vector<ColumnBuilder>* all = &waiting.columns;
  if (small > 0) {
    columns.reserve(fields.size());
    for (const auto& field : fields) columns.emplace_back(field);
    for (size_t i = mark.batches - small; i < mark.batches; ++i) STROM_TRY(file->read(mark, i, columns));
    if (format::arrow::append_rows(waiting.columns, columns)) {
      file->cut({mark.generation, mark.batches - small});
      all = &columns;
    }
  }
  const int64_t rows = (*all)[0].length();
  STROM_ASSIGN(const auto batch, format::arrow::encode_batch(*all, rows, compressor_));
  const format::arrow::Statistics statistics(file->statistics_columns());
  if (!waiting.chunks.empty()) file->set_note(kChunksNote, note_with(file->note(kChunksNote), waiting.chunks));
  STROM_TRY(file->write(batch, statistics.of(*all), true));
  STROM_TRY(file->prepare());
  const Status status = file->commit();
  if (status.is_ok())
    file->settle();
  else
    file->undo();  // else the next try would write the same events once more
  return status;
}

}  // namespace strom::fluent2arrow
