// What the workers of one pipeline share on a device: tile code, constants, join tables. Used by exec/pipeline_run.hpp.
#pragma once

#include <memory>
#include <vector>

#include "engine/exec/assemble.hpp"
#include "engine/exec/device_files.hpp"
#include "engine/exec/device_image.hpp"
#include "engine/exec/device_machine.hpp"
#include "engine/exec/device_pages.hpp"
#include "engine/exec/execution.hpp"

namespace strom::engine::exec {

class DevicePipeline {
 public:
  /// Copies all to the device. kOverBudget when there is no room for it.
  static Result<std::unique_ptr<DevicePipeline>> open(DeviceMachine* machine, const plan::Program& program,
                                                      const Assembly& assembly,
                                                      const DeviceMachine::KeepGoing& keep_going);

  DeviceMachine& machine() const { return *machine_; }
  const DeviceRegion& region() const { return *region_; }
  /// Join tables that the machine keeps, for DeviceWork::kept.
  const std::vector<const DeviceRegion*>& kept_joins() const { return kept_joins_; }
  // Addresses on the device.
  const block::TileCode* code() const { return on_device<block::TileCode>(code_); }
  const block::JoinTable* joins() const { return on_device<block::JoinTable>(joins_); }
  /// Of the register of a constant, which all workers read.
  const block::RegStorage& constant(size_t reg) const { return constants_[reg]; }

  /// Lets the machine read files of the source by itself, where it can.
  void read_files() { files_ = std::make_unique<DeviceFiles>(machine_); }
  /// nullptr when it does not.
  DeviceFiles* files() const { return files_.get(); }
  DevicePageFiles* page_files() const { return &page_files_; }

  /// After the last tile: build rows that have been matched there are matched in the host's tables.
  Status take_matches(const DeviceMachine::KeepGoing& keep_going);

 private:
  struct Matches {
    size_t place, rows;
    uint8_t* host;
  };

  explicit DevicePipeline(DeviceMachine* machine) : machine_(machine), page_files_(machine) {}
  Status put_join(const JoinBuild& build, size_t place, DeviceImage* image, const DeviceMachine::KeepGoing& keep_going);
  template <class T>
  const T* on_device(size_t place) const {
    return reinterpret_cast<const T*>(region_->device() + place);
  }

  DeviceMachine* const machine_;
  std::unique_ptr<DeviceRegion> region_;
  size_t code_ = 0, joins_ = 0;
  std::vector<block::RegStorage> constants_;
  std::vector<Matches> matches_;
  std::vector<const DeviceRegion*> kept_joins_;
  std::unique_ptr<DeviceFiles> files_;
  mutable DevicePageFiles page_files_;
};

}  // namespace strom::engine::exec
