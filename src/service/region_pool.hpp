// Device memory and mirrors that sessions have released, for later sessions that need regions of the same size. The
// whole device waits while a driver makes and frees memory, and pinning a mirror takes longer than most queries. Used
// by the runner.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "service/session_memory.hpp"

namespace strom::service {

/// Any thread that uses the device. A region is not wiped: the next session belongs to the same operating-system user.
class RegionPool {
 public:
  /// Pools at most so many bytes of the device, `mirror_limit` of them with mirrors, which are pinned memory of the
  /// host.
  RegionPool(const device::Device* device, uint64_t limit, uint64_t mirror_limit);

  /// A region of exactly that size. It comes back when its last holder releases it, at the latest with the pool. Errors
  /// of SharedRegion::create().
  Result<std::shared_ptr<SharedRegion>> take(size_t bytes, bool mirrored);
  /// Gives all pooled memory back to the device; false when there is none.
  bool drain();

 private:
  /// What regions come back to, which may outlive the pool.
  struct Idle {
    Idle(uint64_t most, uint64_t most_mirrored) : limit(most), mirror_limit(most_mirrored) {}
    const uint64_t limit, mirror_limit;
    std::mutex mutex;
    bool is_closed = false;
    uint64_t bytes = 0, mirrored_bytes = 0;
    std::list<std::shared_ptr<SharedRegion>> regions;  // that came last at the front
    void put(std::shared_ptr<SharedRegion> region) noexcept;
    // Both by the lock's holder. Of a region that leaves the list; and all of them, to be released behind the lock.
    void count_out(const SharedRegion& region);
    std::list<std::shared_ptr<SharedRegion>> take_all();
  };
  struct Closing {
    std::shared_ptr<Idle> idle;
    ~Closing();
  };

  const device::Device* const device_;
  const Closing closing_;
};

}  // namespace strom::service
