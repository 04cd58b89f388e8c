#include "engine/exec/kept_join.hpp"

#include "engine/exec/kept_columns.hpp"

namespace strom::engine::exec {

using registry::Phys;

namespace {

/// Tables that are larger stay nowhere.
constexpr int64_t kLargestKept = int64_t{1} << 30;

bool has_errors(const JoinBuild& build) {
  for (size_t i = 0; i < build.key_count(); ++i)
    if (build.key(i).has_errors()) return true;
  for (uint32_t i = 0; i < build.payload_count(); ++i)
    if (build.payload(i).has_errors()) return true;
  return false;
}

}  // namespace

Result<std::optional<JoinImage>> KeptJoin::find(const std::vector<DeviceMachine*>& machines,
                                                const std::vector<Phys>& keys, const std::vector<Phys>& payload,
                                                const DeviceMachine::KeepGoing& keep_going) {
  std::optional<JoinImage> first;
  for (DeviceMachine* machine : machines) {
    ColumnKeeper* keeper = machine->keeper();
    if (keeper == nullptr) continue;
    STROM_ASSIGN(FoundColumn found, keeper->find_mirrored(origin_.name, keep_going));
    Place& place = places_[machine];
    place.is_wanted = found.is_wanted;
    if (found.region == nullptr) continue;
    std::optional<JoinImage> image = read_kept_join(*found.region, keys, payload);
    if (!image || (first && image->id != first->id)) continue;
    place.region = std::move(found.region);
    if (first) continue;
    first = std::move(image);
    id_ = first->id;
    scanned_rows_ = first->scanned_rows;
  }
  return first;
}

Result<const DeviceRegion*> KeptJoin::on(DeviceMachine* machine, const JoinBuild& build,
                                         const DeviceMachine::KeepGoing& keep_going) {
  const std::lock_guard lock(mutex_);
  Place& place = places_[machine];
  if (place.region == nullptr && place.is_wanted) {
    place.is_wanted = false;
    STROM_ASSIGN(place.region, put(machine, build, keep_going));
  }
  return static_cast<const DeviceRegion*>(place.region.get());
}

Result<std::unique_ptr<DeviceRegion>> KeptJoin::put(DeviceMachine* machine, const JoinBuild& build,
                                                    const DeviceMachine::KeepGoing& keep_going) const {
  std::unique_ptr<DeviceRegion> none;
  if (machine->keeper() == nullptr || build.memory() > kLargestKept || has_errors(build)) return none;
  DeviceImage image;
  put_kept_join(build, id_, scanned_rows_, &image);
  if (image.size() > static_cast<size_t>(kLargestKept)) return none;
  OfferedColumn offer{origin_.name, columnar::join_table_label(origin_.label), 0, image.size(), true};
  STROM_ASSIGN(auto rooms, machine->keeper()->make_room({std::move(offer)}, keep_going));
  std::unique_ptr<DeviceRegion> room = std::move(rooms[0]);
  if (room == nullptr) return room;
  image.write(room->host(), room->device());
  DeviceWork work;
  work.fills.push_back({room.get(), {room.get(), 0, image.size()}});
  STROM_TRY(machine->run(work, keep_going));
  machine->keeper()->publish(*room, "join table");
  return room;
}

}  // namespace strom::engine::exec
