// What pgstrom.doctor() finds: one row for each thing that decides whether, and how well, the engine works here. Used
// by sqlfn/doctor.cpp; the checks of machine and GPU, which know nothing of PostgreSQL, are findings_machine.cpp.
#pragma once

#include <string>
#include <vector>

#include "device/nvidia_driver.hpp"

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
/// `cache_limit`: bytes that the column cache may take; `is_posix`: of POSIX shared memory.
void check_shared_memory(uint64_t cache_limit, bool is_posix, std::vector<Finding>* findings);
void check_limits(std::vector<Finding>* findings);
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

}  // namespace strom::pg::sqlfn
