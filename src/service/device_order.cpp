#include "service/device_order.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

namespace strom::service {
namespace {

namespace fs = std::filesystem;

constexpr int kOtherProcessor = 64;  // further than any bridges
constexpr uint32_t kMostDevices = 64;

Status invalid(std::string_view part) {
  return Status(ErrorCode::kInvalidParameter, "invalid list of storage and its GPUs: \"" + std::string(part) + "\"")
      .with_hint("Write for example nvme0=gpu0,/mnt/nfs=gpu1:gpu2.");
}

/// The part of `text` before `separator`, which is taken off.
std::string_view take_until(std::string_view* text, char separator) {
  const size_t end = std::min(text->find(separator), text->size());
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return part;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The folder that a link of /sys leads to; empty when there is none.
fs::path real_folder(const std::string& path) {
  std::error_code error;
  fs::path found = fs::canonical(path, error);
  return error ? fs::path() : found;
}

void add_disks(const fs::path& block, std::set<std::string>* disks) {
  std::error_code error;
  if (fs::exists(block / "partition", error)) return add_disks(block.parent_path(), disks);
  bool has_parts = false;
  for (fs::directory_iterator part(block / "slaves", error), end; !error && part != end; part.increment(error)) {
    has_parts = true;
    if (const fs::path below = real_folder(part->path()); !below.empty()) add_disks(below, disks);
  }
  if (!has_parts) disks->insert(block.filename());
}

/// Folders of /sys from the bus down to the device: "pci0000:00", "0000:00:01.0", ...
std::vector<std::string> pci_folders(const fs::path& path) {
  std::vector<std::string> folders;
  for (const fs::path& part : path) {
    const std::string name = part;
    const bool is_bus = name.starts_with("pci") && name.find(':') != std::string::npos;
    const bool is_function = name.size() >= 12 && name[4] == ':' && name[7] == ':' && name[10] == '.';
    if (is_bus || (is_function && !folders.empty())) folders.push_back(name);
  }
  return folders;
}

/// -1: not known.
int processor_of(fs::path folder) {
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    int node;
    if (std::ifstream file(folder / "numa_node"); file >> node) return node;
  }
  return -1;
}

/// The file is in the folder, or below it.
bool is_below(const std::string& path, const std::string& folder) {
  std::string_view name = folder;
  while (name.size() > 1 && name.back() == '/') name.remove_suffix(1);
  if (!path.starts_with(name)) return false;
  return name == "/" || path.size() == name.size() || path[name.size()] == '/';
}

/// The setting's entry for the file; nullptr: none. The innermost folder counts, then a disk.
const OptimalDevices* told(const std::vector<OptimalDevices>& optimal, const std::string& path,
                           const std::vector<std::string>& disks) {
  const OptimalDevices* found = nullptr;
  for (const OptimalDevices& one : optimal)
    if (one.place[0] == '/' && is_below(path, one.place) &&
        (found == nullptr || one.place.size() > found->place.size()))
      found = &one;
  if (found != nullptr) return found;
  for (const OptimalDevices& one : optimal)
    for (const std::string& disk : disks)
      // nvme0 names all of nvme0n1's kind, not nvme01.
      if (disk == one.place || (disk.starts_with(one.place + "n") && one.place.starts_with("nvme"))) return &one;
  return nullptr;
}

/// Facts about the storage of a file (empty: of none).
class Storage {
 public:
  Storage(const std::vector<OptimalDevices>& optimal, const std::string& path, const std::string& root) : root_(root) {
    if (path.empty()) return;
    disks_ = disks_of(path, root);
    told_ = told(optimal, path, disks_);
  }
  /// Those of the devices that the setting names for it.
  std::vector<DeviceRow> told_of(const std::vector<DeviceRow>& devices) const {
    std::vector<DeviceRow> found;
    for (const DeviceRow& device : devices)
      if (told_ != nullptr && std::count(told_->devices.begin(), told_->devices.end(), device.number) > 0)
        found.push_back(device);
    return found;
  }
  int distance_to(const DeviceRow& device) const {
    int far = 0;
    for (const std::string& disk : disks_) far += distance(disk, device.address, root_);
    return far;
  }

 private:
  const std::string& root_;
  std::vector<std::string> disks_;
  const OptimalDevices* told_ = nullptr;
};

}  // namespace

Result<std::vector<OptimalDevices>> parse_optimal_devices(std::string_view text) {
  std::vector<OptimalDevices> optimal;
  while (!trimmed(text).empty()) {
    const std::string_view part = trimmed(take_until(&text, ','));
    std::string_view devices = part;
    const std::string_view place = trimmed(take_until(&devices, '='));
    if (place.empty() || devices.empty() || (place[0] != '/' && place.find('/') != std::string_view::npos))
      return invalid(part);
    OptimalDevices one{std::string(place), {}};
    while (!devices.empty()) {
      const std::string_view name = trimmed(take_until(&devices, ':'));
      uint32_t number = 0;
      if (!name.starts_with("gpu")) return invalid(part);
      const auto [end, error] = std::from_chars(name.data() + 3, name.data() + name.size(), number);
      if (error != std::errc() || end != name.data() + name.size() || number >= kMostDevices) return invalid(part);
      one.devices.push_back(number);
    }
    optimal.push_back(std::move(one));
  }
  return optimal;
}

std::vector<std::string> disks_of(const std::string& path, const std::string& root) {
  struct stat found;
  if (stat(path.c_str(), &found) != 0) return {};
  const std::string number = std::to_string(major(found.st_dev)) + ":" + std::to_string(minor(found.st_dev));
  const fs::path block = real_folder(root + "/sys/dev/block/" + number);
  std::set<std::string> disks;
  if (!block.empty()) add_disks(block, &disks);
  return {disks.begin(), disks.end()};
}

int distance(const std::string& disk, const std::string& address, const std::string& root) {
  if (address.empty()) return 0;
  const fs::path of_disk = real_folder(root + "/sys/block/" + disk);
  const fs::path of_device = real_folder(root + "/sys/bus/pci/devices/" + address);
  if (of_disk.empty() || of_device.empty()) return 0;
  const std::vector<std::string> a = pci_folders(of_disk), b = pci_folders(of_device);
  if (a.empty() || b.empty()) return 0;
  size_t common = 0;
  while (common < std::min(a.size(), b.size()) && a[common] == b[common]) ++common;
  const int bridges = static_cast<int>(a.size() + b.size() - 2 * common);
  const int node = processor_of(of_disk), other = processor_of(of_device);
  return common == 0 && node >= 0 && other >= 0 && node != other ? kOtherProcessor + bridges : bridges;
}

std::vector<DeviceRow> order_devices(std::vector<DeviceRow> devices, const std::vector<OptimalDevices>& optimal,
                                     const std::string& path, const std::string& root) {
  const Storage storage(optimal, path, root);
  if (std::vector<DeviceRow> told = storage.told_of(devices); !told.empty()) devices = std::move(told);
  const auto place = [&](const DeviceRow& device) {
    return std::tuple(storage.distance_to(device), device.queued + device.running, device.memory_used, device.sessions,
                      device.number);
  };
  std::vector<std::pair<decltype(place(devices.front())), size_t>> places;
  places.reserve(devices.size());
  for (size_t i = 0; i < devices.size(); ++i) places.emplace_back(place(devices[i]), i);
  std::sort(places.begin(), places.end());
  std::vector<DeviceRow> ordered;
  ordered.reserve(places.size());
  for (const auto& [key, i] : places) ordered.push_back(std::move(devices[i]));
  return ordered;
}

std::vector<uint32_t> nearest_devices(const std::vector<DeviceRow>& devices, const std::vector<OptimalDevices>& optimal,
                                      const std::string& path, const std::string& root) {
  const Storage storage(optimal, path, root);
  const std::vector<DeviceRow> told = storage.told_of(devices);
  std::vector<uint32_t> nearest;
  nearest.reserve(devices.size());
  for (const DeviceRow& device : told) nearest.push_back(device.number);
  if (!nearest.empty() || devices.empty()) return nearest;
  std::vector<int> distances;
  distances.reserve(devices.size());
  for (const DeviceRow& device : devices) distances.push_back(storage.distance_to(device));
  const int least = *std::min_element(distances.begin(), distances.end());
  for (size_t i = 0; i < devices.size(); ++i)
    if (distances[i] == least) nearest.push_back(devices[i].number);
  return nearest.size() == devices.size() ? std::vector<uint32_t>() : nearest;
}

std::vector<DeviceRow> order_devices(const std::vector<DeviceRow>& devices, const std::vector<OptimalDevices>& optimal,
                                     const std::vector<std::string>& paths, const std::string& root) {
  std::vector<std::vector<DeviceRow>> orders;
  orders.reserve(paths.size());
  for (const std::string& path : paths) orders.push_back(order_devices(devices, optimal, path, root));
  std::vector<DeviceRow> merged;
  for (size_t rank = 0; rank < devices.size(); ++rank)
    for (std::vector<DeviceRow>& order : orders) {
      if (rank >= order.size()) continue;
      const auto is_same = [&](const DeviceRow& device) { return device.number == order[rank].number; };
      if (std::none_of(merged.begin(), merged.end(), is_same)) merged.push_back(order[rank]);
    }
  return merged;
}

}  // namespace strom::service
