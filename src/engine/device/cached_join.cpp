#include "engine/device/cached_join.hpp"

#include "engine/device/cached_columns.hpp"

namespace strom::engine::device {

using registry::Phys;

namespace {

/// Larger tables are not cached.
constexpr int64_t kLargestCached = int64_t{1} << 30;

bool has_errors(const op::JoinBuild& build) {
  for (size_t i = 0; i < build.key_count(); ++i)
    if (build.key(i).has_errors()) return true;
  for (uint32_t i = 0; i < build.payload_count(); ++i)
    if (build.payload(i).has_errors()) return true;
  return false;
}

}  // namespace

Result<std::optional<op::JoinImage>> CachedJoin::find(const std::vector<Device*>& devices,
                                                      const std::vector<Phys>& keys, const std::vector<Phys>& payload,
                                                      const Device::KeepGoing& keep_going) {
  std::optional<op::JoinImage> first;
  for (Device* device : devices) {
    DeviceCache* cache = device->cache();
    if (cache == nullptr) continue;
    STROM_ASSIGN(FoundColumn found, cache->find_mirrored(origin_.name, keep_going));
    DeviceCopy& copy = copies_[device];
    copy.is_wanted = found.is_wanted;
    if (found.region == nullptr) continue;
    std::optional<op::JoinImage> image = read_cached_join(found.region->bytes(), keys, payload);
    if (!image || (first && image->id != first->id)) continue;
    copy.region = std::move(found.region);
    if (first) continue;
    first = std::move(image);
    id_ = first->id;
    scanned_rows_ = first->scanned_rows;
  }
  return first;
}

Result<const DeviceRegion*> CachedJoin::on(Device* device, const op::JoinBuild& build,
                                           const Device::KeepGoing& keep_going) {
  const std::lock_guard lock(mutex_);
  DeviceCopy& copy = copies_[device];
  if (copy.region == nullptr && copy.is_wanted) {
    copy.is_wanted = false;
    STROM_ASSIGN(copy.region, put(device, build, keep_going));
  }
  return static_cast<const DeviceRegion*>(copy.region.get());
}

Result<std::unique_ptr<DeviceRegion>> CachedJoin::put(Device* device, const op::JoinBuild& build,
                                                      const Device::KeepGoing& keep_going) const {
  std::unique_ptr<DeviceRegion> none;
  if (device->cache() == nullptr || build.memory() > kLargestCached || has_errors(build)) return none;
  op::DeviceImage image;
  put_cached_join(build, id_, scanned_rows_, &image);
  if (image.size() > static_cast<size_t>(kLargestCached)) return none;
  OfferedColumn offer{origin_.name, columnar::join_table_label(origin_.label), 0, image.size(), true};
  STROM_ASSIGN(auto rooms, device->cache()->make_room({std::move(offer)}, keep_going));
  std::unique_ptr<DeviceRegion> room = std::move(rooms[0]);
  if (room == nullptr) return room;
  image.write(room->host(), room->device());
  DeviceWork work;
  work.fills.push_back({room.get(), {room.get(), 0, image.size()}});
  STROM_TRY(device->run(work, keep_going));
  device->cache()->publish(*room, "join table", 0);
  return room;
}

}  // namespace strom::engine::device
