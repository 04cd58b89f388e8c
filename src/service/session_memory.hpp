// Device memory that sessions of the GPU service keep between their tasks. Used by the runner.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device.hpp"
#include "engine/exec/device_machine.hpp"
#include "service/sockets.hpp"

namespace strom::service {

/// A region whose mirror is a memory file, for both processes to map.
class SharedRegion final : public engine::exec::DeviceRegion {
 public:
  /// kOverBudget when the device has no such memory.
  static Result<std::shared_ptr<SharedRegion>> create(const device::Device& device, size_t bytes, bool mirrored);
  ~SharedRegion() override;

  /// The memory file, to be sent away.
  Descriptor take_file() { return std::move(file_); }

 private:
  SharedRegion(device::DeviceMemory memory, char* mirror, size_t size, Descriptor file,
               device::RegisteredMemory registered);

  device::DeviceMemory memory_;
  Descriptor file_;
  device::RegisteredMemory registered_;
};

class SessionMemory {
 public:
  /// The number under which the session has it from now on.
  uint64_t add(uint32_t session, std::shared_ptr<SharedRegion> region);
  /// nullptr when the session has none of this number.
  std::shared_ptr<SharedRegion> find(uint32_t session, uint64_t number);
  std::shared_ptr<SharedRegion> remove(uint32_t session, uint64_t number);
  /// All of the session's, for a task that may use any of them though the client releases it meanwhile.
  std::vector<std::shared_ptr<SharedRegion>> all(uint32_t session);
  /// True when [address, address + bytes) is in one of the session's regions.
  bool holds(uint32_t session, uint64_t address, uint64_t bytes);
  void end_session(uint32_t session);

 private:
  using Regions = std::map<uint64_t, std::shared_ptr<SharedRegion>>;
  std::mutex mutex_;
  std::map<uint32_t, Regions> sessions_;
  uint64_t last_ = 0;
};

}  // namespace strom::service
