/* A device that is full while the file STROM_FULL is there: then posix_fallocate() has no room. Preloaded into a server
 * (LD_PRELOAD). Compiled by test/tap/store_pages.py. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int posix_fallocate(int file, off_t offset, off_t bytes) {
  static int (*next)(int, off_t, off_t);
  const char *full = getenv("STROM_FULL");
  if (full != NULL && access(full, F_OK) == 0) return ENOSPC;
  if (next == NULL) next = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
  return next(file, offset, bytes);
}

int posix_fallocate64(int file, off_t offset, off_t bytes) { return posix_fallocate(file, offset, bytes); }
