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

}  // namespace strom::pg::boundary
