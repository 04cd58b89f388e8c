#include "store/huge_pages.hpp"

#include <fcntl.h>
#include <sys/mman.h>

#include <cerrno>

namespace strom::store {

namespace {
// MADV_COLLAPSE, since Linux 6.1; Debian's headers are older. Unlike MADV_HUGEPAGE it needs no setting of the system.
constexpr int kCollapse = 25;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE
constexpr uint64_t kPage = 4096;
}  // namespace

void* map_shared(int descriptor, uint64_t bytes, int protection) noexcept {
  // Reserves addresses only. The mapping takes an aligned part of them.
  const uint64_t reserved = bytes + kHugePage;
  void* place = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) return nullptr;
  auto* const first = static_cast<uint8_t*>(place);
  const uint64_t before = (kHugePage - reinterpret_cast<uintptr_t>(first) % kHugePage) % kHugePage;
  void* memory = mmap(first + before, bytes, protection, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, descriptor, 0);
  if (memory == MAP_FAILED) {
    const int error = errno;
    munmap(place, reserved);
    errno = error;
    return nullptr;
  }
  const uint64_t end = before + (bytes + kPage - 1) / kPage * kPage;
  if (before != 0) munmap(first, before);
  if (end < reserved) munmap(first + end, reserved - end);
  return memory;
}

void collapse(void* memory, uint64_t begin, uint64_t end) noexcept {
  begin = (begin + kHugePage - 1) / kHugePage * kHugePage;
  end = end / kHugePage * kHugePage;
  auto* const bytes = static_cast<uint8_t*>(memory);
  const int error = errno;
  // The system refuses a huge page of which no small one is there.
  bool has_memory = begin < end;
  for (uint64_t at = begin; at < end && has_memory; at += kHugePage)
    has_memory = madvise(bytes + at, kPage, kPopulateWrite) == 0;
  if (has_memory) madvise(bytes + begin, end - begin, kCollapse);
  errno = error;
}

bool allocate(int descriptor, uint64_t offset, uint64_t bytes) noexcept {
  int error;
  do error = posix_fallocate(descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  while (error == EINTR);
  return error == 0;
}

}  // namespace strom::store
