// A join table that stays on devices between queries: found there before it would be built, or put there once it is.
// Made by exec/execution.cpp, used by exec/device_pipeline.cpp. See docs/dev/gpu-service.md.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "columnar/origin.hpp"
#include "engine/exec/device_machine.hpp"
#include "engine/exec/join_image.hpp"

namespace strom::engine::exec {

class KeptJoin {
 public:
  /// `origin`: what tells the finished table from all others, and its inner side for people.
  explicit KeptJoin(columnar::RowsOrigin origin) : origin_(std::move(origin)) {}

  const std::string& name() const { return origin_.name; }

  /// Looks for it on all machines. A table of `keys` and `payload` that the first of them has, and perhaps others;
  /// nothing: it is to be built. Errors: those of ColumnKeeper::find().
  Result<std::optional<JoinImage>> find(const std::vector<DeviceMachine*>& machines,
                                        const std::vector<registry::Phys>& keys,
                                        const std::vector<registry::Phys>& payload,
                                        const DeviceMachine::KeepGoing& keep_going);

  /// It was built, of so many rows before filters.
  void set_built(int64_t scanned_rows) { scanned_rows_ = scanned_rows; }

  /// The finished table `build` on the machine, which gets it if that is worth it; nullptr when the machine does not
  /// keep it. Good as long as this. Any thread. Errors: those of ColumnKeeper::make_room() and of copying.
  Result<const DeviceRegion*> on(DeviceMachine* machine, const JoinBuild& build,
                                 const DeviceMachine::KeepGoing& keep_going);

 private:
  struct Place {
    std::unique_ptr<DeviceRegion> region;
    bool is_wanted = false;
  };
  Result<std::unique_ptr<DeviceRegion>> put(DeviceMachine* machine, const JoinBuild& build,
                                            const DeviceMachine::KeepGoing& keep_going) const;

  const columnar::RowsOrigin origin_;
  BuildId id_ = new_build_id();
  int64_t scanned_rows_ = 0;
  std::mutex mutex_;
  std::map<DeviceMachine*, Place> places_;
};

}  // namespace strom::engine::exec
