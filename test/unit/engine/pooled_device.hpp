// A device that keeps what its regions release, for tests on a GPU: there, making and pinning memory anew for each
// execution takes a second, and running it a millisecond. Other devices do without, since fresh memory shows what is
// read before it is written.
#pragma once

#include <algorithm>
#include <bit>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "engine/device/device.hpp"

namespace strom::engine::test {

class PooledDevice final : public device::Device {
 public:
  /// Keeps at most so many bytes of `inner`, which outlives this.
  PooledDevice(device::Device* inner, size_t limit) : inner_(inner), idle_(std::make_shared<Idle>(limit)) {}

  std::string name() const override { return inner_->name(); }
  int states_per_worker() const override { return inner_->states_per_worker(); }
  Result<std::shared_ptr<const device::DeviceFile>> open_file(int descriptor, const std::string& name,
                                                              const KeepGoing& keep_going) override {
    return inner_->open_file(descriptor, name, keep_going);
  }
  Status run(const device::DeviceWork& work, const KeepGoing& keep_going) override {
    return inner_->run(work, keep_going);
  }

  Result<std::unique_ptr<device::DeviceRegion>> allocate(size_t bytes, bool mirrored,
                                                         const KeepGoing& keep_going) override {
    const size_t room = std::bit_ceil(std::max(bytes, kLeastRoom));
    std::unique_ptr<device::DeviceRegion> memory = idle_->take(room, mirrored);
    if (memory == nullptr) {
      auto made = inner_->allocate(room, mirrored, keep_going);
      if (made.status().code() == ErrorCode::kOverBudget) {
        idle_->drain();
        made = inner_->allocate(room, mirrored, keep_going);
      }
      STROM_ASSIGN(memory, std::move(made));
    }
    return std::unique_ptr<device::DeviceRegion>(new Region(std::move(memory), bytes, idle_));
  }

 private:
  using Memory = std::unique_ptr<device::DeviceRegion>;
  static constexpr size_t kLeastRoom = 4096;

  struct Idle {
    explicit Idle(size_t most) : limit(most) {}
    const size_t limit;
    std::mutex mutex;
    size_t bytes = 0;
    std::list<Memory> regions;

    Memory take(size_t room, bool mirrored) {
      const std::lock_guard lock(mutex);
      const auto found = std::find_if(regions.begin(), regions.end(), [&](const Memory& region) {
        return region->size() == room && (region->host() != nullptr) == mirrored;
      });
      if (found == regions.end()) return nullptr;
      Memory taken = std::move(*found);
      regions.erase(found);
      bytes -= room;
      return taken;
    }
    void put(Memory region) {
      const std::lock_guard lock(mutex);
      if (bytes + region->size() > limit) return;
      bytes += region->size();
      regions.push_back(std::move(region));
    }
    void drain() {
      const std::lock_guard lock(mutex);
      regions.clear();
      bytes = 0;
    }
  };

  class Region final : public device::DeviceRegion {
   public:
    Region(Memory memory, size_t size, std::shared_ptr<Idle> idle)
        : DeviceRegion(memory->device(), memory->host(), size), memory_(std::move(memory)), idle_(std::move(idle)) {}
    ~Region() override { idle_->put(std::move(memory_)); }

   private:
    Memory memory_;
    const std::shared_ptr<Idle> idle_;
  };

  device::Device* const inner_;
  const std::shared_ptr<Idle> idle_;
};

}  // namespace strom::engine::test
