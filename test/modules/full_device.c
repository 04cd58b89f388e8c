/* A device that is full while the file STROM_FULL is there: then posix_fallocate() has no room, and a file without memory
 * cannot be touched where it is mapped: the process ends, as it does on a full device. Preloaded into a server
 * (LD_PRELOAD). Compiled by test/tap/store_pages.py. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_full(void) {
  const char *full = getenv("STROM_FULL");
  return full != NULL && access(full, F_OK) == 0;
}

void *mmap(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
  static void *(*next)(void *, size_t, int, int, int, off_t);
  struct stat info;
  if (next == NULL) next = (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  if ((flags & MAP_SHARED) != 0 && file >= 0 && is_full() && fstat(file, &info) == 0 && info.st_blocks == 0)
    protection = PROT_NONE;
  return next(at, bytes, protection, flags, file, offset);
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int file, off_t offset) {
  return mmap(at, bytes, protection, flags, file, offset);
}

int posix_fallocate(int file, off_t offset, off_t bytes) {
  static int (*next)(int, off_t, off_t);
  if (is_full()) return ENOSPC;
  if (next == NULL) next = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
  return next(file, offset, bytes);
}

int posix_fallocate64(int file, off_t offset, off_t bytes) { return posix_fallocate(file, offset, bytes); }
