#include "service/local_device.hpp"

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace strom::service {

using engine::device::DeviceFill;
using engine::device::DeviceRange;
using engine::device::DeviceRegion;
using engine::device::DeviceWork;

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

constexpr int32_t kStop = 1, kGoOn = 0;

/// One more launch while this lives; with nullptr none.
class Launches {
 public:
  explicit Launches(std::atomic<int>* count) : count_(count), at_begin_(count == nullptr ? 1 : ++*count) {}
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;
  ~Launches() {
    if (count_ != nullptr) --*count_;
  }
  int at_begin() const { return at_begin_; }

 private:
  std::atomic<int>* const count_;
  const int at_begin_;
};

}  // namespace

Result<device::DeviceMemory> allocate_if_free(const device::Device& device, size_t bytes) {
  auto memory = device.allocate(bytes);
  if (!memory.is_ok() && memory.status().code() == ErrorCode::kOutOfMemory)
    return Status(ErrorCode::kOverBudget, memory.status().message());
  return memory;
}

std::string LocalDevice::name() const {
  return std::string(device_->facts().name) + " (" + device_->facts().architecture + ")";
}

Result<std::unique_ptr<DeviceRegion>> LocalDevice::allocate(size_t bytes, bool mirrored, const KeepGoing&) {
  STROM_TRY(device_->use());
  STROM_ASSIGN(device::DeviceMemory memory, allocate_if_free(*device_, bytes));
  device::PinnedMemory mirror;
  if (mirrored) {
    STROM_ASSIGN(mirror, device_->allocate_pinned(bytes));
  }
  return std::unique_ptr<DeviceRegion>(new LocalRegion(std::move(memory), std::move(mirror), bytes));
}

Result<std::unique_ptr<LocalDevice::Lane>> LocalDevice::take_lane() {
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
  STROM_ASSIGN(lane->begun, device_->create_event());
  STROM_ASSIGN(lane->end, device_->create_event());
  return lane;
}

/// Tiles of the run end with the one that they are at. By a stream of its own: that of the run waits for them. Behind
/// the copies of the run, which may set the same word.
Status LocalDevice::tell(Lane& lane, const DeviceWork& work, const int32_t& word) const {
  if (!lane.teller) {
    STROM_ASSIGN(lane.teller.emplace(), device_->create_stream());
  }
  STROM_TRY(lane.teller->wait_for(lane.begun));
  STROM_TRY(lane.teller->copy_in(work.stop, &word, sizeof word));
  return lane.teller->finish();
}

/// kDeviceLost when the device has been given up.
Result<bool> LocalDevice::has_ended(const Lane& lane) const {
  STROM_ASSIGN(const bool is_done, device_->is_done(lane.end));
  if (is_done || !device_->is_given_up()) return is_done;
  return Status(ErrorCode::kDeviceLost, "another kernel of the GPU does not end")
      .with_hint("The GPU service starts anew. Repeat the query.");
}

/// Until the run is done: Ok, or kCancelled when `keep_going` said so before. kDeviceLost when it does not end, and the
/// device is given up then.
Status LocalDevice::await_end(Lane& lane, const DeviceWork& work, const KeepGoing& keep_going) const {
  const auto begin = Clock::now();
  const bool is_launch = work.count > 0 || work.pages != nullptr;
  const bool is_watched = is_launch && launch_limit_.count() > 0;
  const Launches launches(is_launch ? &launches_ : nullptr);
  bool is_told = work.stop == nullptr || work.count == 0, is_abandoned = false;
  const bool can_be_told = !is_told;
  std::exception_ptr thrown;  // by `keep_going`: nothing of the run goes on behind it
  for (;;) {
    STROM_ASSIGN(const bool is_done, has_ended(lane));
    if (is_done) break;
    const auto now = Clock::now();
    const auto waited = now - begin;
    if (!is_abandoned && waited > kLongWait) {
      try {
        is_abandoned = !keep_going();
      } catch (...) {
        thrown = std::current_exception();
        is_abandoned = true;
      }
    }
    // A launch that takes long only pauses: the caller goes on with it.
    const bool is_slow = is_watched && waited > launch_limit_ / 2;
    if (!is_told && (is_abandoned || is_slow)) {
      is_told = true;
      STROM_TRY(tell(lane, work, kStop));
    }
    // It may have waited for others, which pause, too: the device goes on as long as one of them ends.
    const bool is_late = is_watched && waited > launch_limit_;
    if (is_late && (now - last_end_.load() > launch_limit_ || waited > launch_limit_ * launches.at_begin())) {
      device_->give_up();
      return Status(ErrorCode::kDeviceLost, "a kernel of the GPU does not end")
          .with_detail("It was given " + std::to_string(launch_limit_.count()) + " ms (pg_strom.gpu_launch_timeout).")
          .with_hint("The GPU service starts anew. Repeat the query.");
    }
    std::this_thread::sleep_for(waited > kLongWait ? kLongWait : kShortWait);
  }
  if (is_launch) last_end_ = Clock::now();
  STROM_TRY(lane.stream.finish());
  if (is_told && can_be_told) STROM_TRY(tell(lane, work, kGoOn));
  if (thrown) std::rethrow_exception(thrown);
  return is_abandoned ? Status(ErrorCode::kCancelled, "stopped") : Status::ok();
}

Status LocalDevice::run_in(Lane& lane, const DeviceWork& work, const KeepGoing& keep_going) const {
  for (const DeviceRange& range : work.in)
    STROM_TRY(
        lane.stream.copy_in(range.region->device() + range.offset, range.region->host() + range.offset, range.bytes));
  for (const DeviceFill& fill : work.fills)
    STROM_TRY(lane.stream.copy_in(fill.to->device(), fill.from.region->host() + fill.from.offset, fill.from.bytes));
  if (work.copy_count > 0) STROM_TRY(lane.stream.run_copies(work.copies, work.copy_count));
  if (!work.files.empty()) {
    if (lane.files == nullptr) {
      STROM_ASSIGN(lane.files, storage_.create_lane());
    }
    STROM_TRY(lane.files->read(work.files, lane.stream, keep_going));
  }
  STROM_TRY(lane.stream.record(lane.begun));
  if (work.pages != nullptr) STROM_TRY(lane.stream.run_pages(work.pages, work.page_count));
  if (work.count > 0) STROM_TRY(lane.stream.run_tiles(work.states, work.results, work.count));
  for (const DeviceRange& range : work.out)
    STROM_TRY(
        lane.stream.copy_out(range.region->host() + range.offset, range.region->device() + range.offset, range.bytes));
  STROM_TRY(lane.stream.record(lane.end));
  return await_end(lane, work, keep_going);
}

Result<std::shared_ptr<const engine::device::DeviceFile>> LocalDevice::open_file(int descriptor,
                                                                                 const std::string& name,
                                                                                 const KeepGoing&) {
  STROM_TRY(device_->use());
  STROM_ASSIGN(std::shared_ptr<const StoredFile> file, storage_.open(descriptor, name));
  return std::shared_ptr<const engine::device::DeviceFile>(std::move(file));
}

Status LocalDevice::run(const DeviceWork& work, const KeepGoing& keep_going) {
  STROM_TRY(device_->use());
  STROM_ASSIGN(std::unique_ptr<Lane> lane, take_lane());
  const Status status = run_in(*lane, work, keep_going);
  if (status.code() == ErrorCode::kDeviceLost) {
    // Nothing of it ends any more: to wait for it would be to hang, too.
    [[maybe_unused]] Lane* abandoned = lane.release();
    return status;  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): see above
  }
  // Nothing of it goes on.
  const Status finished = status.is_ok() ? status : lane->stream.finish();
  if (finished.is_ok()) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(lane));
  }
  return status;
}

}  // namespace strom::service
