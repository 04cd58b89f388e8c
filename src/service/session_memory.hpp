// Device memory that sessions of the GPU service keep between their tasks. Used by the runner.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "engine/device/device.hpp"
#include "service/session_items.hpp"
#include "service/sockets.hpp"

namespace strom::service {

/// A region whose mirror is a memory file, for both processes to map.
class SharedRegion final : public engine::device::DeviceRegion {
 public:
  enum class Mirror : uint8_t { kNone, kPlain, kPinned };  // pinned: it is copied fast, and often
  /// kOverBudget when the device has no such memory.
  static Result<std::shared_ptr<SharedRegion>> create(const device::Device& device, size_t bytes, Mirror mirrored);
  ~SharedRegion() override;

  /// Another descriptor of the mirror's memory file, to be sent away; none without a mirror. `is_written`: it can be.
  Result<Descriptor> copy_file(bool is_written = true) const;

 private:
  SharedRegion(device::DeviceMemory memory, char* mirror, size_t size, Descriptor file,
               device::RegisteredMemory registered);

  device::DeviceMemory memory_;
  Descriptor file_;
  device::RegisteredMemory registered_;
};

class SessionMemory : public SessionItems<SharedRegion> {
 public:
  /// True when [address, address + bytes) is in one of the session's regions.
  bool holds(uint32_t session, uint64_t address, uint64_t bytes);
};

}  // namespace strom::service
