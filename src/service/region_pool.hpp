// Device memory and mirrors that sessions have let go of, kept for the next that ask for as much: a driver makes and
// frees memory while the whole device waits, and pinning a mirror takes longer than most queries. Used by the runner.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

#include "service/session_memory.hpp"

namespace strom::service {

/// Any thread that uses the device. What a region held is still there for the next session, which belongs to the same
/// user of the operating system.
class RegionPool {
 public:
  /// Keeps at most so many bytes.
  RegionPool(const device::Device* device, uint64_t limit);

  /// A region of exactly that size, which comes back when nobody holds it any more, at the latest with the pool. Errors
  /// of SharedRegion::create().
  Result<std::shared_ptr<SharedRegion>> take(size_t bytes, bool mirrored);
  /// Gives all that is kept back to the device; false when that is nothing.
  bool drain();

 private:
  /// What regions come back to, which may outlive the pool.
  struct Idle {
    explicit Idle(uint64_t most) : limit(most) {}
    const uint64_t limit;
    std::mutex mutex;
    bool is_closed = false;
    uint64_t bytes = 0;
    std::list<std::shared_ptr<SharedRegion>> regions;  // that came last at the front
    void put(std::shared_ptr<SharedRegion> region) noexcept;
  };
  struct Closing {
    std::shared_ptr<Idle> idle;
    ~Closing();
  };

  const device::Device* const device_;
  const Closing closing_;
};

}  // namespace strom::service
