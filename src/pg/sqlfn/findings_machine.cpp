#include "pg/sqlfn/findings.hpp"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "engine/exec/execution.hpp"

namespace strom::pg::sqlfn {
namespace {

using engine::exec::Isa;

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string describe(const device::NvidiaGpu& gpu) {
  return (gpu.name.empty() ? "NVIDIA GPU" : gpu.name) + " at " + gpu.address;
}

void check_driver(const device::NvidiaDriver& driver, std::vector<Finding>* findings) {
  const bool is_nouveau = std::any_of(driver.gpus.begin(), driver.gpus.end(),
                                      [](const device::NvidiaGpu& gpu) { return gpu.driver == "nouveau"; });
  const std::string wanted = std::to_string(device::kOldestDriverBranch);
  if (driver.version.empty() && is_nouveau)
    findings->push_back({"GPU driver", Health::kError, "The kernel's driver nouveau has the GPU; CUDA needs NVIDIA's.",
                         "apt-get install nvidia-driver && reboot"});
  else if (driver.version.empty())
    findings->push_back({"GPU driver", Health::kError, "NVIDIA's kernel module is not loaded.",
                         "modprobe nvidia || (apt-get install nvidia-driver && reboot)"});
  else if (driver.branch() < device::kOldestDriverBranch)
    findings->push_back({"GPU driver", Health::kError,
                         "Version " + driver.version + " is loaded; CUDA 13 needs " + wanted + " or later.",
                         "apt-get install --only-upgrade nvidia-driver && reboot"});
  else
    findings->push_back({"GPU driver", Health::kOk, "Version " + driver.version + " is loaded.", ""});
}

void check_device_files(const device::NvidiaDriver& driver, const std::string& user, std::vector<Finding>* findings) {
  if (driver.version.empty()) return;
  if (!driver.missing_files.empty())
    findings->push_back({"GPU device files", Health::kError, "Missing: " + joined(driver.missing_files) + ".",
                         "nvidia-modprobe -u -c 0"});
  else if (!driver.closed_files.empty())
    findings->push_back({"GPU device files", Health::kError,
                         "User " + user + " may not open " + joined(driver.closed_files) + ".",
                         "usermod -aG video " + user + " && systemctl restart postgresql"});
  else
    findings->push_back({"GPU device files", Health::kOk, "User " + user + " may open them.", ""});
}

const std::string kPaths = "pgstrom.storage_check('/path') tells it for a file.";

void check_libraries(const device::NvidiaDriver& driver, const std::string& module, std::vector<Finding>* findings) {
  if (driver.cuda_library.empty())
    findings->push_back({"CUDA library", Health::kError, "libcuda.so.1 was not found.", "apt-get install libcuda1"});
  else
    findings->push_back({"CUDA library", Health::kOk, driver.cuda_library, ""});
  if (access(module.c_str(), R_OK) == 0)
    findings->push_back({"CUDA module", Health::kOk, module, ""});
  else
    findings->push_back(
        {"CUDA module", Health::kNote, "\"" + module + "\" is not installed; the CPU device runs the queries.", ""});
  if (driver.nvidia_fs_version.empty())
    findings->push_back({"GPUDirect Storage", Health::kNote, "The kernel module nvidia-fs is not loaded. " + kPaths,
                         "apt-get install nvidia-fs-dkms && modprobe nvidia-fs"});
  else if (driver.cufile_library.empty())
    findings->push_back(
        {"GPUDirect Storage", Health::kNote, "libcufile.so.0 was not found. " + kPaths, "apt-get install libcufile0"});
  else
    findings->push_back({"GPUDirect Storage", Health::kOk,
                         "nvidia-fs " + driver.nvidia_fs_version + ", " + driver.cufile_library + ". " + kPaths, ""});
}

}  // namespace

std::string size_text(uint64_t bytes) {
  if (bytes >= uint64_t{10} << 30) return std::to_string(bytes >> 30) + "GB";
  if (bytes >= uint64_t{1} << 20) return std::to_string(bytes >> 20) + "MB";
  return std::to_string(bytes >> 10) + "kB";
}

void check_processor(std::vector<Finding>* findings) {
  const Isa isa = engine::exec::best_isa();
  const bool is_fast = isa >= Isa::kV3;
  findings->push_back({"processor", is_fast ? Health::kOk : Health::kNote,
                       std::string("The engine uses ") + engine::exec::isa_name(isa) + " instructions" +
                           (is_fast ? "." : "; AVX2 or AVX-512 would be faster."),
                       ""});
}

namespace {

constexpr uint64_t kUsualPartOfMachine = 8;

// The cache's limit with its origin, and the memory it has taken.
std::string memory_text(const CacheState& cache) {
  std::string text = "It may take " + size_text(cache.limit) + " of shared memory";
  if (cache.is_usual)
    text += std::string(", by default an eighth of ") + (cache.in_cgroup ? "the cgroup's " : "the machine's ") +
            size_text(cache.machine);
  if (cache.taken > 0) text += ", and has taken " + size_text(cache.taken);
  return text;
}

}  // namespace

// Containers often have little POSIX shared memory.
void check_shared_memory(const CacheState& cache, SharedMemory memory, std::vector<Finding>* findings) {
  constexpr uint64_t kMostOfMachine = 2;  // half of the memory may be advised
  const auto found = [findings](Health health, const std::string& detail, const std::string& fix) {
    findings->push_back({"column cache", health, detail, fix});
  };
  if (cache.limit == 0)
    return found(Health::kNote, "It is switched off.",
                 "ALTER SYSTEM RESET pg_strom.column_cache_memory; SELECT pg_reload_conf();");
  if (memory == SharedMemory::kFiles)
    return found(Health::kWarning, "Nothing is cached, because dynamic_shared_memory_type is mmap, which is files.",
                 "ALTER SYSTEM SET dynamic_shared_memory_type = 'posix';   -- and restart the server");
  const std::string text = memory_text(cache);
  struct statvfs facts;
  uint64_t size = 0;
  if (memory == SharedMemory::kPosix && statvfs("/dev/shm", &facts) == 0)
    size = static_cast<uint64_t>(facts.f_blocks) * facts.f_frsize;
  const uint64_t wanted =
      std::max(cache.limit, cache.is_usual ? cache.machine / kUsualPartOfMachine : 0) + cache.lacking;
  if (size != 0 && size / 4 * 3 < wanted)
    return found(Health::kWarning, text + ", and /dev/shm has " + size_text(size) + ".",
                 "mount -o remount,size=" + std::to_string((wanted >> 20) / 3 * 4 + 64) + "M /dev/shm");
  if (cache.lacking == 0) return found(Health::kOk, text + ".", "");
  const std::string lack = text + ". The last scans found no room for " + size_text(cache.lacking) + " of columns";
  if (wanted > cache.machine / kMostOfMachine)
    return found(Health::kNote, lack + ", more than the machine can spare.", "");
  // Segments of the cache are not filled completely.
  constexpr uint64_t kPartOfEnds = 8, kSmallEnds = uint64_t{8} << 20;
  found(Health::kNote, lack + ".",
        "ALTER SYSTEM SET pg_strom.column_cache_memory = '" + size_text(wanted + wanted / kPartOfEnds + kSmallEnds) +
            "'; SELECT pg_reload_conf();");
}

void check_limits(std::vector<Finding>* findings) {
  constexpr rlim_t kFewDescriptors = 1024;
  constexpr long kFewMappings = 65530;  // Linux's default; up to 65536 Arrow files are mapped
  rlimit descriptors;
  if (getrlimit(RLIMIT_NOFILE, &descriptors) == 0) {
    const bool is_few = descriptors.rlim_cur < kFewDescriptors;
    findings->push_back({"open files", is_few ? Health::kWarning : Health::kOk,
                         "A process may have " +
                             (descriptors.rlim_cur == RLIM_INFINITY ? std::string("any number of")
                                                                    : std::to_string(descriptors.rlim_cur)) +
                             " files open.",
                         is_few ? "systemctl edit postgresql@.service   # [Service] LimitNOFILE=65536" : ""});
  }
  long mappings = 0;
  if (std::ifstream("/proc/sys/vm/max_map_count") >> mappings) {
    const bool is_few = mappings < kFewMappings;
    findings->push_back({"memory maps", is_few ? Health::kWarning : Health::kOk,
                         "A process may map " + std::to_string(mappings) + " pieces of memory and files.",
                         is_few ? "sysctl -w vm.max_map_count=" + std::to_string(kFewMappings) : ""});
  }
}

void check_gpu(const device::NvidiaDriver& driver, const std::string& user, const std::string& module,
               std::vector<Finding>* findings) {
  if (driver.gpus.empty()) {
    findings->push_back({"GPU", Health::kNote, "No NVIDIA GPU was found; the CPU device runs the queries.", ""});
    return;
  }
  std::vector<std::string> gpus;
  gpus.reserve(driver.gpus.size());
  for (const device::NvidiaGpu& gpu : driver.gpus) gpus.push_back(describe(gpu));
  findings->push_back({"GPU", Health::kOk, "Found: " + joined(gpus) + ".", ""});
  check_driver(driver, findings);
  check_device_files(driver, user, findings);
  check_libraries(driver, module, findings);
}

void check_service(const ServiceState& service, const std::string& preload_fix, std::vector<Finding>* findings) {
  if (!service.device.empty())
    findings->push_back({"GPU service", Health::kOk, "It runs queries on " + service.device + ".", ""});
  else if (service.is_wanted && !service.is_preloaded)
    findings->push_back(
        {"GPU service", Health::kWarning, "It is started only where the extension is preloaded.", preload_fix});
  else if (service.is_wanted)
    findings->push_back({"GPU service", Health::kError, "It does not run: " + service.why_not + ".",
                         "SELECT pg_current_logfile();   -- the server's log says why it ends"});
}

}  // namespace strom::pg::sqlfn
