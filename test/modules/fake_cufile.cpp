// Stands in for libcufile.so.0: reads with pread into memory of the host, as the devices of tests have it.
// STROM_FAKE_CUFILE has words for what is to go wrong: no-driver, refuse (files), short (reads of 1000 bytes), fail
// (reads). What it did is in its log, which it puts where the real one does.
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace {

struct Error {
  int error, cuda_error;
};
struct Description {
  int type;
  union {
    int descriptor;
    void* handle;
  } file;
  const void* operations;
};
struct Properties {
  unsigned major_version, minor_version;
  size_t poll_threshold, largest_direct_io;
  unsigned status_flags, control_flags;
};

bool is_to(const char* word) {
  const char* words = std::getenv("STROM_FAKE_CUFILE");
  return words != nullptr && std::strstr(words, word) != nullptr;
}

void note(const char* what, size_t bytes) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const char* path = std::getenv("CUFILE_LOGFILE_PATH");
  if (FILE* log = std::fopen(path == nullptr ? "cufile.log" : path, "a")) {
    std::fprintf(log, "%s %zu\n", what, bytes);
    std::fclose(log);
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): cuFile's own names

Error cuFileDriverOpen() {
  note("open", 0);
  return {is_to("no-driver") ? 5033 : 0, 0};
}

Error cuFileGetVersion(int* version) {
  *version = 1150;
  return {0, 0};
}

Error cuFileDriverGetProperties(Properties* properties) {
  *properties = {2, 25, 0, 0, 0, 2};
  return {0, 0};
}

Error cuFileHandleRegister(void** handle, Description* description) {
  if (is_to("refuse")) return {5008, 0};
  if (description->type != 1 || description->operations != nullptr) return {5022, 0};
  *handle = reinterpret_cast<void*>(static_cast<intptr_t>(description->file.descriptor) + 1);
  note("register", 0);
  return {0, 0};
}

void cuFileHandleDeregister(void*) { note("deregister", 0); }

ssize_t cuFileRead(void* handle, void* device, size_t bytes, off_t file_offset, off_t device_offset) {
  if (is_to("fail")) {
    errno = EIO;
    return -1;
  }
  if (is_to("short") && bytes > 1000) bytes = 1000;
  // The descriptor has O_DIRECT; what the real library makes of parts of pages is its own affair.
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", static_cast<int>(reinterpret_cast<intptr_t>(handle) - 1));
  FILE* file = std::fopen(path, "re");
  if (file == nullptr) return -5022;
  const ssize_t done = pread(fileno(file), static_cast<char*>(device) + device_offset, bytes, file_offset);
  std::fclose(file);
  if (done > 0) note("read", static_cast<size_t>(done));
  return done;
}

// NOLINTEND(readability-identifier-naming)
}  // extern "C"
#pragma GCC visibility pop
