#include "store/log/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/os_error.hpp"

namespace strom::store::log {

File& File::operator=(File&& other) noexcept {
  if (this == &other) return *this;
  close();
  path_ = std::move(other.path_);
  descriptor_ = other.descriptor_;
  other.descriptor_ = -1;
  return *this;
}

Result<File> File::open(const std::string& path, int flags) {
  constexpr mode_t kOwnerOnly = 0600;
  File file;
  file.path_ = path;
  file.descriptor_ = ::open(path.c_str(), flags | O_CLOEXEC, kOwnerOnly);
  if (file.descriptor_ < 0) return base::os_error(errno, "could not open file \"" + path + "\"");
  struct stat info;
  if (fstat(file.descriptor_, &info) != 0) return file.failure("examine");
  if (!S_ISREG(info.st_mode)) return Status(ErrorCode::kIoError, "\"" + path + "\" is not a regular file");
  return file;
}

void File::close() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

Status File::failure(const char* what) const {
  return base::os_error(errno, std::string("could not ") + what + " file \"" + path_ + "\"");
}

Result<uint64_t> File::read_some(uint64_t offset, void* to, uint64_t bytes) const {
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t part =
        ::pread(descriptor_, static_cast<char*>(to) + done, bytes - done, static_cast<off_t>(offset + done));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return failure("read");
    if (part == 0) break;
    done += static_cast<uint64_t>(part);
  }
  return done;
}

Status File::read_at(uint64_t offset, void* to, uint64_t bytes) const {
  STROM_ASSIGN(const uint64_t done, read_some(offset, to, bytes));
  return done == bytes ? Status::ok() : damaged(path_, offset + done, "it ends there");
}

Status File::write_at(uint64_t offset, const void* from, uint64_t bytes) const {
  for (uint64_t done = 0; done < bytes;) {
    const ssize_t part =
        ::pwrite(descriptor_, static_cast<const char*>(from) + done, bytes - done, static_cast<off_t>(offset + done));
    if (part < 0 && errno == EINTR) continue;
    if (part < 0) return failure("write to");
    done += static_cast<uint64_t>(part);
  }
  return Status::ok();
}

Status File::sync() const {
  while (::fdatasync(descriptor_) != 0)
    if (errno != EINTR) return failure("synchronize");
  return Status::ok();
}

void File::begin_sync(uint64_t offset, uint64_t bytes) const {
  sync_file_range(descriptor_, static_cast<off64_t>(offset), static_cast<off64_t>(bytes), SYNC_FILE_RANGE_WRITE);
}

Status File::allocate(uint64_t offset, uint64_t bytes) const {
  int error;
  do error = ::posix_fallocate(descriptor_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error == 0) return Status::ok();
  errno = error;
  return failure("extend");
}

Result<uint64_t> File::size() const {
  struct stat info;
  if (fstat(descriptor_, &info) != 0) return failure("examine");
  return static_cast<uint64_t>(info.st_size);
}

namespace {

// Locks of bytes that are far behind the end of any file: one byte for each server.
constexpr off_t kFirstServer = off_t{1} << 62;
constexpr off_t kServers = off_t{1} << 40;

off_t byte_of(uint64_t server) { return kFirstServer + static_cast<off_t>(server % static_cast<uint64_t>(kServers)); }

struct flock lock_of(short type, off_t begin, off_t bytes) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = begin;
  lock.l_len = bytes;
  return lock;
}

bool is_locked(int descriptor, off_t begin, off_t bytes) {
  if (bytes == 0) return false;
  struct flock lock = lock_of(F_WRLCK, begin, bytes);
  return fcntl(descriptor, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

}  // namespace

void File::claim(uint64_t server) const {
  struct flock lock = lock_of(F_RDLCK, byte_of(server), 1);
  [[maybe_unused]] const int result = fcntl(descriptor_, F_OFD_SETLK, &lock);
}

bool File::has_other(uint64_t server) const {
  const off_t own = byte_of(server);
  return is_locked(descriptor_, kFirstServer, own - kFirstServer) ||
         is_locked(descriptor_, own + 1, kFirstServer + kServers - own - 1);
}

bool File::is_claimed(uint64_t server) const { return is_locked(descriptor_, byte_of(server), 1); }

Status sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return base::os_error(errno, "could not open folder \"" + folder + "\"");
  const bool is_done = ::fsync(descriptor) == 0;
  const int error = errno;
  ::close(descriptor);
  return is_done ? Status::ok() : base::os_error(error, "could not synchronize folder \"" + folder + "\"");
}

Status damaged(const std::string& path, uint64_t offset, const std::string& what) {
  return {ErrorCode::kCorruptFile,
          "file \"" + path + "\" is damaged at offset " + std::to_string(offset) + ": " + what};
}

}  // namespace strom::store::log
