// A device and its resources: memory, streams, events. Owners release what they own. Used by the GPU service's runner
// and by tests. A module drives the device itself (module.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/status.hpp"
#include "device/module.hpp"

namespace strom::device {

/// A loaded module. It stays in the process: CUDA cannot be unloaded.
class Module {
 public:
  /// kFileNotFound when there is no such file, kUnsupported when it is no module of this version.
  static Result<std::shared_ptr<const Module>> open(const std::string& path);

  const ModuleTable& table() const { return *table_; }
  /// The number of devices. kDeviceLost when there are none, or no driver for them.
  Result<int> count() const;
  /// Ok, or why the call has failed: kOutOfMemory, kDeviceLost (also: no device), kInternal.
  Status check(int outcome, const char* what) const;

  /// Called when a launch does not end. A release may wait for that launch, so nothing is released from now on, and the
  /// process has to end. Any thread.
  void give_up() const { is_given_up_ = true; }
  bool is_given_up() const { return is_given_up_; }

 private:
  explicit Module(const ModuleTable* table) : table_(table) {}
  const ModuleTable* table_;
  mutable std::atomic<bool> is_given_up_ = false;
};

class Device;

/// A module's resource that `release` gives back, unless the module is given up. Must not outlive its device.
template <class T, int (*ModuleTable::*release)(T*)>
class Owned {
 public:
  Owned() = default;
  Owned(const Module* module, T* object) : module_(module), object_(object) {}
  Owned(Owned&& other) noexcept : module_(other.module_), object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(module_, other.module_);
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_ != nullptr && !module_->is_given_up()) (module_->table().*release)(object_);
  }
  T* get() const { return object_; }

 private:
  const Module* module_ = nullptr;
  T* object_ = nullptr;
};

using ShareHandle = std::array<unsigned char, kShareHandleBytes>;
/// The size of CUDA's mappings in bytes: a handle opens whole granules.
inline constexpr size_t kShareGranule = size_t{2} << 20;

using DeviceMemory = Owned<void, &ModuleTable::release>;
using PinnedMemory = Owned<void, &ModuleTable::release_pinned>;
using RegisteredMemory = Owned<void, &ModuleTable::release_registered>;
using Event = Owned<ModuleEvent, &ModuleTable::destroy_event>;

/// Operations of a stream run in their order, while the host goes on.
class Stream {
 public:
  /// The host memory must stay until the stream has done the copy. Copies of pinned memory are asynchronous.
  Status copy_in(void* device, const void* host, size_t bytes) const;
  Status copy_out(void* host, const void* device, size_t bytes) const;
  Status fill(void* device, int byte, size_t bytes) const;
  Status run_tiles(engine::block::TileState* states, engine::block::RunResult* results, int count) const;
  Status run_pages(const engine::block::PageTask* task, uint32_t count) const;
  Status run_copies(const engine::block::BlockCopy* copies, uint32_t count) const;
  Status record(const Event& event) const;
  Status wait_for(const Event& event) const;
  /// Waits until all operations are done; returns the failure of any of them.
  Status finish() const;

 private:
  friend class Device;
  std::shared_ptr<const Module> module_;
  Owned<ModuleStream, &ModuleTable::destroy_stream> stream_;
};

class Device {
 public:
  /// The device with this number, whose context is made. kDeviceLost when there is none.
  static Result<std::unique_ptr<Device>> open(std::shared_ptr<const Module> module, int number);

  const DeviceFacts& facts() const { return facts_; }
  /// Every thread but the opening one calls this before anything else.
  Status use() const;

  Result<DeviceMemory> allocate(size_t bytes) const;
  /// The handle by which other processes open the memory until it is released. Its size has to be a multiple of
  /// kShareGranule, so that they see nothing else.
  Result<ShareHandle> share(const DeviceMemory& memory) const;
  Result<PinnedMemory> allocate_pinned(size_t bytes) const;
  /// Memory of the caller, which is released before the caller frees it.
  Result<RegisteredMemory> register_host(void* memory, size_t bytes) const;
  Result<Stream> create_stream() const;
  Result<Event> create_event() const;
  Result<bool> is_done(const Event& event) const;

  /// Gives up the module, and so all devices of the process.
  void give_up() const { module_->give_up(); }
  bool is_given_up() const { return module_->is_given_up(); }

 private:
  Device(std::shared_ptr<const Module> module, int number) : module_(std::move(module)), number_(number) {}
  const std::shared_ptr<const Module> module_;
  const int number_;
  DeviceFacts facts_{};
};

}  // namespace strom::device
