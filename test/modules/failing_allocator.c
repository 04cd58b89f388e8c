/* Makes allocations of the extension fail on demand: preloaded into a server (LD_PRELOAD), and loaded by it as the module of
 * the functions fail_allocation(n, of_server), which lets an allocation fail, and allocations_left(), which tells how many were
 * left and ends it. of_server false: those that pg_strom.so or the C++ library ask for are counted, and the n-th from now on
 * and all after it fail. True: those that the server's program asks for, of which the n-th alone fails, since its clean-up
 * after an error needs memory. Compiled by test/tap/failing_memory.py. */
#include "postgres.h"

#include <errno.h>
#include <link.h>
#include <stdatomic.h>

#include "fmgr.h"

PG_MODULE_MAGIC;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static atomic_long left = -1;
static atomic_bool armed = false;
static atomic_bool of_server = false;
static struct {
  uintptr_t begin, end;
} ranges[3];  // code of the extension, of the C++ library, of the server

static bool is_in(int range, uintptr_t address) { return address >= ranges[range].begin && address < ranges[range].end; }

static bool fails(const void *caller) {
  uintptr_t address = (uintptr_t)caller;
  if (!atomic_load_explicit(&armed, memory_order_relaxed)) return false;
  if (atomic_load(&of_server)) return is_in(2, address) && atomic_fetch_sub(&left, 1) == 0;
  return (is_in(0, address) || is_in(1, address)) && atomic_fetch_sub(&left, 1) <= 0;
}

static void *failed(void) {
  errno = ENOMEM;
  return NULL;
}

PGDLLEXPORT void *malloc(size_t size) {
  return fails(__builtin_return_address(0)) ? failed() : __libc_malloc(size);
}
PGDLLEXPORT void *calloc(size_t count, size_t size) {
  return fails(__builtin_return_address(0)) ? failed() : __libc_calloc(count, size);
}
PGDLLEXPORT void *realloc(void *block, size_t size) {
  return fails(__builtin_return_address(0)) ? failed() : __libc_realloc(block, size);
}
PGDLLEXPORT void *aligned_alloc(size_t alignment, size_t size) {
  return fails(__builtin_return_address(0)) ? failed() : __libc_memalign(alignment, size);
}
PGDLLEXPORT int posix_memalign(void **block, size_t alignment, size_t size) {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}

static int note_range(struct dl_phdr_info *info, size_t size, void *context) {
  int place = strstr(info->dlpi_name, "/pg_strom.so") ? 0 : strstr(info->dlpi_name, "/libstdc++.so") ? 1 : -1;
  if (info->dlpi_name[0] == 0) place = 2;
  if (place < 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr) *header = &info->dlpi_phdr[i];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    ranges[place].begin = info->dlpi_addr + header->p_vaddr;
    ranges[place].end = ranges[place].begin + header->p_memsz;
  }
  return 0;
}

PG_FUNCTION_INFO_V1(fail_allocation);
Datum fail_allocation(PG_FUNCTION_ARGS) {
  dl_iterate_phdr(note_range, NULL);
  atomic_store(&left, PG_GETARG_INT64(0));
  atomic_store(&of_server, PG_GETARG_BOOL(1));
  atomic_store(&armed, true);
  PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(allocations_left);
Datum allocations_left(PG_FUNCTION_ARGS) {
  atomic_store(&armed, false);
  PG_RETURN_INT64(atomic_load(&left));
}
