// A device whose memory is apart from the host's, so that what is not copied is not there, and whose tiles run on the
// CPU: fast, and seen by sanitizers.
#include <atomic>
#include <cstring>

#include "machines.hpp"

namespace strom::engine::test {
namespace {

constexpr int kFresh = 0x5a;

class Region final : public exec::DeviceRegion {
 public:
  Region(std::unique_ptr<char[]> device, std::unique_ptr<char[]> host, size_t size, std::atomic<size_t>* used)
      : DeviceRegion(device.get(), host.get(), size),
        memory_(std::move(device)),
        mirror_(std::move(host)),
        used_(used) {}
  ~Region() override { *used_ -= size_; }

 private:
  std::unique_ptr<char[]> memory_, mirror_;
  std::atomic<size_t>* const used_;
};

class HostDevice final : public exec::DeviceMachine {
 public:
  HostDevice(block::RunMorsel run, int states, size_t memory) : run_(run), states_(states), memory_(memory) {}

  std::string name() const override { return "memory of its own"; }
  int states_per_worker() const override { return states_; }

  Result<std::unique_ptr<exec::DeviceRegion>> allocate(size_t bytes, bool mirrored, const KeepGoing&) override {
    if ((used_ += bytes) > memory_) {
      used_ -= bytes;
      return Status(ErrorCode::kOverBudget, "no memory on the device");
    }
    std::unique_ptr<char[]> device(new char[bytes]), host(mirrored ? new char[bytes] : nullptr);
    std::memset(device.get(), kFresh, bytes);
    return std::unique_ptr<exec::DeviceRegion>(new Region(std::move(device), std::move(host), bytes, &used_));
  }

  Status run(const exec::DeviceWork& work, const KeepGoing& keep_going) override {
    for (const exec::DeviceRange& range : work.in)
      std::memcpy(range.region->device() + range.offset, range.region->host() + range.offset, range.bytes);
    for (int i = 0; i < work.count; ++i) work.results[i] = run_(work.states[i]);
    for (const exec::DeviceRange& range : work.out)
      std::memcpy(range.region->host() + range.offset, range.region->device() + range.offset, range.bytes);
    return keep_going() ? Status::ok() : Status(ErrorCode::kCancelled, "stopped");
  }

 private:
  const block::RunMorsel run_;
  const int states_;
  const size_t memory_;
  std::atomic<size_t> used_{0};
};

}  // namespace

std::unique_ptr<exec::DeviceMachine> host_device(block::RunMorsel run, int states, size_t memory) {
  return std::make_unique<HostDevice>(run, states, memory);
}

}  // namespace strom::engine::test
