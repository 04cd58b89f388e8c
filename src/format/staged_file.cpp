// See staged_file.hpp.
#include "format/staged_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <set>

#include "base/os_error.hpp"

namespace strom::format {

namespace {

/// Smaller ones are written in no time either way, and need no buffer: there may be many at once.
constexpr int64_t kLargeFile = 32 << 20;

/// Different for every call and process, so that two writers of one path do not meet.
std::string unique_suffix() {
  static std::atomic<uint32_t> counter{0};
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char text[64];
  snprintf(text, sizeof(text), ".%d-%u-%lx.tmp", static_cast<int>(getpid()), counter.fetch_add(1),
           static_cast<unsigned long>(now.tv_nsec));
  return text;
}

/// Names of the temporary files that are there now. Never destroyed, since threads may outlive static objects.
struct Temporaries {
  std::mutex mutex;
  std::set<std::string> paths;

  static Temporaries& instance() {
    static auto* temporaries = new Temporaries;
    return *temporaries;
  }
};

}  // namespace

Result<std::unique_ptr<StagedFile>> StagedFile::create(const std::string& path, bool overwrite, PageCache cache) {
  auto file = std::unique_ptr<StagedFile>(new StagedFile(path, overwrite, cache));
  STROM_TRY(file->open_temporary());
  return file;
}

Status StagedFile::failed(const char* verb, int error_number) const {
  return base::os_error(error_number, std::string("could not ") + verb + " file \"" + path_ + "\"");
}

Status StagedFile::already_exists() const { return failed("create", EEXIST); }

std::string StagedFile::folder() const {
  const size_t slash = path_.rfind('/');
  return slash == std::string::npos ? "." : path_.substr(0, std::max<size_t>(slash, 1));
}

Status StagedFile::open_temporary() {
  struct stat existing;
  const bool exists = lstat(path_.c_str(), &existing) == 0;
  if (exists && !overwrite_) return already_exists();
  if (exists && S_ISDIR(existing.st_mode)) return failed("create", EISDIR);

  const size_t slash = path_.rfind('/');
  const size_t name_start = slash == std::string::npos ? 0 : slash + 1;
  // Hidden, and with a suffix of its own, so that no reader of the folder takes it for a finished file. The name is
  // cut to leave room for the suffix.
  constexpr size_t kMaxNamePart = 180;
  std::string temporary = path_.substr(0, name_start) + "." + path_.substr(name_start, kMaxNamePart) + unique_suffix();
  auto& temporaries = Temporaries::instance();
  std::unique_lock lock(temporaries.mutex);
  fd_ = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd_ < 0) return failed("create", errno);
  temporaries.paths.insert(temporary);
  temporary_ = std::move(temporary);
  lock.unlock();
  if (exists && S_ISREG(existing.st_mode) && fchmod(fd_, existing.st_mode & 0777) != 0) return failed("create", errno);
  return Status::ok();
}

StagedFile::~StagedFile() {
  if (fd_ >= 0) close(fd_);
  if (temporary_.empty()) return;
  std::lock_guard lock(Temporaries::instance().mutex);
  unlink(temporary_.c_str());
  Temporaries::instance().paths.erase(temporary_);
}

void StagedFile::abandon_all() {
  auto& temporaries = Temporaries::instance();
  temporaries.mutex.lock();  // kept: nobody renames or creates one any more
  for (const std::string& path : temporaries.paths) unlink(path.c_str());
}

Status StagedFile::append(std::vector<struct iovec> pieces) {
  int64_t bytes = 0;
  for (const struct iovec& piece : pieces) bytes += static_cast<int64_t>(piece.iov_len);
  if (cache_ == PageCache::kSpare && direct_ == nullptr && position_ + bytes >= kLargeFile) {
    direct_ = DirectWriter::create(fd_, position_);
    if (direct_ == nullptr) cache_ = PageCache::kKeep;
  }
  if (direct_ != nullptr) {
    if (const int error_number = direct_->append(pieces); error_number != 0) return failed("write", error_number);
    position_ += bytes;
    written_back_ = position_;
    return Status::ok();
  }
  const int error_number = write_pieces(fd_, pieces, position_);
  if (error_number != 0) return failed("write", error_number);
  start_writeback();
  return Status::ok();
}

/// The disk works while the rest is made, so that commit() has little left to wait for. Not every file system can.
void StagedFile::start_writeback() {
  constexpr int64_t kStep = 8 << 20;
  if (position_ - written_back_ < kStep) return;
  [[maybe_unused]] const int ignored =
      sync_file_range(fd_, written_back_, position_ - written_back_, SYNC_FILE_RANGE_WRITE);
  written_back_ = position_;
}

Status StagedFile::end_direct() {
  const std::unique_ptr<DirectWriter> direct = std::move(direct_);
  const int error_number = direct == nullptr ? 0 : direct->finish();
  return error_number == 0 ? Status::ok() : failed("write", error_number);
}

Status StagedFile::append_file(int source, int64_t offset, int64_t size) {
  STROM_TRY(end_direct());
  bool in_kernel = true;
  std::vector<char> buffer;
  while (size > 0) {
    ssize_t copied = 0;
    if (in_kernel) {
      off64_t from = offset;
      copied = copy_file_range(source, &from, fd_, nullptr, static_cast<size_t>(size), 0);
      if (copied < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP)) {
        in_kernel = false;
        continue;
      }
    } else {
      constexpr int64_t kPiece = 1 << 20;
      buffer.resize(kPiece);
      copied = pread(source, buffer.data(), static_cast<size_t>(std::min(size, kPiece)), offset);
      if (copied > 0) {
        STROM_TRY(append({{buffer.data(), static_cast<size_t>(copied)}}));
        position_ -= copied;  // counted below
      }
    }
    if (copied < 0 && errno == EINTR) continue;
    if (copied < 0) return failed("write", errno);
    if (copied == 0) return Status(ErrorCode::kFileChanged, "file \"" + path_ + "\" shrank while it was copied");
    position_ += copied;
    offset += copied;
    size -= copied;
  }
  return Status::ok();
}

Status StagedFile::commit() {
  STROM_TRY(end_direct());
  if (fsync(fd_) != 0) return failed("write", errno);
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) return failed("write", errno);
  {
    std::lock_guard lock(Temporaries::instance().mutex);
    STROM_TRY(rename_into_place());
    Temporaries::instance().paths.erase(temporary_);
  }
  temporary_.clear();
  return sync_folder();
}

Status StagedFile::rename_into_place() {
  if (overwrite_) {
    if (rename(temporary_.c_str(), path_.c_str()) != 0) return failed("create", errno);
    return Status::ok();
  }
  if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) return Status::ok();
  if (errno != EINVAL && errno != ENOSYS) return failed("create", errno);
  // A file system without RENAME_NOREPLACE: a hard link does not replace either.
  if (link(temporary_.c_str(), path_.c_str()) != 0) return failed("create", errno);
  unlink(temporary_.c_str());
  return Status::ok();
}

Status StagedFile::sync_folder() const {
  const int fd = open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return failed("sync the folder of", errno);
  const int error_number = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // Some file systems cannot sync a folder and say so with EINVAL.
  return error_number == 0 || error_number == EINVAL ? Status::ok() : failed("sync the folder of", error_number);
}

}  // namespace strom::format
