// What the workers of one pipeline share on a device: tile code, constants, join tables. Used by exec/pipeline_run.hpp.
#pragma once

#include <memory>
#include <vector>

#include "engine/block/join_table.hpp"
#include "engine/op/pipeline/assemble.hpp"
#include "engine/device/device_files.hpp"
#include "engine/op/device_image.hpp"
#include "engine/device/device.hpp"
#include "engine/device/device_pages.hpp"

namespace strom::engine::device {

class DevicePipeline {
 public:
  /// Copies everything to the device. kOverBudget when there is no room for it.
  static Result<std::unique_ptr<DevicePipeline>> open(Device* device, const plan::Program& program,
                                                      const op::Assembly& assembly,
                                                      const op::PreparedConstants& prepared,
                                                      const Device::KeepGoing& keep_going);

  Device& device() const { return *device_; }
  const DeviceRegion& region() const { return *region_; }
  /// Join tables that the device caches, for DeviceWork::cached.
  const std::vector<const DeviceRegion*>& cached_joins() const { return cached_joins_; }
  // Addresses on the device.
  const block::TileCode* code() const { return on_device<block::TileCode>(code_); }
  const block::JoinTable* joins() const { return on_device<block::JoinTable>(joins_); }
  /// The memory of a constant's register, which all workers read.
  const block::RegStorage& constant(size_t reg) const { return constants_[reg]; }

  /// Lets the device read the source's files by itself, where it can.
  void read_files() { files_ = std::make_unique<DeviceFiles>(device_); }
  /// nullptr when the device does not read files.
  DeviceFiles* files() const { return files_.get(); }
  DevicePageFiles* page_files() const { return &page_files_; }

  /// Called after the last tile. Build rows that were matched on the device become matched in the host's tables.
  Status take_matches(const Device::KeepGoing& keep_going);

 private:
  struct Matches {
    size_t offset, rows;
    uint8_t* host;
  };

  explicit DevicePipeline(Device* device) : device_(device), page_files_(device) {}
  Status put_join(const op::JoinBuild& build, size_t offset, op::DeviceImage* image,
                  const Device::KeepGoing& keep_going);
  template <class T>
  const T* on_device(size_t offset) const {
    return reinterpret_cast<const T*>(region_->device() + offset);
  }

  Device* const device_;
  std::unique_ptr<DeviceRegion> region_;
  size_t code_ = 0, joins_ = 0;
  std::vector<block::RegStorage> constants_;
  std::vector<Matches> matches_;
  std::vector<const DeviceRegion*> cached_joins_;
  std::unique_ptr<DeviceFiles> files_;
  mutable DevicePageFiles page_files_;
};

}  // namespace strom::engine::device
