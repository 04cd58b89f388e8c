// The GPU service behind the engine's interface of a device: a backend runs its pipelines on it. Any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/device/device.hpp"
#include "engine/device/cached_columns.hpp"
#include "service/client.hpp"
#include "service/device_tasks.hpp"
#include "service/storage.hpp"

namespace strom::service {

class RemoteDevice final : public engine::device::Device, private engine::device::DeviceCache {
 public:
  /// As Client::connect().
  static Result<std::unique_ptr<RemoteDevice>> connect(const ClientOptions& options);

  std::string name() const override { return client_->welcome().device; }
  int states_per_worker() const override { return static_cast<int>(client_->welcome().processors); }
  /// Waits for memory: long when this session has none, so that sessions take turns, else shortly, because sessions
  /// that have some and wait for more would wait for each other.
  Result<std::unique_ptr<engine::device::DeviceRegion>> allocate(size_t bytes, bool mirrored,
                                                                 const KeepGoing& keep_going) override;
  Result<std::shared_ptr<const engine::device::DeviceFile>> open_file(int descriptor, const std::string& name,
                                                                      const KeepGoing& keep_going) override;
  Status run(const engine::device::DeviceWork& work, const KeepGoing& keep_going) override;
  engine::device::DeviceCache* cache() override { return caches_columns_ ? this : nullptr; }
  /// Whether executions from now on use columns that stay on the device. They do at first.
  void set_caches_columns(bool caches) { caches_columns_ = caches; }

  /// Of the service, by number, with what they have to do now.
  Result<std::vector<DeviceRow>> devices(const KeepGoing& keep_going);
  /// Number of the session's device, and how many the service has.
  uint32_t number() const { return client_->welcome().number; }
  uint32_t device_count() const { return client_->welcome().devices; }

  /// How the service would read a file.
  struct FileAnswer {
    StorageWay way;
    bool takes_direct_io;
    std::string cufile, why_not;  // its state at all; why not a better way for this file
  };
  Result<FileAnswer> ask_about_file(int descriptor, const std::string& name, const KeepGoing& keep_going);

  /// The connection can be used. False for good once it cannot.
  bool is_alive();

 private:
  using KeepGoing = engine::device::Device::KeepGoing;
  class Region;
  class File;
  class CachedRegion;
  struct Pins;
  explicit RemoteDevice(std::unique_ptr<Client> client) : client_(std::move(client)) {}

  Result<std::vector<engine::device::FoundColumn>> find(const std::vector<engine::device::ColumnName>& names,
                                                        const KeepGoing& keep_going) override;
  Result<std::vector<engine::device::FoundColumn>> find_older(const std::vector<engine::device::ColumnName>& names,
                                                              const KeepGoing& keep_going) override;
  Result<std::vector<engine::device::FoundColumn>> find_all(const std::vector<engine::device::ColumnName>& names,
                                                            bool only_older, const KeepGoing& keep_going);
  Result<engine::device::FoundColumn> find_mirrored(const std::string& name, const KeepGoing& keep_going) override;
  Result<std::vector<std::unique_ptr<engine::device::DeviceRegion>>> make_room(
      const std::vector<engine::device::OfferedColumn>& columns, const KeepGoing& keep_going) override;
  void publish(const engine::device::DeviceRegion& region, const std::string& shape, uint64_t generation) override;
  Status find_some(const FindColumns& request, std::vector<engine::device::FoundColumn>* found,
                   const KeepGoing& keep_going);
  Status make_some_room(const engine::device::OfferedColumn* columns, size_t count,
                        std::vector<std::unique_ptr<engine::device::DeviceRegion>>* rooms, const KeepGoing& keep_going);
  Status map_mirror(CachedRegion* region, bool is_written, const KeepGoing& keep_going);
  void settle(std::vector<SettledColumn> columns);

  /// An answer that a thread waits for. Only that thread is woken for it: of sixteen workers fifteen would wake up for
  /// nothing at every message.
  struct Awaited {
    std::optional<Reply> reply;
    std::condition_variable changed;
    bool waits = false;  // for another thread that reads
  };

  /// Sends a request and waits for its answer, which is no Failed. A task is cancelled when `keep_going` says so or
  /// throws, and after so long (kOverBudget).
  Result<Reply> ask(const Message& request, const KeepGoing& keep_going, int timeout_ms,
                    const std::vector<int>& descriptors = {});
  template <class Answer>
  Result<Answer> ask_for(const Message& request, const KeepGoing& keep_going);
  Result<std::optional<Reply>> wait_a_moment(uint32_t tag);
  void read_until(const Awaited& mine, std::unique_lock<std::mutex>* lock);
  void abandon(uint32_t tag, const Message& request);
  void take_reply(Reply reply);
  Status run_some(const engine::device::DeviceWork& work, size_t in_begin, size_t in_end, size_t out_begin,
                  size_t out_end, bool launch, const KeepGoing& keep_going);
  Status read_files(const engine::device::DeviceWork& work, const KeepGoing& keep_going);
  Result<std::string> open_file(int descriptor, const std::string& name, bool only_asks, OpenedFile* opened,
                                const KeepGoing& keep_going);
  void release(uint64_t region);
  void close_file(uint64_t file);

  const std::unique_ptr<Client> client_;
  std::mutex mutex_;
  bool is_reading_ = false;  // one of the waiting threads reads for all
  std::map<uint32_t, Awaited> awaited_;
  std::map<uint32_t, Message> unwanted_;  // requests for memory and files that nobody waits for any more
  std::atomic<bool> caches_columns_ = true;
  Status lost_;
  int64_t regions_ = 0;
};

}  // namespace strom::service
