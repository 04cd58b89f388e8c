// A device of this process behind the engine's interface. The GPU service runs its clients' work on it. Tests and
// measurements use it without PostgreSQL.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "engine/device/device.hpp"
#include "service/storage.hpp"

namespace strom::service {

/// Memory of the device; kOverBudget where the device has not enough now, so that the engine does without.
Result<device::DeviceMemory> allocate_if_free(const device::Device& device, size_t bytes);

class LocalDevice : public engine::device::Device {
 public:
  /// A launch that takes half of the limit is paused; one that takes all of it while no other ends has lost the device
  /// (kDeviceLost). 0: no limit.
  explicit LocalDevice(const device::Device* device, std::chrono::milliseconds launch_limit = {},
                       StorageOptions storage = {})
      : device_(device), launch_limit_(launch_limit), storage_(device, std::move(storage)) {}

  std::string name() const override;
  int states_per_worker() const override { return device_->facts().tiles; }
  Result<std::unique_ptr<engine::device::DeviceRegion>> allocate(size_t bytes, bool mirrored,
                                                                 const KeepGoing& keep_going) override;
  Result<std::shared_ptr<const engine::device::DeviceFile>> open_file(int descriptor, const std::string& name,
                                                                      const KeepGoing& keep_going) override;
  Status run(const engine::device::DeviceWork& work, const KeepGoing& keep_going) override;

  Storage& storage() { return storage_; }

 private:
  using Clock = std::chrono::steady_clock;

  /// Resources of a run, which later runs use again.
  struct Lane {
    device::Stream stream;
    device::Event begun, end;  // copies to the device are done; all is
    std::optional<device::Stream> teller;
    std::unique_ptr<StorageLane> files;  // from its first reads on
  };
  Result<std::unique_ptr<Lane>> take_lane();
  Status tell(Lane& lane, const engine::device::DeviceWork& work, const int32_t& word) const;
  Result<bool> has_ended(const Lane& lane) const;
  Status await_end(Lane& lane, const engine::device::DeviceWork& work, const KeepGoing& keep_going) const;
  Status run_in(Lane& lane, const engine::device::DeviceWork& work, const KeepGoing& keep_going) const;

  const device::Device* const device_;
  const std::chrono::milliseconds launch_limit_;
  mutable std::atomic<int> launches_ = 0;                                  // that are waited for
  mutable std::atomic<Clock::time_point> last_end_ = Clock::time_point();  // of a launch
  Storage storage_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> idle_;
};

}  // namespace strom::service
