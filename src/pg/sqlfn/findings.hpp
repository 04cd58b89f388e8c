// The findings of pgstrom.doctor() and pgstrom.storage_check(): one row for each thing that decides whether, and how
// well, the engine works on this machine. Used by sqlfn/doctor.cpp and sqlfn/storage_check.cpp. findings_machine.cpp
// and findings_storage.cpp have the checks that do not depend on PostgreSQL.
#pragma once

#include <string>
#include <vector>

#include "device/nvidia_driver.hpp"
#include "device/storage_place.hpp"

namespace strom::pg::sqlfn {

enum class Health { kOk, kNote, kWarning, kError };

struct Finding {
  std::string check;
  Health health;
  std::string detail;
  std::string fix;  // a command; empty when there is nothing to fix
};

/// Bytes in the spelling of PostgreSQL's settings, rounded down: "128MB".
std::string size_text(uint64_t bytes);

void check_processor(std::vector<Finding>* findings);
/// The kind of the server's dynamic shared memory. With kFiles nothing is cached.
enum class SharedMemory { kPosix, kSystemV, kFiles };
/// The column cache, in bytes.
struct CacheState {
  uint64_t limit = 0;     // the most that it may take
  bool is_usual = false;  // nobody has set it; it is a part of the machine's memory
  uint64_t taken = 0;     // so far
  uint64_t lacking = 0;   // room that the tables' last scans lacked
  uint64_t machine = 0;   // memory of the machine, or of the server's cgroup
  bool in_cgroup = false;
};
void check_shared_memory(const CacheState& cache, SharedMemory memory, std::vector<Finding>* findings);
void check_limits(std::vector<Finding>* findings);
/// findings_tables.cpp: checks the tables of this database. Throws PostgresError.
void check_tables(std::vector<Finding>* findings);
/// `user`: the server's operating system user. `module`: path of this installation's CUDA module.
void check_gpu(const device::NvidiaDriver& driver, const std::string& user, const std::string& module,
               std::vector<Finding>* findings);

/// The GPU service, as a session sees it.
struct ServiceState {
  std::string device;         // its device; empty: the service could not be reached
  std::string why_not;        // why the service could not be reached
  bool is_preloaded = false;  // the extension is preloaded, so the server starts a service if possible
  bool is_wanted = false;     // there are a GPU and a module
};
void check_service(const ServiceState& service, const std::string& preload_fix, std::vector<Finding>* findings);

/// A file, and the ways in which it can be read. The reasons are empty for ways that work.
struct StorageFacts {
  device::StoragePlace place;
  device::NvidiaDriver driver;
  std::string file;              // the file that was examined; empty: a folder without files
  uint64_t size = 0;             // in bytes
  bool is_resident = false;      // all of it is in the page cache, as far as the kernel reports
  std::string no_direct_io;      // why direct I/O is impossible
  std::string no_io_uring;       // why a process of this server cannot use it
  std::string io_uring_setting;  // kernel.io_uring_disabled; empty: the kernel has none
  bool is_enabled = true;        // pg_strom.gpudirect_enabled
  enum class Way { kSession, kCuFile, kIoUring, kPread } way = Way::kSession;
  std::string no_service;             // why the GPU service did not answer, or refuses the file
  std::string cufile, no_better_way;  // the service's messages about cuFile, and about a better way
};
std::vector<Finding> check_storage(const StorageFacts& facts);

}  // namespace strom::pg::sqlfn
