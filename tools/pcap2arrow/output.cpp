// See output.hpp.
#include "pcap2arrow/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <utility>

#include "arrow_files/file_names.hpp"
#include "format/staged_file.hpp"
#include "pcap2arrow/path_pattern.hpp"

namespace strom::pcap2arrow {

namespace {

using format::packets::Malformed;

constexpr int64_t kNano = 1000000000;
/// Room for the footer, and for what file systems need of their own.
constexpr int64_t kFooterRoom = 1 << 20;

int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return int64_t{time.tv_sec} * kNano + time.tv_nsec;
}

void set_value(columnar::KeyValues& metadata, const std::string& key, std::string value) {
  for (auto& [known, old] : metadata) {
    if (known == key) {
      old = std::move(value);
      return;
    }
  }
  metadata.emplace_back(key, std::move(value));
}

}  // namespace

void Written::add(const Written& other) {
  if (!other.path.empty()) path = other.path;
  files += other.files;
  batches += other.batches;
  rows += other.rows;
  bytes += other.bytes;
  lost += other.lost;
  counts.add(other.counts);
}

/// A staged file into which record batches are written beside one another: append() only finds out where a batch
/// stands, and its bytes are written later. Its name may be taken by others meanwhile: it gets a number then, since
/// packets cannot be captured again.
class CaptureOutput::PlacingSink final : public format::ByteSink {
 public:
  /// Bytes with a place in the file.
  struct Placed {
    int64_t offset = 0;
    std::vector<struct iovec> pieces;
    std::vector<std::vector<char>> copies;  // of small pieces, which do not stay where they are
  };

  PlacingSink(std::unique_ptr<format::StagedFile> file, std::string base)
      : file_(std::move(file)), base_(std::move(base)) {}

  /// What is appended from now on goes to `placed`, where that can be.
  void begin_placing(Placed* placed) { placed_ = placed; }
  Status write(Placed placed) const { return file_->write_at(placed.offset, std::move(placed.pieces)); }

  Status append(std::vector<struct iovec> pieces) override {
    if (placed_ == nullptr || !placed_->pieces.empty()) return file_->append(std::move(pieces));
    int64_t bytes = 0;
    for (const struct iovec& piece : pieces) bytes += static_cast<int64_t>(piece.iov_len);
    placed_->offset = file_->skip(bytes);
    if (placed_->offset < 0) return file_->append(std::move(pieces));
    for (struct iovec& piece : pieces) {
      if (piece.iov_len > kSmallPiece) continue;
      const char* begin = static_cast<const char*>(piece.iov_base);
      piece.iov_base = placed_->copies.emplace_back(begin, begin + piece.iov_len).data();
    }
    placed_->pieces = std::move(pieces);
    return Status::ok();
  }
  Status reserve(int64_t bytes) override { return file_->reserve(bytes); }
  int64_t position() const override { return file_->position(); }
  const std::string& path() const override { return file_->path(); }
  Status commit() override {
    Status status = file_->commit();
    for (int64_t number = 1; !status.is_ok() && access(file_->path().c_str(), F_OK) == 0; ++number) {
      file_->set_path(tool::numbered(base_, number));
      status = file_->commit();
    }
    return status;
  }

 private:
  /// The metadata of a batch is smaller; buffers stay where they are.
  static constexpr size_t kSmallPiece = 1 << 16;
  const std::unique_ptr<format::StagedFile> file_;
  const std::string base_;
  Placed* placed_ = nullptr;
};

/// A file that is being written.
struct CaptureOutput::File {
  PlacingSink* sink = nullptr;  // the writer's; nullptr: standard output
  std::unique_ptr<format::arrow::FileWriter> writer;
  format::arrow::Statistics statistics{{}};
  int64_t rows = 0, dropped = 0, lost = 0;
  format::packets::PacketCounts counts;
  PlacingSink::Placed placed;  // of the batch that was placed last

  std::mutex mutex;
  std::condition_variable changed;
  int writing = 0;  // batches that have a place and are not written yet
  Status failure;   // of these

  void done(Status status) {
    {
      std::lock_guard lock(mutex);
      --writing;
      if (failure.is_ok()) failure = std::move(status);
    }
    changed.notify_all();
  }
  Status finish() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return writing == 0; });
    return failure.is_ok() ? writer->finish() : failure;
  }
};

CaptureOutput::CaptureOutput(const Settings& settings, std::vector<columnar::Field> fields, OutputShare share,
                             TakenNames& names)
    : settings_(settings),
      share_(std::move(share)),
      names_(names),
      windows_(static_cast<size_t>(share_.writers), INT64_MIN) {
  schema_.fields = std::move(fields);
}

CaptureOutput::~CaptureOutput() = default;

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
  const bool has_time = path_of(pattern, {share_.interface, share_.queue, 0}) !=
                        path_of(pattern, {share_.interface, share_.queue, now()});
  if (!has_time && settings_.limit_seconds == 0) {
    STROM_ASSIGN(files_[0], open_file(0));
    return Status::ok();
  }
  const size_t slash = pattern.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : pattern.substr(0, slash + 1);
  if (folder.find('%') != std::string::npos) return Status::ok();
  return format::StagedFile::create(folder + "/pcap2arrow", true)
      .status();  // a file without a name, to see if it can be
}

/// A file that another one of this run has the name of gets a number, and so does one of a capture that goes on
/// already. The first one is as the user named it.
Status CaptureOutput::open_sink(int64_t time, File& opened, std::unique_ptr<format::ByteSink>& sink) {
  tool::OutputOptions output = settings_.output;
  if (output.is_stream()) {
    written_.path = output.path;
    STROM_ASSIGN(sink, tool::open_output(output));
    return Status::ok();
  }
  const std::string path = path_of(settings_.output.path, {share_.interface, share_.queue, time});
  const int64_t number = names_.take(path);
  output.path = tool::numbered(path, number);
  const bool may_number = number > 0 || written_.files > 0 || (settings_.is_live() && time != 0);
  while (may_number && !output.force && access(output.path.c_str(), F_OK) == 0)
    output.path = tool::numbered(path, names_.take(path));
  written_.path = output.path;
  STROM_ASSIGN(const std::string target, tool::file_behind(output.path));
  if (!output.force && access(target.c_str(), F_OK) == 0)
    return Status(ErrorCode::kIoError, "file \"" + output.path + "\" exists").with_hint("-f replaces it.");
  STROM_ASSIGN(auto file, format::StagedFile::create(target, output.force, output.cache()));
  auto placing = std::make_unique<PlacingSink>(std::move(file), target);
  opened.sink = placing.get();
  sink = std::move(placing);
  return Status::ok();
}

Result<std::shared_ptr<CaptureOutput::File>> CaptureOutput::open_file(int64_t time) {
  auto file = std::make_shared<File>();
  std::unique_ptr<format::ByteSink> sink;
  STROM_TRY(open_sink(time, *file, sink));
  STROM_ASSIGN(file->writer, format::arrow::FileWriter::create(std::move(sink), schema_, settings_.output.is_stream()));
  file->statistics = format::arrow::Statistics(statistics_columns_);
  ++written_.files;
  return file;
}

/// The file gets its footer, and is synced while the next one is written.
Status CaptureOutput::close_file(std::shared_ptr<File> file) {
  if (file == nullptr) return Status::ok();
  columnar::KeyValues& metadata = file->writer->schema().metadata;
  const auto set = [&](const std::string& key, int64_t value) { set_value(metadata, key, std::to_string(value)); };
  set("pcap.packets", file->counts.packets);
  set("pcap.bytes", file->counts.bytes);
  if (file->dropped > 0) set("pcap.dropped", file->dropped);
  if (file->lost > 0) set("pcap.lost", file->lost);
  for (size_t i = 0; i < file->counts.malformed.size(); ++i) {
    const int64_t count = file->counts.malformed[i];
    if (count > 0) set(std::string("pcap.malformed.") + malformed_name(static_cast<Malformed>(i)), count);
  }
  for (const auto& [type, count] : file->counts.unknown_links)
    set("pcap.unknown_link_type." + std::to_string(type), count);
  for (const auto& [key, value] : metadata_) set_value(metadata, key, value);
  file->statistics.put(file->writer->schema());
  written_.bytes += file->writer->position();
  STROM_TRY(finished_files(false));
  closing_.push_back(std::async(std::launch::async, [file = std::move(file)]() { return file->finish(); }));
  return Status::ok();
}

/// The first failure of files that were closed; waits for all of them if `all`.
Status CaptureOutput::finished_files(bool all) {
  Status failure = Status::ok();
  std::erase_if(closing_, [&](std::future<Status>& file) {
    if (!all && file.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return false;
    Status status = file.get();
    if (status.is_ok()) ++complete_;
    if (failure.is_ok()) failure = std::move(status);
    return true;
  });
  return failure;
}

Status CaptureOutput::close_all() {
  Status failure = Status::ok();
  for (auto& [window, file] : std::exchange(files_, {})) {
    Status status = close_file(std::move(file));
    if (failure.is_ok()) failure = std::move(status);
  }
  Status status = finished_files(true);
  return failure.is_ok() ? status : failure;
}

std::vector<format::arrow::Bounds> CaptureOutput::bounds_of(const std::vector<columnar::ColumnBuilder>& columns) const {
  return format::arrow::Statistics(statistics_columns_).of(columns);
}

/// The file for a batch of `bytes`, which has room for it.
Result<std::shared_ptr<CaptureOutput::File>> CaptureOutput::file_of(const BatchFacts& facts, int64_t bytes) {
  std::shared_ptr<File>& file = files_[facts.window];
  if (file != nullptr && file->rows > 0 && !settings_.output.is_stream()) {
    const bool is_large = settings_.limit_bytes > 0 && file->writer->position() + bytes > settings_.limit_bytes;
    const bool is_long = settings_.limit_packets > 0 && file->rows + facts.rows > settings_.limit_packets;
    if (is_large || is_long) STROM_TRY(close_file(std::move(file)));
  }
  if (file == nullptr) {
    STROM_ASSIGN(file, open_file(facts.first_time));
    file->dropped = std::exchange(dropped_, 0);
    file->lost = std::exchange(lost_, 0);
    file->counts = std::exchange(counts_, {});
  }
  return file;
}

/// The file that the batch belongs to, with its bytes placed in it, or written.
Result<std::shared_ptr<CaptureOutput::File>> CaptureOutput::place(const format::arrow::EncodedBatch& batch,
                                                                  BatchFacts facts) {
  STROM_ASSIGN(auto file, file_of(facts, batch.bytes()));
  if (settings_.is_live() && file->sink != nullptr) {
    // The file stays open: its footer, which has room, will say how much was lost until the capture ends.
    STROM_TRY(file->sink->reserve(batch.bytes() + kFooterRoom));
  }
  file->placed = {};
  if (file->sink != nullptr) file->sink->begin_placing(&file->placed);
  const Status status = file->writer->write(batch).status();
  if (file->sink != nullptr) file->sink->begin_placing(nullptr);
  STROM_TRY(status);
  file->statistics.add(std::move(facts.bounds));
  file->rows += facts.rows;
  file->counts.add(facts.counts);
  written_.counts.add(facts.counts);
  written_.rows += facts.rows;
  ++written_.batches;
  return file;
}

Status CaptureOutput::write(const format::arrow::EncodedBatch& batch, BatchFacts facts,
                            const std::function<void()>& placed) {
  std::shared_ptr<File> file;
  PlacingSink::Placed bytes;
  {
    std::lock_guard lock(mutex_);
    STROM_ASSIGN(file, place(batch, std::move(facts)));
    bytes = std::move(file->placed);
    if (!bytes.pieces.empty()) {
      std::lock_guard file_lock(file->mutex);
      ++file->writing;
    }
  }
  if (placed) placed();
  if (bytes.pieces.empty()) return Status::ok();
  Status status = file->sink->write(std::move(bytes));
  file->done(status);
  return status;
}

Status CaptureOutput::begin_window(int64_t writer, int64_t window) {
  std::lock_guard lock(mutex_);
  windows_[static_cast<size_t>(writer)] = window;
  const int64_t least = *std::min_element(windows_.begin(), windows_.end());
  if (least == INT64_MAX) return Status::ok();  // the rest is finish()'s
  while (!files_.empty() && files_.begin()->first < least) {
    auto file = std::move(files_.begin()->second);
    files_.erase(files_.begin());
    STROM_TRY(close_file(std::move(file)));
  }
  return Status::ok();
}

/// nullptr: none is open.
CaptureOutput::File* CaptureOutput::newest() const {
  for (auto file = files_.rbegin(); file != files_.rend(); ++file)
    if (file->second != nullptr) return file->second.get();
  return nullptr;
}

void CaptureOutput::add_dropped(int64_t count) {
  std::lock_guard lock(mutex_);
  File* file = newest();
  (file == nullptr ? dropped_ : file->dropped) += count;
}

void CaptureOutput::add_lost(int64_t rows) {
  std::lock_guard lock(mutex_);
  File* file = newest();
  (file == nullptr ? lost_ : file->lost) += rows;
  written_.lost += rows;
}

void CaptureOutput::add_counts(const format::packets::PacketCounts& counts) {
  std::lock_guard lock(mutex_);
  written_.counts.add(counts);
  File* file = newest();
  (file == nullptr ? counts_ : file->counts).add(counts);
}

void CaptureOutput::set_metadata(const std::string& key, const std::string& value) { set_value(metadata_, key, value); }

int64_t CaptureOutput::complete_files() {
  std::lock_guard lock(mutex_);
  (void)finished_files(true);  // a failure was told before
  return complete_;
}

Written CaptureOutput::written() const {
  std::lock_guard lock(mutex_);
  return written_;
}

Status CaptureOutput::finish() {
  // Losses behind the last file's end are in one without rows.
  if (written_.files == 0 || (newest() == nullptr && dropped_ + lost_ > 0)) {
    STROM_ASSIGN(files_[0], open_file(now()));
    files_[0]->dropped = dropped_;
    files_[0]->lost = lost_;
    files_[0]->counts = counts_;
  }
  return close_all();
}

}  // namespace strom::pcap2arrow
