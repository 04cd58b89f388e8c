#include "service/local_machine.hpp"

#include <chrono>
#include <thread>
#include <utility>

namespace strom::service {

using engine::exec::DeviceFill;
using engine::exec::DeviceRange;
using engine::exec::DeviceRegion;
using engine::exec::DeviceWork;

namespace {

/// Between two looks at a launch that is short, and at one that is not.
constexpr std::chrono::microseconds kShortWait{20}, kLongWait{1000};

class LocalRegion final : public DeviceRegion {
 public:
  LocalRegion(device::DeviceMemory memory, device::PinnedMemory mirror, size_t size)
      : DeviceRegion(static_cast<char*>(memory.get()), static_cast<char*>(mirror.get()), size),
        memory_(std::move(memory)),
        mirror_(std::move(mirror)) {}

 private:
  device::DeviceMemory memory_;
  device::PinnedMemory mirror_;
};

/// Until the event has come. False when it was abandoned before.
Result<bool> wait_for(const device::Device& device, const device::Event& event,
                      const engine::exec::DeviceMachine::KeepGoing& keep_going) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    STROM_ASSIGN(const bool is_done, device.is_done(event));
    if (is_done) return true;
    const auto waited = std::chrono::steady_clock::now() - begin;
    if (waited > kLongWait && !keep_going()) return false;
    std::this_thread::sleep_for(waited > kLongWait ? kLongWait : kShortWait);
  }
}

}  // namespace

Result<device::DeviceMemory> allocate_if_free(const device::Device& device, size_t bytes) {
  auto memory = device.allocate(bytes);
  if (!memory.is_ok() && memory.status().code() == ErrorCode::kOutOfMemory)
    return Status(ErrorCode::kOverBudget, memory.status().message());
  return memory;
}

std::string LocalMachine::name() const {
  return std::string(device_->facts().name) + " (" + device_->facts().architecture + ")";
}

Result<std::unique_ptr<DeviceRegion>> LocalMachine::allocate(size_t bytes, bool mirrored, const KeepGoing&) {
  STROM_TRY(device_->use());
  STROM_ASSIGN(device::DeviceMemory memory, allocate_if_free(*device_, bytes));
  device::PinnedMemory mirror;
  if (mirrored) {
    STROM_ASSIGN(mirror, device_->allocate_pinned(bytes));
  }
  return std::unique_ptr<DeviceRegion>(new LocalRegion(std::move(memory), std::move(mirror), bytes));
}

Result<std::unique_ptr<LocalMachine::Lane>> LocalMachine::take_lane() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto lane = std::move(idle_.back());
      idle_.pop_back();
      return lane;
    }
  }
  auto lane = std::make_unique<Lane>();
  STROM_ASSIGN(lane->stream, device_->create_stream());
  STROM_ASSIGN(lane->end, device_->create_event());
  return lane;
}

Status LocalMachine::run_in(Lane& lane, const DeviceWork& work, const KeepGoing& keep_going) const {
  for (const DeviceRange& range : work.in)
    STROM_TRY(
        lane.stream.copy_in(range.region->device() + range.offset, range.region->host() + range.offset, range.bytes));
  for (const DeviceFill& fill : work.fills)
    STROM_TRY(lane.stream.copy_in(fill.to->device(), fill.from.region->host() + fill.from.offset, fill.from.bytes));
  if (!work.files.empty()) {
    if (lane.files == nullptr) {
      STROM_ASSIGN(lane.files, storage_.create_lane());
    }
    STROM_TRY(lane.files->read(work.files, lane.stream, keep_going));
  }
  if (work.count > 0) STROM_TRY(lane.stream.run_tiles(work.states, work.results, work.count));
  for (const DeviceRange& range : work.out)
    STROM_TRY(
        lane.stream.copy_out(range.region->host() + range.offset, range.region->device() + range.offset, range.bytes));
  STROM_TRY(lane.stream.record(lane.end));
  STROM_ASSIGN(const bool is_done, wait_for(*device_, lane.end, keep_going));
  STROM_TRY(lane.stream.finish());
  return is_done ? Status::ok() : Status(ErrorCode::kCancelled, "stopped");
}

Result<std::shared_ptr<const engine::exec::DeviceFile>> LocalMachine::open_file(int descriptor, const std::string& name,
                                                                                const KeepGoing&) {
  STROM_TRY(device_->use());
  STROM_ASSIGN(std::shared_ptr<const StoredFile> file, storage_.open(descriptor, name));
  return std::shared_ptr<const engine::exec::DeviceFile>(std::move(file));
}

Status LocalMachine::run(const DeviceWork& work, const KeepGoing& keep_going) {
  STROM_TRY(device_->use());
  STROM_ASSIGN(std::unique_ptr<Lane> lane, take_lane());
  const Status status = run_in(*lane, work, keep_going);
  // Nothing of it goes on.
  const Status finished = status.is_ok() ? status : lane->stream.finish();
  if (finished.is_ok()) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(lane));
  }
  return status;
}

}  // namespace strom::service
