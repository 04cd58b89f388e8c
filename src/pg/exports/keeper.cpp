#include "pg/exports/keeper.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "base/os_error.hpp"
#include "pg/boundary/background_worker.hpp"
#include "pg/boundary/boundary.hpp"

namespace strom::pg::exports {
namespace {

using boundary::guard;
using boundary::throw_if_failed;
using service::Descriptor;
using service::ExportClient;

constexpr int kLookMs = 10;
constexpr int kLooks = 1000;  // 10 s
constexpr char kFileName[] = "pg_strom.exports";

std::optional<ExportClient>& connection() {
  static std::optional<ExportClient> client;
  return client;
}

/// The identifier of the running keeper; empty when there is none, or when it is not ready yet.
std::string living_keeper(bool* lives) {
  *lives = false;
  const std::string path = keeper_file();
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return {};
    throw_if_failed(base::os_error(errno, "could not open file \"" + path + "\""));
  }
  if (flock(file.get(), LOCK_SH | LOCK_NB) == 0) return {};  // closing it gives the lock back
  *lives = true;
  char digits[service::kKeeperDigits];
  return read(file.get(), digits, sizeof digits) == sizeof digits ? std::string(digits, sizeof digits) : std::string();
}

/// May ereport.
BackgroundWorkerHandle* start_worker() {
  BackgroundWorker worker = boundary::worker_of("strom_export_keeper_main", "pg_strom keeper of exports");
  worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
  worker.bgw_start_time = BgWorkerStart_ConsistentState;
  BackgroundWorkerHandle* handle = nullptr;
  if (!RegisterDynamicBackgroundWorker(&worker, &handle))
    ereport(ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
             errmsg("no background worker is free for the keeper of exports"), errhint("Raise max_worker_processes.")));
  return handle;
}

void pause() {
  guard([] {
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, kLookMs, PG_WAIT_EXTENSION);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
  });
}

}  // namespace

std::string keeper_file() { return std::string(DataDir) + "/" + kFileName; }

ExportClient* running_keeper() {
  bool lives = false;
  const std::string keeper = living_keeper(&lives);
  std::optional<ExportClient>& client = connection();
  if (keeper.empty()) {
    client.reset();
    return nullptr;
  }
  if (client && client->keeper() == keeper) return &*client;
  client.reset();
  Result<ExportClient> made = ExportClient::connect(keeper);
  if (!made.is_ok()) {
    if (made.status().code() == ErrorCode::kDeviceLost) return nullptr;  // the keeper is just ending
    throw_if_failed(made.status());
  }
  client.emplace(std::move(made).value());
  return &*client;
}

ExportClient& connected_keeper() {
  BackgroundWorkerHandle* handle = nullptr;
  for (int look = 0; look < kLooks; ++look) {
    if (ExportClient* client = running_keeper()) return *client;
    bool lives = false;
    (void)living_keeper(&lives);
    const bool starts = handle != nullptr && guard([handle] {
                          pid_t process;
                          return GetBackgroundWorkerPid(handle, &process) != BGWH_STOPPED;
                        });
    if (!lives && !starts) handle = guard([] { return start_worker(); });
    pause();
  }
  throw boundary::StatusError(
      Status(ErrorCode::kDeviceLost, "the keeper of exports does not start").with_hint("The server's log says why."));
}

}  // namespace strom::pg::exports
