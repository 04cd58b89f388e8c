// See temporary_name.hpp.
#include "format/temporary_name.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string_view>

#include "base/hex.hpp"

namespace strom::format {

namespace {

constexpr std::string_view kMark = ".strom-", kEnding = ".tmp";

bool is_number(std::string_view text, std::string_view digits) {
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

/// Removes a temporary file unless a process holds it. Nobody can take the lock between the check and the removal.
void remove_unless_held(int folder, const char* name) {
  // O_NONBLOCK: does not wait for a FIFO with such a name.
  const int fd = openat(folder, name, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return;
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0) unlinkat(folder, name, 0);
  close(fd);
}

/// True when this process has not looked through the folder recently: a process that writes thousands of files need not
/// do so for each.
bool is_due(const std::string& folder) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kBetween = std::chrono::seconds(10);
  constexpr size_t kFolders = 1000;
  static std::mutex mutex;
  static auto* const seen = new std::map<std::string, Clock::time_point>;  // threads may outlive static objects
  std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  const auto found = seen->find(folder);
  if (found != seen->end() && now - found->second < kBetween) return false;
  if (seen->size() >= kFolders) seen->clear();
  (*seen)[folder] = now;
  return true;
}

}  // namespace

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

std::string temporary_name(const std::string& path) {
  static std::atomic<uint32_t> counter{0};
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char suffix[64];
  snprintf(suffix, sizeof(suffix), "%s%d-%u-%lx%s", kMark.data(), static_cast<int>(getpid()), counter.fetch_add(1),
           static_cast<unsigned long>(now.tv_nsec), kEnding.data());
  const size_t slash = path.rfind('/');
  const size_t name_start = slash == std::string::npos ? 0 : slash + 1;
  constexpr size_t kMaxNamePart = 180;  // leaves room for the suffix
  return path.substr(0, name_start) + "." + path.substr(name_start, kMaxNamePart) + suffix;
}

bool is_temporary_name(const std::string& name) {
  const size_t mark = name.rfind(kMark);
  if (name[0] != '.' || mark == std::string::npos || mark == 0 || !name.ends_with(kEnding)) return false;
  const size_t begin = mark + kMark.size();
  if (name.size() < begin + kEnding.size()) return false;
  const std::string_view rest = std::string_view(name).substr(begin, name.size() - begin - kEnding.size());
  const size_t first = rest.find('-'), last = rest.rfind('-');
  if (first == std::string_view::npos || first == last) return false;
  return is_number(rest.substr(0, first), "0123456789") &&
         is_number(rest.substr(first + 1, last - first - 1), "0123456789") &&
         is_number(rest.substr(last + 1), base::kHexDigits);
}

bool hold_temporary(int fd) {
  if (flock(fd, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;  // without locks, nobody removes the file
  struct stat info;
  return fstat(fd, &info) == 0 && info.st_nlink > 0;
}

void remove_stale_temporaries(const std::string& folder) {
  if (!is_due(folder)) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> handle(opendir(folder.c_str()), closedir);
  if (handle == nullptr) return;
  while (const dirent* entry = readdir(handle.get())) {
    if (is_temporary_name(entry->d_name)) remove_unless_held(dirfd(handle.get()), entry->d_name);
  }
}

}  // namespace strom::format
