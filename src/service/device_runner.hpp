// Runs tasks on a device: what the program pg_strom_gpu_service gives to the server.
#pragma once

#include <memory>

#include "device/device.hpp"
#include "service/column_store.hpp"
#include "service/device_tasks.hpp"
#include "service/local_device.hpp"
#include "service/server.hpp"
#include "service/region_pool.hpp"
#include "service/session_memory.hpp"
#include "service/shared_memory.hpp"

namespace strom::service {

inline constexpr int kCachePercent = 80;

class DeviceRunner final : public TaskRunner {
 public:
  /// `cache_percent`: share of the tasks' device memory that columns and join tables may have when they stay there.
  /// `launch_limit`: see LocalDevice. kUnsupported: the module's kernels are of another build.
  static Result<std::unique_ptr<DeviceRunner>> create(std::shared_ptr<const device::Module> module, int device,
                                                      int cache_percent = kCachePercent,
                                                      std::chrono::milliseconds launch_limit = {},
                                                      StorageOptions storage = {});

  const device::Device& device() const { return *device_; }
  LocalDevice& local_device() { return local_device_; }

  std::string device_name() const override { return local_device_.name(); }
  std::string address() const override { return device_->facts().pci_address; }
  uint64_t device_memory() const override { return memory_; }
  uint32_t processors() const override { return static_cast<uint32_t>(device_->facts().tiles); }
  Result<TaskOutput> run(Task& task) override;
  void end_session(uint32_t session) override;
  void set_lender(MemoryLender* lender) override;
  Columns find_columns(uint32_t session, const FindColumns& request) override;
  Status settle_columns(uint32_t session, const SettleColumns& request) override;
  Cache cache(const std::string& after) override;

 private:
  DeviceRunner(std::unique_ptr<device::Device> device, uint64_t memory, uint64_t cache_limit, uint64_t idle_limit,
               uint64_t idle_mirror_limit, std::chrono::milliseconds launch_limit, StorageOptions storage)
      : device_(std::move(device)),
        memory_(memory),
        cache_limit_(cache_limit),
        pool_(device_.get(), idle_limit, idle_mirror_limit),
        local_device_(device_.get(), launch_limit, std::move(storage)) {}
  Result<TaskOutput> self_test(const Task& task) const;
  Result<TaskOutput> allocate(const Task& task);
  Result<TaskOutput> release(const Task& task);
  Result<TaskOutput> run_tiles(const Task& task);
  Result<TaskOutput> make_room(const Task& task);
  Result<TaskOutput> forget() const;
  Result<TaskOutput> mirror(const Task& task) const;
  Result<TaskOutput> share(Task& task);
  Result<TaskOutput> open_file(const Task& task);
  Result<TaskOutput> close_file(const Task& task);

  const std::unique_ptr<device::Device> device_;
  const uint64_t memory_, cache_limit_;
  RegionPool pool_;
  LocalDevice local_device_;
  SessionMemory sessions_;
  std::unique_ptr<ColumnStore> columns_;
  SessionItems<const StoredFile> files_;
  std::unique_ptr<SharedMemory> shared_;
};

}  // namespace strom::service
