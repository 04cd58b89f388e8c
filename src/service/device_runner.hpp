// Runs tasks on a device: what the program pg_strom_gpu_service gives to the server.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "service/device_tasks.hpp"
#include "service/local_machine.hpp"
#include "service/server.hpp"
#include "service/session_memory.hpp"

namespace strom::service {

class DeviceRunner final : public TaskRunner {
 public:
  /// `launch_limit`: of the machine, see LocalMachine.
  static Result<std::unique_ptr<DeviceRunner>> create(std::shared_ptr<const device::Module> module, int device,
                                                      std::chrono::milliseconds launch_limit);

  const device::Device& device() const { return *device_; }
  LocalMachine& machine() { return machine_; }

  std::string device_name() const override { return machine_.name(); }
  std::string address() const override { return device_->facts().pci_address; }
  uint64_t device_memory() const override { return memory_; }
  uint32_t processors() const override { return static_cast<uint32_t>(device_->facts().processors); }
  Result<TaskOutput> run(Task& task) override;
  void end_session(uint32_t session) override;

 private:
  DeviceRunner(std::unique_ptr<device::Device> device, uint64_t memory, std::chrono::milliseconds launch_limit)
      : device_(std::move(device)), memory_(memory), machine_(device_.get(), launch_limit) {}
  Result<TaskOutput> self_test(const Task& task) const;
  Result<TaskOutput> allocate(const Task& task);
  Result<TaskOutput> release(const Task& task);
  Result<TaskOutput> run_tiles(const Task& task);

  const std::unique_ptr<device::Device> device_;
  const uint64_t memory_;
  LocalMachine machine_;
  SessionMemory sessions_;
};

}  // namespace strom::service
