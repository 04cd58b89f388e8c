// A device whose memory is apart from the host's, so that what is not copied is not there, and whose tiles run on the
// CPU: fast, and seen by sanitizers.
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>

#include "engine/device/cached_columns.hpp"
#include "engine/inst/copies_cpu.hpp"
#include "engine/inst/pages_cpu.hpp"
#include "targets.hpp"

namespace strom::engine::test {
namespace {

constexpr int kFresh = 0x5a;

class Region final : public device::DeviceRegion {
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

/// Keeps everything that it is offered.
class Keeper final : public device::DeviceCache {
 public:
  Result<std::vector<device::FoundColumn>> find(const std::vector<device::ColumnName>& names,
                                                const device::Device::KeepGoing&) override {
    const std::lock_guard lock(mutex_);
    std::vector<device::FoundColumn> found(names.size());
    for (size_t i = 0; i < names.size(); ++i) {
      const auto kept = columns_.find(names[i].name);
      found[i].is_wanted = kept == columns_.end();
      if (found[i].is_wanted || !kept->second.is_published) continue;
      found[i].region = std::make_unique<View>(kept->second);
      found[i].shape = kept->second.shape;
      found[i].generation = kept->second.generation;
      found[i].is_older = kept->second.generation < names[i].generation;
    }
    return found;
  }

  Result<std::vector<device::FoundColumn>> find_older(const std::vector<device::ColumnName>& names,
                                                      const device::Device::KeepGoing& keep_going) override {
    STROM_ASSIGN(auto found, find(names, keep_going));
    for (device::FoundColumn& column : found)
      if (!column.is_older) column = {};
    return found;
  }

  Result<device::FoundColumn> find_mirrored(const std::string& name,
                                            const device::Device::KeepGoing& keep_going) override {
    STROM_ASSIGN(auto found, find({{name, 0}}, keep_going));
    return std::move(found[0]);
  }

  Result<std::vector<std::unique_ptr<device::DeviceRegion>>> make_room(
      const std::vector<device::OfferedColumn>& columns, const device::Device::KeepGoing&) override {
    const std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<device::DeviceRegion>> rooms;
    for (const device::OfferedColumn& column : columns) {
      Column& kept = columns_[column.name];
      if (kept.memory.empty()) {
        kept.memory.resize(column.bytes, static_cast<char>(kFresh));
        if (column.is_mirrored) kept.mirror.resize(column.bytes, static_cast<char>(kFresh));
        rooms.push_back(std::make_unique<View>(kept));
      } else {
        rooms.push_back(nullptr);
      }
    }
    return rooms;
  }

  void publish(const device::DeviceRegion& region, const std::string& shape, uint64_t generation) override {
    const std::lock_guard lock(mutex_);
    for (auto& [name, column] : columns_) {
      if (column.memory.data() != region.device()) continue;
      column.is_published = true;
      column.shape = shape;
      column.generation = generation;
    }
  }

 private:
  struct Column {
    std::vector<char> memory, mirror;
    bool is_published = false;
    std::string shape;
    uint64_t generation = 0;
  };
  class View final : public device::DeviceRegion {
   public:
    explicit View(Column& column)
        : DeviceRegion(column.memory.data(), column.mirror.empty() ? nullptr : column.mirror.data(),
                       column.memory.size()) {}
  };

  std::mutex mutex_;
  std::map<std::string, Column> columns_;
};

class HostDevice final : public device::Device {
 public:
  HostDevice(block::RunMorsel run, int states, size_t memory) : run_(run), states_(states), memory_(memory) {}

  std::string name() const override { return "memory of its own"; }
  int states_per_worker() const override { return states_; }

  Result<std::unique_ptr<device::DeviceRegion>> allocate(size_t bytes, bool mirrored, const KeepGoing&) override {
    if ((used_ += bytes) > memory_) {
      used_ -= bytes;
      return Status(ErrorCode::kOverBudget, "no memory on the device");
    }
    std::unique_ptr<char[]> device(new char[bytes]), host(mirrored ? new char[bytes] : nullptr);
    std::memset(device.get(), kFresh, bytes);
    return std::unique_ptr<device::DeviceRegion>(new Region(std::move(device), std::move(host), bytes, &used_));
  }

  Status run(const device::DeviceWork& work, const KeepGoing& keep_going) override {
    for (const device::DeviceRange& range : work.in)
      std::memcpy(range.region->device() + range.offset, range.region->host() + range.offset, range.bytes);
    for (const device::DeviceFill& fill : work.fills)
      std::memcpy(fill.to->device(), fill.from.region->host() + fill.from.offset, fill.from.bytes);
    inst::run_copies_cpu(work.copies, work.copy_count);
    if (work.pages != nullptr) inst::run_pages_cpu(*work.pages, work.page_count);
    for (int i = 0; i < work.count; ++i) work.results[i] = run_(work.states[i]);
    for (const device::DeviceRange& range : work.out)
      std::memcpy(range.region->host() + range.offset, range.region->device() + range.offset, range.bytes);
    return keep_going() ? Status::ok() : Status(ErrorCode::kCancelled, "stopped");
  }

  device::DeviceCache* cache() override { return &keeper_; }

 private:
  const block::RunMorsel run_;
  const int states_;
  const size_t memory_;
  std::atomic<size_t> used_{0};
  Keeper keeper_;
};

}  // namespace

std::unique_ptr<device::Device> host_device(block::RunMorsel run, int states, size_t memory) {
  return std::make_unique<HostDevice>(run, states, memory);
}

}  // namespace strom::engine::test
