#include "base/machine_memory.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace strom::base {

namespace {

// The number behind `name` in lines "name 123"; 0 when there is none.
uint64_t number_of(const std::string& path, const std::string& name) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string word;
    uint64_t number = 0;
    if (words >> word && word == name && words >> number) return number;
  }
  return 0;
}

// The number that a file consists of. False for "max" and where there is no such file.
bool read_number(const std::string& path, uint64_t* number) {
  return static_cast<bool>(std::ifstream(path) >> *number);
}

// The names of a group's files in the two versions of cgroups.
struct Names {
  const char *limit, *usage, *inactive, *active;
};
constexpr Names kVersion1 = {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                             "total_active_file"};
constexpr Names kVersion2 = {"memory.max", "memory.current", "inactive_file", "active_file"};

void limit_by(const std::string& folder, const Names& names, MachineMemory* memory) {
  uint64_t limit = 0, used = 0;
  // Without a limit, version 1 has a number that is larger than any machine.
  if (!read_number(folder + "/" + names.limit, &limit) || limit >= memory->total) return;
  memory->total = limit;
  memory->is_limited = true;
  if (!read_number(folder + "/" + names.usage, &used)) return;
  const std::string stat = folder + "/memory.stat";
  const uint64_t cached = number_of(stat, names.inactive) + number_of(stat, names.active);
  used -= std::min(used, cached);
  memory->available = std::min(memory->available, limit - std::min(limit, used));
}

// The group, and all around it. In a container the path may be the one outside: then the mounted folder is the group.
void limit_by_all(const std::string& mount, std::string path, const Names& names, MachineMemory* memory) {
  for (;;) {
    limit_by(mount + path, names, memory);
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return;
    path.resize(slash);
  }
}

}  // namespace

MachineMemory read_machine_memory(const std::string& root) {
  constexpr uint64_t kKilobyte = 1024;
  MachineMemory memory;
  memory.total = number_of(root + "/proc/meminfo", "MemTotal:") * kKilobyte;
  memory.available = number_of(root + "/proc/meminfo", "MemAvailable:") * kKilobyte;
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // number:controllers:path
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1) == "/" ? "" : line.substr(second + 1);
    if (controllers == ",,")
      limit_by_all(root + "/sys/fs/cgroup", path, kVersion2, &memory);
    else if (controllers.find(",memory,") != std::string::npos)
      limit_by_all(root + "/sys/fs/cgroup/memory", path, kVersion1, &memory);
  }
  return memory;
}

uint64_t usual_part(const MachineMemory& memory) {
  constexpr uint64_t kPart = 8;
  return memory.total / kPart;
}

bool leaves_part(const MachineMemory& memory, uint64_t size) {
  return memory.total == 0 || memory.available >= size + usual_part(memory);
}

}  // namespace strom::base
