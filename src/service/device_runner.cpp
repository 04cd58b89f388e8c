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

Status invalid(const char* what) {
  return Status(ErrorCode::kProtocolViolation, std::string("invalid task of the GPU service: ") + what);
}

constexpr uint32_t kMostStates = 1 << 16;

}  // namespace

Result<std::unique_ptr<DeviceRunner>> DeviceRunner::create(std::shared_ptr<const device::Module> module, int number,
                                                           std::chrono::milliseconds launch_limit) {
  STROM_ASSIGN(std::unique_ptr<device::Device> device, device::Device::open(std::move(module), number));
  const uint64_t memory = device->facts().free_memory / 10 * kTenthsForTasks;
  return std::unique_ptr<DeviceRunner>(new DeviceRunner(std::move(device), memory, launch_limit));
}

Result<TaskOutput> DeviceRunner::run(Task& task) {
  STROM_TRY(device_->use());
  switch (static_cast<TaskKind>(task.kind)) {
    case TaskKind::kSelfTest: return self_test(task);
    case TaskKind::kAllocate: return allocate(task);
    case TaskKind::kRelease: return release(task);
    case TaskKind::kRun: return run_tiles(task);
  }
  return Status(ErrorCode::kUnsupported, "the GPU service has no task " + std::to_string(task.kind));
}

void DeviceRunner::end_session(uint32_t session) {
  if (device_->use().is_ok()) sessions_.end_session(session);
}

Result<TaskOutput> DeviceRunner::allocate(const Task& task) {
  std::string_view arguments = task.arguments;
  Allocate request;
  STROM_TRY(take(&arguments, &request));
  if (task.memory == 0 || request.mirrored > 1) return invalid("memory");
  STROM_ASSIGN(std::shared_ptr<SharedRegion> region,
               SharedRegion::create(*device_, task.memory, request.mirrored == 1));
  TaskOutput output;
  output.bulk = region->take_file();
  output.kept = task.memory;
  Allocated allocated;
  allocated.address = reinterpret_cast<uint64_t>(region->device());
  allocated.region = sessions_.add(task.session, std::move(region));
  output.values = bytes_of(allocated);
  return output;
}

Result<TaskOutput> DeviceRunner::release(const Task& task) {
  std::string_view arguments = task.arguments;
  Release request;
  STROM_TRY(take(&arguments, &request));
  const std::shared_ptr<SharedRegion> region = sessions_.remove(task.session, request.region);
  if (region == nullptr) return invalid("no such memory");
  TaskOutput output;
  output.returned = region->size();
  return output;
}

Result<TaskOutput> DeviceRunner::run_tiles(const Task& task) {
  std::string_view arguments = task.arguments;
  Run request;
  STROM_TRY(take(&arguments, &request));
  if (arguments.size() != (uint64_t{request.in} + request.out) * sizeof(RunRange) || request.count > kMostStates)
    return invalid("sizes");
  engine::exec::DeviceWork work;
  // Though the client may release it meanwhile: also what tiles reach through pointers only.
  const std::vector<std::shared_ptr<SharedRegion>> held = sessions_.regions(task.session);
  for (uint32_t i = 0; i < request.in + request.out; ++i) {
    RunRange range;
    STROM_TRY(take(&arguments, &range));
    const std::shared_ptr<SharedRegion> region = sessions_.find(task.session, range.region);
    if (region == nullptr || region->host() == nullptr || range.offset > region->size() ||
        range.bytes > region->size() - range.offset)
      return invalid("range");
    (i < request.in ? work.in : work.out).push_back({region.get(), range.offset, range.bytes});
  }
  if (request.count > 0 &&
      (!sessions_.holds(task.session, request.states, uint64_t{request.count} * sizeof(engine::block::TileState)) ||
       !sessions_.holds(task.session, request.results, uint64_t{request.count} * sizeof(engine::block::RunResult)) ||
       (request.stop != 0 && !sessions_.holds(task.session, request.stop, sizeof(int32_t)))))
    return invalid("address");
  work.states = reinterpret_cast<engine::block::TileState*>(request.states);
  work.results = reinterpret_cast<engine::block::RunResult*>(request.results);
  work.count = static_cast<int>(request.count);
  work.stop = reinterpret_cast<int32_t*>(request.stop);
  STROM_TRY(machine_.run(work, [&task] { return !task.stop; }));
  return TaskOutput();
}

Result<TaskOutput> DeviceRunner::self_test(const Task& task) const {
  if (task.descriptors.size() != 1 || task.memory < kSelfTestMemory)
    return invalid("a self test needs a file and memory");
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
