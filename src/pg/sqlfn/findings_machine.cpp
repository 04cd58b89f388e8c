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

// Containers often have little POSIX shared memory.
void check_shared_memory(uint64_t cache_limit, SharedMemory memory, std::vector<Finding>* findings) {
  struct statvfs facts;
  if (cache_limit == 0) {
    findings->push_back({"column cache", Health::kNote, "It is switched off.",
                         "ALTER SYSTEM RESET pg_strom.column_cache_memory; SELECT pg_reload_conf();"});
    return;
  }
  if (memory == SharedMemory::kFiles) {
    findings->push_back({"column cache", Health::kWarning,
                         "Nothing is cached, because dynamic_shared_memory_type is mmap, which is files.",
                         "ALTER SYSTEM SET dynamic_shared_memory_type = 'posix';   -- and restart the server"});
    return;
  }
  const std::string limit = "It may take " + size_text(cache_limit) + " of shared memory";
  if (memory != SharedMemory::kPosix || statvfs("/dev/shm", &facts) != 0) {
    findings->push_back({"column cache", Health::kOk, limit + ".", ""});
    return;
  }
  const uint64_t size = static_cast<uint64_t>(facts.f_blocks) * facts.f_frsize;
  if (size != 0 && size < cache_limit)
    findings->push_back({"column cache", Health::kWarning, limit + ", and /dev/shm has " + size_text(size) + ".",
                         "mount -o remount,size=" + std::to_string((cache_limit >> 20) + 64) + "M /dev/shm"});
  else
    findings->push_back({"column cache", Health::kOk, limit + ".", ""});
}

void check_limits(std::vector<Finding>* findings) {
  constexpr rlim_t kFewDescriptors = 1024;
  constexpr long kFewMappings = 65530;  // Linux's default; Arrow files are mapped, up to 65536 of them
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
