#include "service/device_runner.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/os_error.hpp"

namespace strom::service {
namespace {

// Of the memory that is free at the start, what tasks may have: the rest is for streams, kernels' stacks and
// fragmentation.
constexpr uint64_t kTenthsForTasks = 9;

uint64_t microseconds_since(std::chrono::steady_clock::time_point begin) {
  using std::chrono::microseconds;
  return static_cast<uint64_t>(
      std::chrono::duration_cast<microseconds>(std::chrono::steady_clock::now() - begin).count());
}

/// Bytes read into `buffer`, fewer at the end of the file.
Result<size_t> read_file(int file, uint8_t* buffer, size_t size, uint64_t offset) {
  size_t done = 0;
  while (done < size) {
    const ssize_t bytes = pread(file, buffer + done, size - done, static_cast<off_t>(offset + done));
    if (bytes == 0) break;
    if (bytes < 0 && errno != EINTR) return base::os_error(errno, "could not read a file for the GPU");
    if (bytes > 0) done += static_cast<size_t>(bytes);
  }
  return done;
}

}  // namespace

Result<std::unique_ptr<DeviceRunner>> DeviceRunner::create(const std::string& module_path, int number) {
  STROM_ASSIGN(std::shared_ptr<const device::Module> module, device::Module::open(module_path));
  STROM_ASSIGN(std::unique_ptr<device::Device> device, device::Device::open(std::move(module), number));
  const uint64_t memory = device->facts().free_memory / 10 * kTenthsForTasks;
  return std::unique_ptr<DeviceRunner>(new DeviceRunner(std::move(device), memory));
}

std::string DeviceRunner::device_name() const {
  return std::string(device_->facts().name) + " (" + device_->facts().architecture + ")";
}

Result<TaskOutput> DeviceRunner::run(Task& task) {
  STROM_TRY(device_->use());
  if (task.kind == static_cast<uint16_t>(TaskKind::kSelfTest)) return self_test(task);
  return Status(ErrorCode::kUnsupported, "the GPU service has no task " + std::to_string(task.kind));
}

Result<TaskOutput> DeviceRunner::self_test(const Task& task) const {
  if (task.descriptors.size() != 1 || task.memory < kSelfTestMemory)
    return Status(ErrorCode::kProtocolViolation,
                  "invalid task of the GPU service: a self test needs a file and memory");
  STROM_ASSIGN(const device::DeviceMemory memory, device_->allocate(kSelfTestMemory));
  STROM_ASSIGN(const device::PinnedMemory sent, device_->allocate_pinned(kSelfTestMemory));
  STROM_ASSIGN(const device::PinnedMemory received, device_->allocate_pinned(kSelfTestMemory));
  STROM_ASSIGN(const device::Stream stream, device_->create_stream());
  SelfTest result;
  for (;;) {
    if (task.stop) return Status(ErrorCode::kCancelled, "canceled on the GPU");
    STROM_ASSIGN(const size_t bytes, read_file(task.descriptors[0].get(), static_cast<uint8_t*>(sent.get()),
                                               kSelfTestMemory, result.bytes));
    if (bytes == 0) break;
    auto begin = std::chrono::steady_clock::now();
    STROM_TRY(stream.copy_in(memory.get(), sent.get(), bytes));
    STROM_TRY(stream.finish());
    result.in_us += microseconds_since(begin);
    begin = std::chrono::steady_clock::now();
    STROM_TRY(stream.copy_out(received.get(), memory.get(), bytes));
    STROM_TRY(stream.finish());
    result.out_us += microseconds_since(begin);
    if (std::memcmp(sent.get(), received.get(), bytes) != 0)
      return Status(ErrorCode::kDeviceLost, "the GPU gives other bytes back than it was given");
    result.bytes += bytes;
  }
  TaskOutput output;
  output.values.assign(reinterpret_cast<const char*>(&result), sizeof result);
  return output;
}

}  // namespace strom::service
