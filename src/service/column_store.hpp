// Columns and join tables that stay on the device between queries, for all sessions: which are there, who uses them,
// which are worth their memory. All of them are columns here: it knows nothing of them but names and sizes. Used by the
// runner. See docs/dev/gpu-service.md.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "engine/device/device.hpp"
#include "engine/device/cached_columns.hpp"
#include "service/memory_lender.hpp"
#include "service/protocol.hpp"

namespace strom::service {

/// All functions may be called by any thread; those that may release device memory say so.
class ColumnStore {
 public:
  using Region = std::shared_ptr<engine::device::DeviceRegion>;
  /// Memory of the device; kOverBudget when it has none.
  using Allocate = std::function<Result<Region>(size_t bytes, bool mirrored)>;

  /// Keeps at most `limit` bytes, `mirror_limit` of them mirrored. `lender` outlives the store.
  ColumnStore(MemoryLender* lender, uint64_t limit, uint64_t mirror_limit, Allocate allocate)
      : lender_(lender), limit_(limit), mirror_limit_(mirror_limit), allocate_(std::move(allocate)) {}

  /// Those that are there are pinned for the session, once more each time. One that is older than the generation that
  /// is asked for is unknown while another one brings it up to date. No device memory is released.
  std::vector<ColumnRow> find(uint32_t session, const FindColumns& request);

  struct Room {
    uint64_t number = 0;  // 0: none
    uint64_t address = 0;
  };
  /// Memory for columns, pinned for the session, which fills and publishes them. A column gets it while memory is free;
  /// else when it was asked for before, and more often than what has to leave. Releases memory. Errors but those of
  /// memory: of the device.
  Result<std::vector<Room>> make_room(uint32_t session, const std::vector<engine::device::OfferedColumn>& columns);

  /// Takes back one pin of the session; what it has not published is forgotten then. kProtocolViolation when it has no
  /// such pin. Releases memory.
  Status settle(uint32_t session, const SettledColumn& column);

  /// A column that the session has pinned, for a task: it stays until the result is gone. nullptr: none.
  /// `is_written`: only such as the session has yet to publish. Releases memory in the end.
  Region use(uint32_t session, uint64_t number, bool is_written);

  /// A column that the session brings up to date by this number, for a task that writes to it. nullptr: it does not.
  Region update(uint32_t session, uint64_t number, uint64_t update);

  /// Drops the session's pins. None of its tasks runs. Releases memory.
  void end_session(uint32_t session);

  /// Releases what tasks have been promised, and waits for what others are releasing; or so many bytes, if there are.
  void give_back();
  bool give_back(uint64_t bytes);
  /// Forgets all that nobody uses; bytes that were released.
  uint64_t reset();

  /// By label, those behind `after`.
  Cache contents(const std::string& after) const;

 private:
  struct Entry {
    std::string name, label;
    int32_t column = 0;
    uint64_t number = 0, bytes = 0;
    Region region;
    std::string shape;
    uint64_t generation = 0;
    uint64_t update = 0;   // number of who brings it up to date, or 0
    uint32_t updater = 0;  // the session that does
    uint32_t writers = 0;  // tasks that write to it for an update, maybe for one that was given up
    double uses = 0;       // in units of weight_
    double worth = 0;      // place in by_worth_
    uint32_t pins = 0;     // of sessions and tasks
    uint32_t filler = 0;   // the session that fills it
    bool is_mirrored = false;
    bool is_ready = false;  // it was published
    bool is_listed = true;  // in by_name_
  };
  /// What has left the store, to be released without the lock.
  struct Gone {
    std::vector<Region> regions;
    uint64_t bytes = 0;
  };

  static double worth_of(double uses, uint64_t bytes);
  void count_use(Entry* entry);
  double count_miss(const std::string& name);
  void age();
  bool pin(Entry* entry);
  void unpin(Entry* entry, Gone* gone);
  void drop(Entry* entry, Gone* gone);
  void evict(Entry* entry, Gone* gone);
  bool evict(uint64_t bytes, bool mirrored, double below, Gone* gone);
  void count_bytes(uint64_t bytes, bool mirrored);
  void uncount_bytes(uint64_t bytes, bool mirrored);
  bool reserve(const engine::device::OfferedColumn& column, Entry* entry);
  void release(Gone gone);
  void end_use(uint64_t number, bool is_update);

  MemoryLender* const lender_;
  const uint64_t limit_, mirror_limit_;
  const Allocate allocate_;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, std::unique_ptr<Entry>> entries_;  // by number
  std::unordered_map<std::string, Entry*> by_name_;
  std::set<std::pair<double, Entry*>> by_worth_;                     // those that may leave
  std::map<uint32_t, std::unordered_map<uint64_t, uint32_t>> pins_;  // of sessions, by number
  // Uses of what is not there, by a hash of its name. Uses are counted in units that grow, so that old ones fade.
  std::unordered_map<size_t, double> misses_;
  double weight_ = 1;
  uint64_t uses_until_aging_ = 0;
  uint64_t bytes_ = 0, mirrored_ = 0, pinned_ = 0, last_number_ = 0, last_update_ = 0, found_ = 0, missed_ = 0;
  // Lent, neither pinned nor in by_worth_: a thread is giving it back, or has yet to pin it.
  uint64_t in_hand_ = 0;
  std::condition_variable less_in_hand_;
};

}  // namespace strom::service
