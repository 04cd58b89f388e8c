// The background worker that keeps exports. The first session that makes an export starts it. It ends when nobody has
// needed it for a minute. See service/export_server.hpp.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <string>

#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/exports/keeper.hpp"
#include "service/export_server.hpp"

extern "C" PGDLLEXPORT void strom_export_keeper_main(Datum);

namespace strom::pg::worker {
namespace {

using boundary::throw_if_failed;
using service::Descriptor;

// The longest wait. A signal that arrives just before the wait is noticed after it, and so is the death of the
// postmaster.
constexpr int kLookMs = 500;
constexpr int kIdleLooks = 120;  // rounds: a minute
constexpr int kLockLooks = 50;   // tries, because sessions take the lock for a moment to look for a keeper
constexpr useconds_t kLockPauseUs = 10000;

/// The keeper's file, locked; closed if another keeper holds the lock.
Descriptor locked_file() {
  const std::string path = exports::keeper_file();
  Descriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  if (!file.is_open()) throw_if_failed(base::os_error(errno, "could not open file \"" + path + "\""));
  for (int look = 0; look < kLockLooks; ++look) {
    if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
    usleep(kLockPauseUs);
  }
  return {};
}

void keep_exports() {
  const Descriptor file = locked_file();
  if (!file.is_open()) return;
  // Sessions must not mistake the name of an earlier keeper for this one's.
  if (ftruncate(file.get(), 0) != 0) throw_if_failed(base::os_error(errno, "could not write the keeper's file"));
  const auto server = boundary::value_or_throw(service::ExportServer::open());
  const std::string& name = server->keeper();
  if (pwrite(file.get(), name.data(), name.size(), 0) != static_cast<ssize_t>(name.size()))
    throw_if_failed(base::os_error(errno, "could not write the keeper's file"));
  int idle = 0;
  while (!ShutdownRequestPending) {
    throw_if_failed(server->serve(kLookMs));
    boundary::guard([] {
      WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, 0, PG_WAIT_EXTENSION);
      ResetLatch(MyLatch);
    });
    idle = server->is_idle() ? idle + 1 : 0;
    if (idle > kIdleLooks) return;
  }
}

}  // namespace
}  // namespace strom::pg::worker

/// The entry point of the process.
void strom_export_keeper_main(Datum) {
  pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
  pqsignal(SIGHUP, SIG_IGN);
  BackgroundWorkerUnblockSignals();
  strom::pg::boundary::entry([] {
    strom::pg::worker::keep_exports();
    return Datum{0};
  });
  proc_exit(0);
}
