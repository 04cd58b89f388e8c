// Runs tasks on a device: what the program pg_strom_gpu_service gives to the server.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "service/server.hpp"

namespace strom::service {

enum class TaskKind : uint16_t {
  /// Takes the bytes of a file to the device and back through pinned memory and compares them. Descriptor 0 is the
  /// file; the
  /// values are those of SelfTest. Needs kSelfTestMemory.
  kSelfTest = 1,
};

inline constexpr uint64_t kSelfTestMemory = 4 << 20;

struct SelfTest {
  uint64_t bytes = 0, in_us = 0, out_us = 0;  // copied, and how long that took each way
};

class DeviceRunner final : public TaskRunner {
 public:
  static Result<std::unique_ptr<DeviceRunner>> create(const std::string& module_path, int device);

  std::string device_name() const override;
  uint64_t device_memory() const override { return memory_; }
  Result<TaskOutput> run(Task& task) override;

 private:
  DeviceRunner(std::unique_ptr<device::Device> device, uint64_t memory) : device_(std::move(device)), memory_(memory) {}
  Result<TaskOutput> self_test(const Task& task) const;

  const std::unique_ptr<device::Device> device_;
  const uint64_t memory_;
};

}  // namespace strom::service
