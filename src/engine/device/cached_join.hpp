// A join table that devices cache between queries: found there before it would be built, or put there after it was
// built. Made by exec/inner_sides.cpp, used by device/device_pipeline.cpp. See docs/dev/gpu-service.md.
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
  /// `origin`: the name of the finished table, which no other table has, and a label of its inner side for people.
  explicit CachedJoin(columnar::RowsOrigin origin) : origin_(std::move(origin)) {}

  const std::string& name() const { return origin_.name; }

  /// Looks for the table, with columns `keys` and `payload`, on all devices. Returns the first device's table; nothing:
  /// the table has to be built. Errors: those of DeviceCache::find().
  Result<std::optional<op::JoinImage>> find(const std::vector<Device*>& devices,
                                            const std::vector<registry::Phys>& keys,
                                            const std::vector<registry::Phys>& payload,
                                            const Device::KeepGoing& keep_going);

  /// Tells that the table was built, from so many rows before filters.
  void set_built(int64_t scanned_rows) { scanned_rows_ = scanned_rows; }

  /// The finished table `build` on the device, put there if that is worth it; nullptr when the device does not cache
  /// it. Valid as long as this object. Any thread. Errors: those of DeviceCache::make_room() and of copying.
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
