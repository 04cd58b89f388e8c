// What the engine needs of a device with memory of its own: regions of that memory, copies and launches. There are two
// implementations: for a device in the same process, and over the GPU service's client (src/service). Used by
// device/device_worker.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "engine/block/copies.hpp"
#include "engine/block/pages.hpp"
#include "engine/block/tile.hpp"
#include "engine/op/device_image.hpp"

namespace strom::engine::device {

/// Memory of the device, freed by the destructor. A mirrored region has host memory of the same size beside it, and
/// copies go between equal offsets of both.
class DeviceRegion {
 public:
  virtual ~DeviceRegion() = default;
  /// Address on the device. The host uses it for arithmetic only.
  char* device() const { return device_; }
  /// nullptr when it is not mirrored.
  char* host() const { return host_; }
  size_t size() const { return size_; }
  op::MirroredBytes bytes() const { return {host_, device_, size_}; }
  /// Where the mirror has the `bytes` bytes from a device address on; nullptr when the region does not have them all,
  /// or is not mirrored.
  const char* on_host(const char* address, size_t bytes) const {
    if (host_ == nullptr || address < device_) return nullptr;
    const auto offset = static_cast<size_t>(address - device_);
    return offset < size_ && bytes <= size_ - offset ? host_ + offset : nullptr;
  }

 protected:
  DeviceRegion(char* device, char* host, size_t size) : device_(device), host_(host), size_(size) {}
  char* const device_;
  char* host_;  // nullptr until it is mapped
  const size_t size_;
};

/// A part of a mirrored region.
struct DeviceRange {
  const DeviceRegion* region;
  size_t offset, bytes;
};

/// A copy to the beginning of a region of DeviceCache::make_room(), from its own mirror or another region's.
struct DeviceFill {
  const DeviceRegion* to;
  DeviceRange from;
};

/// A file that the device reads by itself; it is open on the device as long as this lives.
class DeviceFile {
 public:
  virtual ~DeviceFile() = default;
};

/// A part of a file, and its destination in a region.
struct DeviceFileRange {
  std::shared_ptr<const DeviceFile> file;
  uint64_t file_offset;
  const DeviceRegion* region;
  size_t offset, bytes;
};

/// Work for the device, in this order: copies to the device and reads of files, one step of a task over pages (unless
/// `pages` is nullptr), one run of tiles (unless `count` is 0), copies from the device.
struct DeviceWork {
  std::vector<DeviceRange> in;
  block::TileState* states = nullptr;  // device addresses, see device::Stream::run_tiles
  block::RunResult* results = nullptr;
  int count = 0;
  std::vector<DeviceRange> out;
  /// A word on the device, 0, that the states watch (TileState::stop): it ends an abandoned run within a tile.
  int32_t* stop = nullptr;
  std::vector<DeviceFill> fills{};            // done with those of `in`
  std::vector<const DeviceRegion*> cached{};  // regions of a DeviceCache that tiles read
  std::vector<DeviceFileRange> files{};
  const block::PageTask* pages = nullptr;    // device address, see device::Stream::run_pages
  uint32_t page_count = 0;                   // the first ones of the task
  const block::BlockCopy* copies = nullptr;  // device address; done after `in`
  uint32_t copy_count = 0;
  std::vector<const DeviceRegion*> updated{};  // regions of a DeviceCache that copies write to
};

class DeviceCache;

/// Several threads may call all functions at a time, and their work overlaps.
class Device {
 public:
  virtual ~Device() = default;
  virtual std::string name() const = 0;
  /// Tile states that one worker should run at a time.
  virtual int states_per_worker() const = 0;
  /// Called during long operations: false abandons the operation.
  using KeepGoing = std::function<bool()>;
  /// kOverBudget when there is too little memory now; kDeviceLost; kCancelled.
  virtual Result<std::unique_ptr<DeviceRegion>> allocate(size_t bytes, bool mirrored, const KeepGoing& keep_going) = 0;
  /// Opens a file to read from. The descriptor is not kept; `name` is for messages. kUnsupported: the device cannot
  /// read this file, or cannot read files.
  virtual Result<std::shared_ptr<const DeviceFile>> open_file(int descriptor, const std::string& name,
                                                              const KeepGoing& keep_going) {
    (void)descriptor, (void)name, (void)keep_going;
    return Status(ErrorCode::kUnsupported, "this device reads no files");
  }
  /// Returns when all work is done. An abandoned run (kCancelled) also returns only when nothing of it runs any more.
  /// kFileChanged: a file is shorter than the requested range.
  virtual Status run(const DeviceWork& work, const KeepGoing& keep_going) = 0;
  /// The cache of columns and join tables between queries; nullptr: there is none.
  virtual DeviceCache* cache() { return nullptr; }
};

}  // namespace strom::engine::device
