// See staged_file.hpp.
#include "format/staged_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

#include "base/os_error.hpp"
#include "format/temporary_name.hpp"

namespace strom::format {

namespace {

/// Smaller files take little time to write either way, and need no buffer: there may be many of them at once.
constexpr int64_t kLargeFile = 32 << 20;

/// Names of the present temporary files. Never destroyed, since threads may outlive static objects.
struct Temporaries {
  std::mutex mutex;
  std::set<std::string> paths;

  static Temporaries& instance() {
    static auto* temporaries = new Temporaries;
    return *temporaries;
  }
};

/// -1: the file system has no such files, or the folder has an error, which another attempt will report.
int open_unnamed(const std::string& folder) {
  const int fd = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (fd >= 0) (void)flock(fd, LOCK_EX | LOCK_NB);  // for a temporary name that it may get at the end
  return fd;
}

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

Status StagedFile::open_temporary() {
  struct stat existing;
  const bool exists = lstat(path_.c_str(), &existing) == 0;
  if (exists && !overwrite_) return already_exists();
  if (exists && S_ISDIR(existing.st_mode)) return failed("create", EISDIR);
  remove_stale_temporaries(folder_of(path_));
  fd_ = open_unnamed(folder_of(path_));
  if (fd_ < 0) STROM_TRY(open_named());
  if (exists && S_ISREG(existing.st_mode) && fchmod(fd_, existing.st_mode & 0777) != 0) return failed("create", errno);
  return Status::ok();
}

/// From now on, writes go to a file with a temporary name.
Status StagedFile::open_named() {
  auto& temporaries = Temporaries::instance();
  std::lock_guard lock(temporaries.mutex);
  for (;;) {
    const std::string name = temporary_name(path_);
    const int fd = open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0) return failed("create", errno);
    if (!hold_temporary(fd)) {  // another process is cleaning up the folder right now
      close(fd);
      unlink(name.c_str());
      continue;
    }
    fd_ = fd;
    temporaries.paths.insert(name);
    temporary_ = name;
    return Status::ok();
  }
}

StagedFile::~StagedFile() {
  if (!temporary_.empty()) {
    std::lock_guard lock(Temporaries::instance().mutex);
    remove_temporary();
  }
  if (fd_ >= 0) close(fd_);
}

/// The caller holds the mutex.
void StagedFile::remove_temporary() {
  unlink(temporary_.c_str());
  Temporaries::instance().paths.erase(temporary_);
  temporary_.clear();
}

void StagedFile::abandon_all() {
  auto& temporaries = Temporaries::instance();
  temporaries.mutex.lock();  // never unlocked: no file is renamed or created any more
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

/// Starts writing to the disk early, so that commit() has little to wait for. Not every file system can.
void StagedFile::start_writeback() {
  constexpr int64_t kStep = 8 << 20;
  if (position_ - written_back_ < kStep) return;
  [[maybe_unused]] const int ignored =
      sync_file_range(fd_, written_back_, position_ - written_back_, SYNC_FILE_RANGE_WRITE);
  written_back_ = position_;
}

Status StagedFile::end_direct() {
  const std::unique_ptr<DirectWriter> direct = std::exchange(direct_, nullptr);
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

int64_t StagedFile::skip(int64_t bytes) {
  const bool goes_past_cache = cache_ == PageCache::kSpare && position_ + bytes >= kLargeFile;
  if (direct_ != nullptr || goes_past_cache || lseek(fd_, bytes, SEEK_CUR) < 0) return -1;
  const int64_t begin = position_;
  position_ += bytes;
  written_back_ = position_;
  return begin;
}

Status StagedFile::write_at(int64_t offset, std::vector<struct iovec> pieces) const {
  const int error_number = write_pieces(pieces, [&](const struct iovec* some, int count) {
    const ssize_t written = pwritev(fd_, some, count, offset);
    if (written > 0) {
      (void)sync_file_range(fd_, offset, written, SYNC_FILE_RANGE_WRITE);
      offset += written;
    }
    return written;
  });
  return error_number == 0 ? Status::ok() : failed("write", error_number);
}

Status StagedFile::reserve(int64_t bytes) {
  const int64_t begin = std::max(reserved_, position_), end = position_ + bytes;
  if (end <= begin) return Status::ok();
  if (fallocate(fd_, FALLOC_FL_KEEP_SIZE, begin, end - begin) == 0) {
    reserved_ = end;
    return Status::ok();
  }
  return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? failed("write", errno) : Status::ok();
}

/// Frees the reserved room. Not every file system frees room behind the end when a hole is punched there, but all do
/// when the file is truncated.
Status StagedFile::give_back_room() {
  if (ftruncate(fd_, position_) != 0) return failed("write", errno);
  reserved_ = position_;
  return Status::ok();
}

Status StagedFile::commit() {
  STROM_TRY(end_direct());
  if (reserved_ > position_) STROM_TRY(give_back_room());
  if (fsync(fd_) != 0) return failed("write", errno);
  STROM_TRY(put_into_place());
  const Status status = sync_folder();
  // The lock is still ours, so nobody has added anything.
  if (!status.is_ok() && !overwrite_) unlink(path_.c_str());
  return status;
}

Status StagedFile::put_into_place() {
  auto& mutex = Temporaries::instance().mutex;  // abandon_all() either finds every present name, or prevents it
  if (temporary_.empty()) {
    std::unique_lock lock(mutex);
    const int error_number = link_unnamed();
    lock.unlock();
    if (error_number == 0 && temporary_.empty()) return Status::ok();
    if (error_number == EEXIST) return already_exists();
    if (error_number != 0) STROM_TRY(copy_to_named());
  }
  std::lock_guard lock(mutex);
  return rename_into_place();
}

/// Gives an unnamed file its name, or a temporary one if another file has that name. Returns an errno.
int StagedFile::link_unnamed() {
  const auto link_as = [this](const std::string& name) {
    const std::string self = "/proc/self/fd/" + std::to_string(fd_);
    if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return 0;
    if (errno != ENOENT) return errno;
    return linkat(fd_, "", AT_FDCWD, name.c_str(), AT_EMPTY_PATH) == 0 ? 0 : errno;  // no /proc; needs a privilege
  };
  int error_number = link_as(path_);
  if (error_number != EEXIST || !overwrite_) return error_number;
  const std::string name = temporary_name(path_);
  Temporaries::instance().paths.insert(name);
  temporary_ = name;
  error_number = link_as(name);
  if (error_number != 0) remove_temporary();
  return error_number;
}

/// For file systems that cannot name an unnamed file later.
Status StagedFile::copy_to_named() {
  const int unnamed = std::exchange(fd_, -1);
  struct stat info;
  Status status = fstat(unnamed, &info) == 0 ? open_named() : failed("create", errno);
  if (status.is_ok() && fchmod(fd_, info.st_mode & 0777) != 0) status = failed("create", errno);
  cache_ = PageCache::kKeep;
  if (status.is_ok()) status = append_file(unnamed, 0, std::exchange(position_, 0));
  if (status.is_ok() && fsync(fd_) != 0) status = failed("write", errno);
  close(unnamed);
  return status;
}

/// The caller holds the mutex.
Status StagedFile::rename_into_place() {
  if (overwrite_) {
    if (rename(temporary_.c_str(), path_.c_str()) != 0) return failed("create", errno);
  } else if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) != 0) {
    if (errno != EINVAL && errno != ENOSYS) return failed("create", errno);
    // The file system has no RENAME_NOREPLACE: a hard link does not replace a file either.
    if (link(temporary_.c_str(), path_.c_str()) != 0) return failed("create", errno);
  }
  remove_temporary();
  return Status::ok();
}

Status StagedFile::sync_folder() const {
  const int error_number = format::sync_folder(folder_of(path_));
  return error_number == 0 ? Status::ok() : failed("sync the folder of", error_number);
}

int sync_folder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return errno;
  const int error_number = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error_number == EINVAL ? 0 : error_number;
}

}  // namespace strom::format
