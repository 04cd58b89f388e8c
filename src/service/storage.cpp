#include "service/storage.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/os_error.hpp"

namespace strom::service {

using engine::device::DeviceFileRange;

namespace {

constexpr uint64_t kPage = 4096;  // of devices that read past the page cache
constexpr uint64_t kPieceBytes = 2 << 20;
constexpr unsigned kBuffers = 8;
constexpr size_t kBufferBytes = kPieceBytes + 2 * kPage;  // a piece that is widened to pages
constexpr size_t kCuFileBytes = 16 << 20;                 // between two looks at `keep_going`
constexpr int kPollMs = 10;
constexpr std::chrono::microseconds kCopyWait{20};

constexpr uint64_t page_below(uint64_t offset) { return offset / kPage * kPage; }
constexpr uint64_t page_above(uint64_t offset) { return page_below(offset + kPage - 1); }

uint64_t half_of_memory() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 2;
}

Status changed(const StoredFile& file, uint64_t end, uint64_t expected) {
  return Status(ErrorCode::kFileChanged, "file \"" + file.name() + "\" changed while it was being read")
      .with_detail("It ends at byte " + std::to_string(end) + ", and was read to byte " + std::to_string(expected) +
                   ".");
}

Status stopped() { return Status(ErrorCode::kCancelled, "stopped"); }

}  // namespace

bool parse_storage_choice(std::string_view word, StorageChoice* choice) {
  constexpr std::pair<std::string_view, StorageChoice> kWords[] = {{"auto", StorageChoice::kAuto},
                                                                   {"cufile", StorageChoice::kCuFile},
                                                                   {"io_uring", StorageChoice::kIoUring},
                                                                   {"vfs", StorageChoice::kVfs}};
  for (const auto& [name, value] : kWords) {
    if (name != word) continue;
    *choice = value;
    return true;
  }
  return false;
}

StorageWay StoredFile::way() const {
  if (uses_cufile_) return StorageWay::kCuFile;
  return has_io_uring_ ? StorageWay::kIoUring : StorageWay::kPread;
}

StorageOptions::StorageOptions() : cached_file(half_of_memory()) {}

void Storage::prepare() {
  std::call_once(prepared_, [this] {
    if (options_.choice == StorageChoice::kVfs)
      io_uring_status_ = Status(ErrorCode::kUnsupported, "pg_strom.gpudirect_driver is vfs");
    else
      io_uring_status_ = ReadQueue::check_io_uring();
    if (options_.choice == StorageChoice::kAuto || options_.choice == StorageChoice::kCuFile) {
      auto opened = device::CuFile::open(options_.cufile_library, options_.cufile_log);
      cufile_status_ = opened.status();
      if (opened.is_ok()) cufile_ = std::move(opened).value();
    } else {
      cufile_status_ = Status(ErrorCode::kUnsupported, "pg_strom.gpudirect_driver leaves it out");
    }
  });
}

std::string Storage::cufile_state() {
  prepare();
  if (cufile_ == nullptr) return cufile_status_.message();
  const device::CuFileFacts& facts = cufile_->facts();
  std::string state = "cuFile";
  if (facts.version > 0)
    state += " " + std::to_string(facts.version / 1000) + "." + std::to_string(facts.version % 1000 / 10);
  state += facts.driver_major == 0
               ? " without nvidia-fs"
               : " with nvidia-fs " + std::to_string(facts.driver_major) + "." + std::to_string(facts.driver_minor);
  return state + (facts.allows_compatibility ? ", compatibility mode allowed" : "");
}

Result<std::shared_ptr<const StoredFile>> Storage::open(int descriptor, const std::string& name) {
  prepare();
  struct stat facts;
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fstat(descriptor, &facts) != 0) return base::os_error(errno, "could not read file \"" + name + "\"");
  if (!S_ISREG(facts.st_mode) || (flags & O_ACCMODE) == O_WRONLY || (flags & O_PATH) != 0)
    return Status(ErrorCode::kUnsupported, "\"" + name + "\" is not a regular file that can be read");
  std::shared_ptr<StoredFile> file(new StoredFile);
  file->name_ = name;
  file->file_ = Descriptor(fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!file->file_.is_open()) return base::os_error(errno, "could not read file \"" + name + "\"");
  // Flags of a description belong to all who share it, so this needs one of its own.
  const std::string again = "/proc/self/fd/" + std::to_string(file->file_.get());
  file->direct_ = Descriptor(::open(again.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  file->reads_past_cache_ = file->direct_.is_open() && static_cast<uint64_t>(facts.st_size) > options_.cached_file;
  file->has_io_uring_ = io_uring_status_.is_ok();

  Status status = cufile_status_;
  if (cufile_ != nullptr) {
    const int taken = file->direct_.is_open() ? file->direct_.get() : file->file_.get();
    auto handle = device::CuFileHandle::create(cufile_, taken);
    status = handle.status();
    if (handle.is_ok()) file->cufile_ = std::move(handle).value();
    file->uses_cufile_ = file->cufile_ != nullptr;
  }
  file->why_not_ = status.message();
  if (file->cufile_ == nullptr && options_.choice == StorageChoice::kCuFile) return status;
  if (file->cufile_ == nullptr && !io_uring_status_.is_ok()) file->why_not_ += "; " + io_uring_status_.message();
  return std::shared_ptr<const StoredFile>(std::move(file));
}

Result<std::unique_ptr<StorageLane>> Storage::create_lane() const {
  std::unique_ptr<StorageLane> lane(
      new StorageLane(device_, ReadQueue::create(kBuffers, options_.choice != StorageChoice::kVfs)));
  STROM_ASSIGN(lane->pinned_, device_->allocate_pinned(kBuffers * kBufferBytes + kPage));
  const auto memory = page_above(reinterpret_cast<uint64_t>(lane->pinned_.get()));
  for (uint32_t i = 0; i < kBuffers; ++i) {
    STROM_ASSIGN(device::Event copied, device_->create_event());
    lane->buffers_.push_back({reinterpret_cast<char*>(memory) + i * kBufferBytes, std::move(copied), {}});
    lane->free_.push_back(i);
  }
  return lane;
}

Status StorageLane::read(const std::vector<DeviceFileRange>& ranges, const device::Stream& stream,
                         const KeepGoing& keep_going) {
  pieces_.clear();
  next_piece_ = 0;
  for (const DeviceFileRange& range : ranges) {
    const auto& file = static_cast<const StoredFile&>(*range.file);
    if (file.uses_cufile_) {
      STROM_ASSIGN(const bool is_done, read_by_cufile(range, file, keep_going));
      if (is_done) continue;
      file.uses_cufile_ = false;  // and what follows tells why, or does better
    }
    const uint64_t end = range.file_offset + range.bytes;
    if (!queue_->overlaps())
      (void)posix_fadvise(file.file_.get(), static_cast<off_t>(range.file_offset), static_cast<off_t>(range.bytes),
                          POSIX_FADV_WILLNEED);
    for (uint64_t at = range.file_offset; at < end;) {
      const uint64_t next = std::min(end, page_below(at + kPieceBytes));
      char* device = range.region->device() + range.offset + (at - range.file_offset);
      pieces_.push_back({&file, device, at, next});
      at = next;
    }
  }
  const Status status = read_through_buffers(stream, keep_going);
  if (!status.is_ok()) drain();
  return status;
}

Result<bool> StorageLane::read_by_cufile(const DeviceFileRange& range, const StoredFile& file,
                                         const KeepGoing& keep_going) const {
  for (size_t done = 0; done < range.bytes;) {
    const ssize_t bytes = file.cufile_->read(range.region->device(), range.offset + done,
                                             std::min(kCuFileBytes, range.bytes - done), range.file_offset + done);
    if (bytes <= 0) return false;
    done += static_cast<size_t>(bytes);
    if (!keep_going()) return stopped();
  }
  return true;
}

Status StorageLane::read_through_buffers(const device::Stream& stream, const KeepGoing& keep_going) {
  while (next_piece_ < pieces_.size() || reading_ > 0) {
    while (next_piece_ < pieces_.size() && !free_.empty()) {
      const uint32_t buffer = free_.back();
      free_.pop_back();
      STROM_TRY(begin_piece(pieces_[next_piece_++], buffer));
      if (!queue_->overlaps()) break;  // it is there already, and can be copied while the next one is read
    }
    if (reading_ > 0) {
      STROM_ASSIGN(const std::optional<ReadQueue::Done> done, queue_->wait(kPollMs));
      if (done) STROM_TRY(take(*done, stream));
    }
    STROM_TRY(reclaim(next_piece_ < pieces_.size() && reading_ == 0 && free_.empty(), keep_going));
    if (!keep_going()) return stopped();
  }
  return {};
}

Status StorageLane::begin_piece(const Piece& piece, uint32_t number) {
  Buffer& buffer = buffers_[number];
  buffer.piece = piece;
  return ask_again(number);
}

/// Asks for what is missing of a buffer's piece.
Status StorageLane::ask_again(uint32_t number) {
  Buffer& buffer = buffers_[number];
  Piece& piece = buffer.piece;
  const bool is_direct = piece.file->reads_past_cache_ && piece.done == 0;
  if (piece.done == 0) {
    piece.from = is_direct ? page_below(piece.begin) : piece.begin;
    piece.to = is_direct ? page_above(piece.end) : piece.end;
  }
  const int descriptor = is_direct ? piece.file->direct_.get() : piece.file->file_.get();
  const Status status = queue_->submit(number, descriptor, buffer.memory + piece.done,
                                       piece.to - piece.from - piece.done, piece.from + piece.done);
  if (status.is_ok()) ++reading_;
  return status;
}

Status StorageLane::take(const ReadQueue::Done& done, const device::Stream& stream) {
  --reading_;
  Buffer& buffer = buffers_[done.number];
  Piece& piece = buffer.piece;
  const int error = done.result < 0 ? static_cast<int>(-done.result) : 0;
  if (error == EINTR || error == EAGAIN) return ask_again(done.number);
  if (error == EINVAL && piece.file->reads_past_cache_) {  // not with this alignment, or not at all
    piece.file->reads_past_cache_ = false;
    return ask_again(done.number);
  }
  if (error != 0) return base::os_error(error, "could not read file \"" + piece.file->name() + "\" for the GPU");
  piece.done += static_cast<uint64_t>(done.result);
  const uint64_t read_to = piece.from + piece.done;
  if (read_to < piece.end) return done.result > 0 ? ask_again(done.number) : changed(*piece.file, read_to, piece.end);
  STROM_TRY(stream.copy_in(piece.device, buffer.memory + (piece.begin - piece.from), piece.end - piece.begin));
  STROM_TRY(stream.record(buffer.copied));
  copying_.push_back(done.number);
  return {};
}

/// Frees buffers that have been copied; waits for one.
Status StorageLane::reclaim(bool waits, const KeepGoing& keep_going) {
  for (;;) {
    size_t left = 0;
    for (const uint32_t number : copying_) {
      STROM_ASSIGN(const bool is_done, device_->is_done(buffers_[number].copied));
      if (is_done)
        free_.push_back(number);
      else
        copying_[left++] = number;
    }
    copying_.resize(left);
    if (!waits || !free_.empty()) return {};
    if (!keep_going()) return stopped();
    std::this_thread::sleep_for(kCopyWait);
  }
}

/// Waits for what the kernel still writes into buffers. The lane can be used again once the stream has finished.
void StorageLane::drain() {
  while (reading_ > 0) {
    const auto done = queue_->wait(kPollMs);
    if (!done.is_ok()) break;
    if (done.value()) --reading_;
  }
  reading_ = 0;
  copying_.clear();
  free_.clear();
  for (uint32_t i = 0; i < kBuffers; ++i) free_.push_back(i);
}

}  // namespace strom::service
