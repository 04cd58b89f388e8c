// What all background workers of this library have in common.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::boundary {

/// A worker to be registered. It may connect to a database, starts when recovery has finished, and is not started
/// again. `function`: its entry point. `name`: as pg_stat_activity has it.
inline BackgroundWorker worker_of(const char* function, const char* name, Datum argument = Datum{0}) {
  BackgroundWorker worker{};
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
  worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
  worker.bgw_restart_time = BGW_NEVER_RESTART;
  worker.bgw_main_arg = argument;
  strlcpy(worker.bgw_library_name, "pg_strom", sizeof(worker.bgw_library_name));
  strlcpy(worker.bgw_function_name, function, sizeof(worker.bgw_function_name));
  strlcpy(worker.bgw_name, name, sizeof(worker.bgw_name));
  strlcpy(worker.bgw_type, name, sizeof(worker.bgw_type));
  return worker;
}

/// A background worker that this process has started, one at a time.
class StartedWorker {
 public:
  bool is_running() const {
    pid_t process;
    return handle_ != nullptr && GetBackgroundWorkerPid(handle_, &process) != BGWH_STOPPED;
  }
  /// Starts one where none is running. False: the server has no place for it. May ereport.
  bool start(BackgroundWorker worker) {
    if (handle_ != nullptr) pfree(handle_);
    handle_ = nullptr;
    MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);  // keeps the handle
    if (!RegisterDynamicBackgroundWorker(&worker, &handle_)) handle_ = nullptr;
    MemoryContextSwitchTo(before);
    return handle_ != nullptr;
  }

 private:
  BackgroundWorkerHandle* handle_ = nullptr;
};

}  // namespace strom::pg::boundary
