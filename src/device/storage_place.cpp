#include "device/storage_place.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace strom::device {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLayers = 8;

std::string first_line_of(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Decodes octal numbers: mountinfo has them for blanks and backslashes in names.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(i + 1, 3), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::string number_of(dev_t device) { return std::to_string(major(device)) + ":" + std::to_string(minor(device)); }

bool is_below(const std::string& path, const std::string& folder) {
  return folder == "/" || path == folder || path.rfind(folder + "/", 0) == 0;
}

/// Finds the path's mount: the deepest one, and of equally deep ones the last, which hides the others. Mounts of the
/// file's device come first; some file systems (btrfs) have another device number in mountinfo.
void find_mount(const std::string& path, dev_t device, const std::string& root, StoragePlace* place,
                std::string* number) {
  std::ifstream in(root + "/proc/self/mountinfo");
  size_t best = 0;
  bool best_is_exact = false;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string id, parent, numbers, from, to, mount_options, word, type, source, options;
    words >> id >> parent >> numbers >> from >> to >> mount_options;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    if (options.empty()) continue;
    to = unescaped(to);
    const bool is_exact = numbers == number_of(device);
    if (!is_below(path, to) || (best_is_exact && !is_exact)) continue;
    if (is_exact == best_is_exact && to.size() < best) continue;
    best = to.size();
    best_is_exact = is_exact;
    *place = {to, type, unescaped(source), mount_options + "," + options, {}, {}};
    *number = numbers;
  }
}

std::string kind_of(const std::string& disk) {
  if (disk.rfind("nvme", 0) == 0) return "NVMe";
  if (disk.rfind("vd", 0) == 0) return "virtio";
  if (disk.rfind("sd", 0) == 0) return "SCSI or SATA";
  if (disk.rfind("loop", 0) == 0) return "loop device";
  return "";
}

/// The transport of an NVMe disk: that of its controller, or of the first one if there are several paths.
std::string transport_of(const fs::path& device) {
  if (const std::string transport = first_line_of(device / "transport"); !transport.empty()) return transport;
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(device, error), end; !error && entry != end; entry.increment(error))
    if (const std::string transport = first_line_of(entry->path() / "transport"); !transport.empty())
      found.push_back(transport);
  return found.empty() ? "" : *std::min_element(found.begin(), found.end());
}

int numa_node_of(const fs::path& folder, const fs::path& top) {
  for (fs::path at = folder; at.has_relative_path() && at != top; at = at.parent_path())
    if (const std::string line = first_line_of(at / "numa_node"); !line.empty()) return std::atoi(line.c_str());
  return -1;
}

/// Adds the disks below a block device, whose folder in /sys is `folder`.
void add_device(fs::path folder, const std::string& root, int depth, StoragePlace* place) {
  std::error_code error;
  if (fs::exists(folder / "partition", error)) folder = folder.parent_path();
  const std::string name = folder.filename();
  std::vector<fs::path> below;
  for (fs::directory_iterator entry(folder / "slaves", error), end; !error && entry != end; entry.increment(error)) {
    std::error_code broken;
    if (const fs::path real = fs::canonical(entry->path(), broken); !broken) below.push_back(real);
  }
  std::sort(below.begin(), below.end());
  if (below.empty() || depth == kMostLayers) {
    Disk disk{name, kind_of(name), "", numa_node_of(folder, root + "/sys")};
    if (disk.kind == "NVMe")
      if (const fs::path device = fs::canonical(folder / "device", error); !error)
        disk.transport = transport_of(device);
    const bool is_known = std::any_of(place->disks.begin(), place->disks.end(),
                                      [&](const Disk& other) { return other.name == disk.name; });
    if (!is_known) place->disks.push_back(std::move(disk));
    return;
  }
  std::string what = first_line_of(folder / "md/level");
  if (what.empty()) what = first_line_of(folder / "dm/name");
  place->layers.push_back(what.empty() ? name : name + " (" + what + ")");
  for (const fs::path& device : below) add_device(device, root, depth + 1, place);
}

}  // namespace

std::string StoragePlace::option(const std::string& name) const {
  std::istringstream all(options);
  for (std::string one; std::getline(all, one, ',');)
    if (one.rfind(name + "=", 0) == 0) return one.substr(name.size() + 1);
  return "";
}

StoragePlace inspect_storage(const std::string& path, dev_t device, const std::string& root) {
  StoragePlace place;
  std::string number;
  find_mount(path, device, root, &place, &number);
  std::error_code error;
  fs::path folder = fs::canonical(root + "/sys/dev/block/" + number, error);
  struct stat facts;
  if (error && place.source.rfind("/dev/", 0) == 0 && stat((root + place.source).c_str(), &facts) == 0 &&
      S_ISBLK(facts.st_mode))
    folder = fs::canonical(root + "/sys/dev/block/" + number_of(facts.st_rdev), error);
  if (!error) add_device(folder, root, 0, &place);
  return place;
}

}  // namespace strom::device
