// See staged_file.hpp.
#include "format/staged_file.hpp"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>

#include "base/os_error.hpp"

namespace strom::format {

namespace {

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

}  // namespace

Result<std::unique_ptr<StagedFile>> StagedFile::create(const std::string& path, bool overwrite) {
  auto file = std::unique_ptr<StagedFile>(new StagedFile(path, overwrite));
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
  fd_ = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0666);
  if (fd_ < 0) return failed("create", errno);
  temporary_ = std::move(temporary);
  if (exists && S_ISREG(existing.st_mode) && fchmod(fd_, existing.st_mode & 0777) != 0) return failed("create", errno);
  return Status::ok();
}

StagedFile::~StagedFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status StagedFile::append(std::vector<struct iovec> pieces) {
  size_t next = 0;
  while (next < pieces.size()) {
    if (pieces[next].iov_len == 0) {
      ++next;
      continue;
    }
    const size_t count = std::min<size_t>(pieces.size() - next, IOV_MAX);
    const ssize_t written = writev(fd_, pieces.data() + next, static_cast<int>(count));
    if (written < 0) {
      if (errno == EINTR) continue;
      return failed("write", errno);
    }
    position_ += written;
    // The kernel takes at most 2 GiB at once, and less when a disk fills up.
    for (auto left = static_cast<size_t>(written); left > 0;) {
      struct iovec& piece = pieces[next];
      const size_t taken = std::min(left, piece.iov_len);
      piece.iov_base = static_cast<char*>(piece.iov_base) + taken;
      piece.iov_len -= taken;
      left -= taken;
      if (piece.iov_len == 0) ++next;
    }
  }
  return Status::ok();
}

Status StagedFile::commit() {
  if (fsync(fd_) != 0) return failed("write", errno);
  const int fd = fd_;
  fd_ = -1;
  if (close(fd) != 0) return failed("write", errno);
  STROM_TRY(rename_into_place());
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
