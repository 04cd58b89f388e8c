// A join table that is cached on devices between queries: found there before it would be built, or put there once it
// is. Made by exec/execution.cpp, used by device/device_pipeline.cpp. See docs/dev/gpu-service.md.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "columnar/origin.hpp"
#include "engine/device/device.hpp"
#include "engine/op/join/join_image.hpp"

namespace strom::engine::device {

class CachedJoin {
 public:
  /// `origin`: what tells the finished table from all others, and its inner side for people.
  explicit CachedJoin(columnar::RowsOrigin origin) : origin_(std::move(origin)) {}

  const std::string& name() const { return origin_.name; }

  /// Looks for it on all devices. A table of `keys` and `payload` that the first of them has, and perhaps others;
  /// nothing: it is to be built. Errors: those of DeviceCache::find().
  Result<std::optional<op::JoinImage>> find(const std::vector<Device*>& devices,
                                            const std::vector<registry::Phys>& keys,
                                            const std::vector<registry::Phys>& payload,
                                            const Device::KeepGoing& keep_going);

  /// It was built, of so many rows before filters.
  void set_built(int64_t scanned_rows) { scanned_rows_ = scanned_rows; }

  /// The finished table `build` on the device, which gets it if that is worth it; nullptr when the device does not
  /// keep it. Good as long as this. Any thread. Errors: those of DeviceCache::make_room() and of copying.
  Result<const DeviceRegion*> on(Device* device, const op::JoinBuild& build, const Device::KeepGoing& keep_going);

 private:
  struct DeviceCopy {
    std::unique_ptr<DeviceRegion> region;
    bool is_wanted = false;
  };
  Result<std::unique_ptr<DeviceRegion>> put(Device* device, const op::JoinBuild& build,
                                            const Device::KeepGoing& keep_going) const;

  const columnar::RowsOrigin origin_;
  op::BuildId id_ = op::new_build_id();
  int64_t scanned_rows_ = 0;
  std::mutex mutex_;
  std::map<Device*, DeviceCopy> copies_;
};

}  // namespace strom::engine::device
