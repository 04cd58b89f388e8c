// Device memory that other processes open by a handle: columns for Python. It belongs to no session. Who may use it has
// the writing end of its pipe, and when the last one has closed that, it is released. Used by the runner.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "device/device.hpp"
#include "engine/device/device.hpp"
#include "service/device_tasks.hpp"
#include "service/memory_lender.hpp"
#include "service/sockets.hpp"

namespace strom::service {

/// Bytes read into `buffer` from `offset` on, fewer at the end of the file.
Result<size_t> read_file(int file, uint8_t* buffer, size_t size, uint64_t offset);

class SharedMemory {
 public:
  using KeepGoing = engine::device::Device::KeepGoing;

  /// `give_back`: makes others release device memory, at best so many bytes; false when there is none.
  SharedMemory(const device::Device* device, MemoryLender* lender, std::function<bool(uint64_t)> give_back);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  /// The first `bytes` of a file in device memory. `lease`: the reading end of the pipe. Any thread that uses the
  /// device. Errors: kOverBudget when the device has no such memory, kFileChanged when the file is shorter, kCancelled.
  Result<Shared> add(int file, uint64_t bytes, Descriptor lease, const KeepGoing& keep_going);

 private:
  struct Piece {
    device::DeviceMemory memory;
    uint64_t bytes = 0;
    Descriptor lease;
  };
  Result<device::DeviceMemory> allocate(uint64_t bytes);
  Status fill(const device::DeviceMemory& memory, int file, uint64_t bytes, const KeepGoing& keep_going);
  void give(uint64_t bytes);
  void watch();
  void release_closed();

  const device::Device* const device_;
  MemoryLender* const lender_;
  const std::function<bool(uint64_t)> give_back_;
  std::mutex mutex_;
  std::vector<Piece> pieces_;
  bool ends_ = false;
  Descriptor changed_;  // wakes the watching thread
  std::thread watcher_;
};

}  // namespace strom::service
