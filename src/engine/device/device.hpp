// What the engine asks of a device that has memory of its own: regions of it, copies and launches. Implemented over a
// device in the same process and over the GPU service's client (src/service); used by device/device_worker.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "engine/block/pages.hpp"
#include "engine/block/tile.hpp"
#include "engine/op/device_image.hpp"

namespace strom::engine::device {

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
  op::MirroredBytes bytes() const { return {host_, device_, size_}; }
  /// Where the mirror has `bytes` from an address on the device on; nullptr when not all of them are in the region, or
  /// it is not mirrored.
  const char* on_host(const char* address, size_t bytes) const {
    if (host_ == nullptr || address < device_) return nullptr;
    const auto offset = static_cast<size_t>(address - device_);
    return offset < size_ && bytes <= size_ - offset ? host_ + offset : nullptr;
  }

 protected:
  DeviceRegion(char* device, char* host, size_t size) : device_(device), host_(host), size_(size) {}
  char* const device_;
  char* host_;  // once it is mapped
  const size_t size_;
};

/// A part of a mirrored region.
struct DeviceRange {
  const DeviceRegion* region;
  size_t offset, bytes;
};

/// A copy to the beginning of a region of DeviceCache::make_room(), from the mirror of another or its own.
struct DeviceFill {
  const DeviceRegion* to;
  DeviceRange from;
};

/// A file that the device reads by itself; it is open there as long as this lives.
class DeviceFile {
 public:
  virtual ~DeviceFile() = default;
};

/// A part of a file, and where in a region it goes.
struct DeviceFileRange {
  std::shared_ptr<const DeviceFile> file;
  uint64_t file_offset;
  const DeviceRegion* region;
  size_t offset, bytes;
};

/// What happens on the device in this order: copies to it and reads of files, one step of a task over pages (unless
/// `pages` is nullptr), one run of tiles (unless `count` is 0), copies from it.
struct DeviceWork {
  std::vector<DeviceRange> in;
  block::TileState* states = nullptr;  // device addresses, see device::Stream::run_tiles
  block::RunResult* results = nullptr;
  int count = 0;
  std::vector<DeviceRange> out;
  /// On the device, 0, where the states look (TileState::stop): a run that is abandoned ends within a tile then.
  int32_t* stop = nullptr;
  std::vector<DeviceFill> fills{};            // with those of `in`
  std::vector<const DeviceRegion*> cached{};  // of a DeviceCache, that tiles read
  std::vector<DeviceFileRange> files{};
  const block::PageTask* pages = nullptr;  // device address, see device::Stream::run_pages
  uint32_t page_count = 0;                 // the first ones of the task
};

class DeviceCache;

/// All functions may be called by several threads at a time; what they do then overlaps.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// Tile states that one worker should run at a time.
  virtual int states_per_worker() const = 0;
  /// Called while something takes its time: false abandons it.
  using KeepGoing = std::function<bool()>;
  /// kOverBudget when there is not so much memory now; kDeviceLost; kCancelled.
  virtual Result<std::unique_ptr<DeviceRegion>> allocate(size_t bytes, bool mirrored, const KeepGoing& keep_going) = 0;
  /// A file to read from; the descriptor is not kept, `name` is for messages. kUnsupported: not this file, or none at
  /// all.
  virtual Result<std::shared_ptr<const DeviceFile>> open_file(int descriptor, const std::string& name,
                                                              const KeepGoing& keep_going) {
    (void)descriptor, (void)name, (void)keep_going;
    return Status(ErrorCode::kUnsupported, "this device reads no files");
  }
  /// Returns when all is done; also when it is abandoned (kCancelled) nothing of it happens any more. kFileChanged: a
  /// file is shorter than the range that was asked for.
  virtual Status run(const DeviceWork& work, const KeepGoing& keep_going) = 0;
  /// Of columns and join tables, between queries; nullptr: there is none.
  virtual DeviceCache* cache() { return nullptr; }
};

}  // namespace strom::engine::device
