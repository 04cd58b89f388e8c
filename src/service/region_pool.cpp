#include "service/region_pool.hpp"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

namespace strom::service {

RegionPool::RegionPool(const device::Device* device, uint64_t limit, uint64_t mirror_limit)
    : device_(device), closing_{std::make_shared<Idle>(limit, mirror_limit)} {}

RegionPool::Closing::~Closing() {
  std::list<std::shared_ptr<SharedRegion>> regions;
  const std::lock_guard lock(idle->mutex);
  idle->is_closed = true;
  regions = idle->take_all();
}

void RegionPool::Idle::count_out(const SharedRegion& region) {
  bytes -= region.size();
  if (region.host() != nullptr) mirrored_bytes -= region.size();
}

std::list<std::shared_ptr<SharedRegion>> RegionPool::Idle::take_all() {
  bytes = mirrored_bytes = 0;
  return std::exchange(regions, {});
}

void RegionPool::Idle::put(std::shared_ptr<SharedRegion> region) noexcept {
  std::list<std::shared_ptr<SharedRegion>> leaving;  // released behind the lock
  const uint64_t size = region->size();
  const bool is_mirrored = region->host() != nullptr;
  try {
    leaving.push_back(std::move(region));
  } catch (const std::bad_alloc&) {
    return;
  }
  const std::lock_guard lock(mutex);
  if (is_closed || size > limit || (is_mirrored && size > mirror_limit)) return;
  regions.splice(regions.begin(), leaving);
  bytes += size;
  if (is_mirrored) mirrored_bytes += size;
  const auto drop_oldest = [&](bool only_mirrored) {
    auto oldest = std::prev(regions.end());
    while (only_mirrored && (*oldest)->host() == nullptr) --oldest;
    count_out(**oldest);
    leaving.splice(leaving.begin(), regions, oldest);
  };
  while (mirrored_bytes > mirror_limit) drop_oldest(true);
  while (bytes > limit) drop_oldest(false);
}

Result<std::shared_ptr<SharedRegion>> RegionPool::take(size_t bytes, bool mirrored) {
  const std::shared_ptr<Idle>& idle = closing_.idle;
  std::shared_ptr<SharedRegion> region;
  {
    const std::lock_guard lock(idle->mutex);
    const auto fits = [&](const auto& one) { return one->size() == bytes && (one->host() != nullptr) == mirrored; };
    const auto found = std::find_if(idle->regions.begin(), idle->regions.end(), fits);
    if (found != idle->regions.end()) {
      region = std::move(*found);
      idle->count_out(*region);
      idle->regions.erase(found);
    }
  }
  if (region == nullptr) {
    using Mirror = SharedRegion::Mirror;
    STROM_ASSIGN(region, SharedRegion::create(*device_, bytes, mirrored ? Mirror::kPinned : Mirror::kNone));
  }
  SharedRegion* const raw = region.get();
  // The deleter holds the region and hands it on.
  return std::shared_ptr<SharedRegion>(
      raw, [idle, region = std::move(region)](SharedRegion*) mutable { idle->put(std::move(region)); });
}

bool RegionPool::drain() {
  std::list<std::shared_ptr<SharedRegion>> leaving;
  const std::lock_guard lock(closing_.idle->mutex);
  leaving = closing_.idle->take_all();
  return !leaving.empty();
}

}  // namespace strom::service
