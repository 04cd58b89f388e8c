#include "pg/worker/gpu_service.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "pg/boundary/background_worker.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/guc/guc.hpp"
#include "pg/gpu/service_path.hpp"

extern "C" PGDLLEXPORT void strom_gpu_service_main(Datum);

namespace strom::pg::worker {
namespace {

constexpr int kNoDeviceStatus = 3;  // exit status of a service that finds no device
constexpr long kLongestPauseMs = 5000, kNoDevicePauseMs = 60000, kLookMs = 1000;
constexpr long kSettledMs = 30000;  // a service that ran this long is restarted at once
constexpr char kVisibleDevices[] = "CUDA_VISIBLE_DEVICES=";
constexpr int kEndLooks = 50;  // of 100 ms, after the service was told to end

/// The service's process, and the pipe: the service ends when the pipe is closed.
struct Service {
  pid_t process = 0;
  int life = -1;
};

/// Starts the service. Returns 0, or the error number of what failed.
int start(Service* service) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return errno;
  const std::string program = gpu::service_program(), socket = gpu::service_socket(), module = gpu::device_module();
  const std::string workers = std::to_string(guc::pg_strom::max_async_tasks), life = std::to_string(ends[0]);
  const std::string calibration = gpu::calibration_file(), limit = std::to_string(guc::pg_strom::gpu_launch_timeout);
  const std::string cache = std::to_string(guc::pg_strom::gpu_cache_percent);
  const char* storage = GetConfigOption("pg_strom.gpudirect_driver", false, false);
  std::vector<const char*> arguments = {
      program.c_str(),     "--socket",        socket.c_str(), "--module",          module.c_str(), "--workers",
      workers.c_str(),     "--cache-percent", cache.c_str(),  "--life-descriptor", life.c_str(),   "--calibration",
      calibration.c_str(), "--launch-limit",  limit.c_str(),  "--storage",         storage,        nullptr};
  const std::string visible =
      std::string(kVisibleDevices) +
      (guc::pg_strom::cuda_visible_devices == nullptr ? "" : guc::pg_strom::cuda_visible_devices);
  std::vector<char*> environment;
  const bool chooses = visible.size() > sizeof kVisibleDevices - 1;
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!chooses || strncmp(*variable, kVisibleDevices, sizeof kVisibleDevices - 1) != 0)
      environment.push_back(*variable);
  if (chooses) environment.push_back(const_cast<char*>(visible.c_str()));
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[0], ends[0]);  // removes its close-on-exec flag
  posix_spawn_file_actions_addclosefrom_np(&actions, ends[0] + 1);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawn(&service->process, program.c_str(), &actions, &attributes,
                                const_cast<char* const*>(arguments.data()), environment.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[0]);
  if (error != 0) close(ends[1]);
  service->life = error == 0 ? ends[1] : -1;
  return error;
}

/// True when the process has ended. It is then removed from `service`.
bool has_ended(Service* service, int* status) {
  const pid_t ended = waitpid(service->process, status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return false;
  close(service->life);
  *service = {};
  return true;
}

/// Ends the service by closing the pipe, and by a signal if that does not help.
void end(Service* service) {
  if (service->process == 0) return;
  close(service->life);
  service->life = -1;
  int status;
  for (int i = 0; i < kEndLooks; ++i) {
    if (waitpid(service->process, &status, WNOHANG) != 0) return;
    pg_usleep(100000);
  }
  kill(service->process, SIGKILL);
  waitpid(service->process, &status, 0);
}

void wait(long milliseconds) {
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, milliseconds, PG_WAIT_EXTENSION);
  ResetLatch(MyLatch);
  if (ConfigReloadPending) {
    ConfigReloadPending = false;
    ProcessConfigFile(PGC_SIGHUP);
  }
}

// May ereport, so it holds no objects with destructors.
void report_end(int status, long pause_ms) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoDeviceStatus)
    ereport(WARNING, (errcode(ERRCODE_SYSTEM_ERROR), errmsg("GPU service found no GPU that it can use"),
                      errdetail("It has said above why. The CPU device runs the queries."),
                      errhint("SELECT * FROM pgstrom.doctor() tells what to mend. It is tried again every %ld seconds.",
                              pause_ms / 1000)));
  else if (WIFEXITED(status))
    ereport(LOG, (errmsg("GPU service ended with exit status %d, and is started again", WEXITSTATUS(status))));
  else
    ereport(LOG, (errmsg("GPU service was terminated by signal %d, and is started again", WTERMSIG(status))));
}

long milliseconds_since(TimestampTz begin) { return TimestampDifferenceMilliseconds(begin, GetCurrentTimestamp()); }

/// The pause before a restart in milliseconds: a minute if the service found no device; 0 if it had run long enough;
/// else 1 s, 2 s, 4 s and then 5 s. The caller skips the pause of 1 s.
long next_pause(long before_ms, TimestampTz started, int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoDeviceStatus) return kNoDevicePauseMs;
  if (milliseconds_since(started) > kSettledMs) return 0;
  return before_ms == 0 ? 1000 : std::min(kLongestPauseMs, before_ms * 2);
}

void keep_running() {
  Service service;
  long pause_ms = 0, next_ms = 0;
  TimestampTz started = 0;
  while (!ShutdownRequestPending) {
    int status = 0;
    if (service.process == 0) {
      if (pause_ms > 0 && milliseconds_since(started) < pause_ms) {
        wait(std::min(kLookMs, pause_ms));
        continue;
      }
      started = GetCurrentTimestamp();
      if (const int error = start(&service); error != 0) {
        pause_ms = kNoDevicePauseMs;
        ereport(WARNING, (errcode(ERRCODE_SYSTEM_ERROR), errmsg("could not start the GPU service: %s", strerror(error)),
                          errhint("The CPU device runs the queries. It is tried again every minute.")));
        continue;
      }
    }
    wait(kLookMs);
    if (!has_ended(&service, &status)) continue;
    if (ShutdownRequestPending) return;
    // The first restart is immediate: somebody has probably killed the service on purpose.
    next_ms = next_pause(next_ms, started, status);
    pause_ms = next_ms == 1000 ? 0 : next_ms;
    report_end(status, pause_ms);
    started = GetCurrentTimestamp();
  }
  end(&service);
}

void wake_up(SIGNAL_ARGS) {
  const int saved = errno;
  SetLatch(MyLatch);
  errno = saved;
}

}  // namespace

void register_gpu_service() {
  if (!process_shared_preload_libraries_in_progress) return;
  try {
    if (!gpu::wants_service()) return;
  } catch (const std::exception&) {
    return;
  }
  BackgroundWorker worker = boundary::worker_of("strom_gpu_service_main", "pg_strom GPU service");
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
  worker.bgw_start_time = BgWorkerStart_PostmasterStart;
  worker.bgw_restart_time = 1;
  RegisterBackgroundWorker(&worker);
}

}  // namespace strom::pg::worker

/// The entry point of the process.
void strom_gpu_service_main(Datum) {
  pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  pqsignal(SIGCHLD, strom::pg::worker::wake_up);
  BackgroundWorkerUnblockSignals();
  strom::pg::boundary::entry([] {
    strom::pg::worker::keep_running();
    return Datum{0};
  });
  proc_exit(0);
}
