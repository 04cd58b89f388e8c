/* A device that has troubles while files in the folder STROM_DEVICE are there: "slow": a write to a file *.new takes half a
 * second; "broken": fdatasync() of a file *.redo fails. Preloaded into a server (LD_PRELOAD). Compiled by
 * test/tap/store_devices.py. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int has_trouble(const char *trouble, int file, const char *suffix) {
  const char *folder = getenv("STROM_DEVICE");
  char path[PATH_MAX], link[64];
  if (folder == NULL) return 0;
  snprintf(path, sizeof(path), "%s/%s", folder, trouble);
  if (access(path, F_OK) != 0) return 0;
  snprintf(link, sizeof(link), "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, path, sizeof(path) - 1);
  const size_t end = strlen(suffix);
  return length > (ssize_t)end && memcmp(path + length - end, suffix, end) == 0;
}

ssize_t pwrite(int file, const void *from, size_t bytes, off_t offset) {
  static ssize_t (*next)(int, const void *, size_t, off_t);
  if (next == NULL) next = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
  if (has_trouble("slow", file, ".new")) usleep(500000);
  return next(file, from, bytes, offset);
}

ssize_t pwrite64(int file, const void *from, size_t bytes, off_t offset) { return pwrite(file, from, bytes, offset); }

int fdatasync(int file) {
  static int (*next)(int);
  if (next == NULL) next = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  if (has_trouble("broken", file, ".redo")) {
    errno = EIO;
    return -1;
  }
  return next(file);
}
