// What the engine asks of a device that has memory of its own: regions of it, copies and launches. Implemented over a
// device in the same process and over the GPU service's client (src/service); used by exec/device_worker.cpp.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "engine/block/tile.hpp"

namespace strom::engine::exec {

/// Memory of the device, given back by the destructor. A mirrored one has host memory of the same size beside it, and
/// copies go between equal places of both.
class DeviceRegion {
 public:
  virtual ~DeviceRegion() = default;
  /// Address on the device; not for the host, but for arithmetic.
  char* device() const { return device_; }
  /// nullptr when it is not mirrored.
  char* host() const { return host_; }
  size_t size() const { return size_; }

 protected:
  DeviceRegion(char* device, char* host, size_t size) : device_(device), host_(host), size_(size) {}
  char* const device_;
  char* const host_;
  const size_t size_;
};

/// A part of a mirrored region.
struct DeviceRange {
  const DeviceRegion* region;
  size_t offset, bytes;
};

/// A copy from a mirror to the beginning of another region, one of ColumnKeeper::make_room().
struct DeviceFill {
  const DeviceRegion* to;
  DeviceRange from;
};

/// What happens on the device in this order: copies to it, one run of tiles (unless `count` is 0), copies from it.
struct DeviceWork {
  std::vector<DeviceRange> in;
  block::TileState* states = nullptr;  // device addresses, see device::Stream::run_tiles
  block::RunResult* results = nullptr;
  int count = 0;
  std::vector<DeviceRange> out;
  /// On the device, 0, where the states look (TileState::stop): a run that is abandoned ends within a tile then.
  int32_t* stop = nullptr;
  std::vector<DeviceFill> fills{};          // with those of `in`
  std::vector<const DeviceRegion*> kept{};  // of a ColumnKeeper, that tiles read
};

class ColumnKeeper;

/// All functions may be called by several threads at a time; what they do then overlaps.
class DeviceMachine {
 public:
  virtual ~DeviceMachine() = default;
  virtual std::string name() const = 0;
  /// Tile states that one worker should run at a time.
  virtual int states_per_worker() const = 0;
  /// Called while something takes its time: false abandons it.
  using KeepGoing = std::function<bool()>;
  /// kOverBudget when there is not so much memory now; kDeviceLost; kCancelled.
  virtual Result<std::unique_ptr<DeviceRegion>> allocate(size_t bytes, bool mirrored, const KeepGoing& keep_going) = 0;
  /// Returns when all is done; also when it is abandoned (kCancelled) nothing of it happens any more.
  virtual Status run(const DeviceWork& work, const KeepGoing& keep_going) = 0;
  /// Columns that stay on the device between queries; nullptr: none do.
  virtual ColumnKeeper* keeper() { return nullptr; }
};

}  // namespace strom::engine::exec
