// A device that keeps what its regions release, for tests on a GPU: there, making and pinning memory anew for each
// execution takes a second, and running it a millisecond. Other devices do without, since fresh memory shows what is
// read before it is written.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>

#include "service/local_device.hpp"
#include "service/region_pool.hpp"

namespace strom::engine::test {

class PooledDevice final : public service::LocalDevice {
 public:
  explicit PooledDevice(const strom::device::Device* device)
      : LocalDevice(device), pool_(device, kMostPooled, kMostPooled) {}

  Result<std::unique_ptr<device::DeviceRegion>> allocate(size_t bytes, bool mirrored, const KeepGoing&) override {
    const size_t room = std::bit_ceil(std::max(bytes, kLeastRoom));
    auto memory = pool_.take(room, mirrored);
    if (memory.status().code() == ErrorCode::kOverBudget && pool_.drain()) memory = pool_.take(room, mirrored);
    STROM_TRY(memory.status());
    return std::unique_ptr<device::DeviceRegion>(new Region(std::move(memory).value(), bytes));
  }

 private:
  static constexpr size_t kLeastRoom = 4096, kMostPooled = size_t{8} << 30;

  class Region final : public device::DeviceRegion {
   public:
    Region(std::shared_ptr<service::SharedRegion> memory, size_t size)
        : DeviceRegion(memory->device(), memory->host(), size), memory_(std::move(memory)) {}

   private:
    const std::shared_ptr<service::SharedRegion> memory_;
  };

  service::RegionPool pool_;
};

}  // namespace strom::engine::test
