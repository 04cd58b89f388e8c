/* fsync() of folders in a program under test, by LD_PRELOAD: the file STROM_SYNC_LOG gets a line for each, and the one
 * that the file STROM_SYNC_FAILS names fails. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  struct stat about;
  if (fstat(fd, &about) != 0 || !S_ISDIR(about.st_mode)) return real(fd);
  char self[64], path[PATH_MAX] = "", failing[PATH_MAX] = "";
  snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  if (readlink(self, path, sizeof path - 1) < 0) abort();
  FILE* file = fopen(getenv("STROM_SYNC_FAILS"), "r");
  if (file != NULL) {
    if (fgets(failing, sizeof failing, file) == NULL) failing[0] = '\0';
    fclose(file);
  }
  if (strcmp(failing, path) == 0) {
    errno = EIO;
    return -1;
  }
  file = fopen(getenv("STROM_SYNC_LOG"), "a");
  if (file == NULL) abort();
  fprintf(file, "%s\n", path);
  fclose(file);
  return real(fd);
}
