#include "pg/cache/segment.hpp"

#include <sys/statvfs.h>

#include <algorithm>

#include "base/machine_memory.hpp"
#include "pg/guc/guc.hpp"

namespace strom::pg::cache {

using boundary::guard;

namespace {

// Bytes of /dev/shm for the cache; 0: no such limit. A quarter is left to the server's parallel queries.
uint64_t shared_memory_size() {
  struct statvfs space;
  if (dynamic_shared_memory_type != DSM_IMPL_POSIX || statvfs("/dev/shm", &space) != 0) return 0;
  return uint64_t{space.f_blocks} * space.f_frsize / 4 * 3;
}

// The usual limit in bytes. Segments are made on demand, so the limit may exceed shared_buffers.
uint64_t usual_bytes() {
  static const uint64_t bytes = [] {
    const uint64_t wanted =
        std::max(base::usual_part(base::read_machine_memory()), static_cast<uint64_t>(NBuffers) * BLCKSZ / 2);
    const uint64_t size = shared_memory_size();
    return size == 0 ? wanted : std::min(wanted, size);
  }();
  return bytes;
}

bool leaves_room(uint64_t size) {
  if (dynamic_shared_memory_type != DSM_IMPL_POSIX) return dynamic_shared_memory_type != DSM_IMPL_MMAP;
  struct statvfs space;
  if (statvfs("/dev/shm", &space) != 0) return true;
  const uint64_t available = uint64_t{space.f_bavail} * space.f_frsize, all = uint64_t{space.f_blocks} * space.f_frsize;
  return available >= size && available - size >= all / 4;
}

// A limit that the user did not set must not drive the machine into swap.
bool leaves_memory(uint64_t size) { return !is_usual() || base::leaves_part(base::read_machine_memory(), size); }

/// Runs call(), which makes or attaches a segment and may ereport. It runs under a resource owner of its own, so that a
/// failure leaves nothing behind. nullptr on failure: the cache only makes queries faster, so they must not fail with
/// it.
template <class F>
dsm_segment* segment_of(F call) {
  const ResourceOwner caller = CurrentResourceOwner;
  const ResourceOwner owner = guard([=] { return ResourceOwnerCreate(caller, "pg_strom column cache"); });
  CurrentResourceOwner = owner;
  dsm_segment* segment = nullptr;
  try {
    segment = guard([&] {
      dsm_segment* made = call();
      if (made != nullptr) dsm_pin_mapping(made);
      return made;
    });
  } catch (const boundary::PostgresError&) {
  }
  CurrentResourceOwner = caller;
  guard([=] {
    ResourceOwnerRelease(owner, RESOURCE_RELEASE_BEFORE_LOCKS, false, false);
    ResourceOwnerRelease(owner, RESOURCE_RELEASE_LOCKS, false, false);
    ResourceOwnerRelease(owner, RESOURCE_RELEASE_AFTER_LOCKS, false, false);
    ResourceOwnerDelete(owner);
  });
  return segment;
}

}  // namespace

bool is_usual() { return guc::pg_strom::column_cache_memory < 0; }

uint64_t allowed_bytes() {
  return is_usual() ? usual_bytes() : static_cast<uint64_t>(guc::pg_strom::column_cache_memory) * 1024;
}

dsm_segment* make_segment(uint64_t size) {
  if (!leaves_room(size) || !leaves_memory(size)) return nullptr;
  return segment_of([=] {
    dsm_segment* made = dsm_create(size, DSM_CREATE_NULL_IF_MAXSEGMENTS);
    if (made != nullptr) dsm_pin_segment(made);
    return made;
  });
}

dsm_segment* attach_segment(dsm_handle handle) {
  return segment_of([=] { return dsm_attach(handle); });
}

}  // namespace strom::pg::cache
