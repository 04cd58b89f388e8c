// A device of this process as the engine's machine: for the GPU service, which runs on it what its clients ask for, and
// for tests and measurements without PostgreSQL.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "engine/exec/device_machine.hpp"

namespace strom::service {

/// Memory of the device; kOverBudget where it has no such memory now, so that the engine does without.
Result<device::DeviceMemory> allocate_if_free(const device::Device& device, size_t bytes);

class LocalMachine final : public engine::exec::DeviceMachine {
 public:
  explicit LocalMachine(const device::Device* device) : device_(device) {}

  std::string name() const override;
  int states_per_worker() const override { return device_->facts().tiles; }
  Result<std::unique_ptr<engine::exec::DeviceRegion>> allocate(size_t bytes, bool mirrored,
                                                               const KeepGoing& keep_going) override;
  Status run(const engine::exec::DeviceWork& work, const KeepGoing& keep_going) override;

 private:
  /// What a run needs for itself; kept for later ones.
  struct Lane {
    device::Stream stream;
    device::Event end;
  };
  Result<std::unique_ptr<Lane>> take_lane();
  Status run_in(Lane& lane, const engine::exec::DeviceWork& work, const KeepGoing& keep_going) const;

  const device::Device* const device_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> idle_;
};

}  // namespace strom::service
