// What pgstrom.doctor() and pgstrom.storage_check() find: one row for each thing that decides whether, and how well,
// the engine works here. Used by sqlfn/doctor.cpp and sqlfn/storage_check.cpp; the checks that know nothing of
// PostgreSQL are findings_machine.cpp and findings_storage.cpp.
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
  std::string fix;  // a command, empty when there is nothing to mend
};

/// Bytes as PostgreSQL's settings have them, rounded down: "128MB".
std::string size_text(uint64_t bytes);

void check_processor(std::vector<Finding>* findings);
/// Where the server's dynamic shared memory comes from; in files nothing is cached.
enum class SharedMemory { kPosix, kSystemV, kFiles };
/// The column cache, in bytes.
struct CacheState {
  uint64_t limit = 0;     // that it may take
  bool is_usual = false;  // nobody has set it: a part of the machine's memory
  uint64_t taken = 0;     // so far
  uint64_t lacking = 0;   // that the tables' last scans found no room for
  uint64_t machine = 0;   // memory of the machine, or of the server's cgroup
  bool in_cgroup = false;
};
void check_shared_memory(const CacheState& cache, SharedMemory memory, std::vector<Finding>* findings);
void check_limits(std::vector<Finding>* findings);
/// findings_tables.cpp: of this database. Throws PostgresError.
void check_tables(std::vector<Finding>* findings);
/// `user`: whom the server runs as; `module`: path of the CUDA module of this installation.
void check_gpu(const device::NvidiaDriver& driver, const std::string& user, const std::string& module,
               std::vector<Finding>* findings);

/// The GPU service as a session finds it.
struct ServiceState {
  std::string device;         // what it runs on; empty: it could not be reached
  std::string why_not;        // then
  bool is_preloaded = false;  // the extension, so that the server starts a service where it can
  bool is_wanted = false;     // there are a GPU and a module
};
void check_service(const ServiceState& service, const std::string& preload_fix, std::vector<Finding>* findings);

/// A file, and how it can be read. Reasons are empty where a thing works.
struct StorageFacts {
  device::StoragePlace place;
  device::NvidiaDriver driver;
  std::string file;              // that was looked at; empty: a folder without one
  uint64_t size = 0;             // in bytes
  bool is_resident = false;      // all of it is in the page cache, as far as the kernel tells
  std::string no_direct_io;      // why not
  std::string no_io_uring;       // why a process of this server cannot use it
  std::string io_uring_setting;  // kernel.io_uring_disabled; empty: the kernel has none
  bool is_enabled = true;        // pg_strom.gpudirect_enabled
  enum class Way { kSession, kCuFile, kIoUring, kPread } way = Way::kSession;
  std::string no_service;             // why the GPU service did not answer, or does not take the file
  std::string cufile, no_better_way;  // what the service says of cuFile, and of a better way
};
std::vector<Finding> check_storage(const StorageFacts& facts);

}  // namespace strom::pg::sqlfn
