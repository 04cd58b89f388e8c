#include "pg/store/rights_worker.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "pg/boundary/background_worker.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/store/control.hpp"
#include "pg/store/failures.hpp"
#include "pg/store/published.hpp"
#include "pg/store/readers.hpp"
#include "pg/store/server_headers.hpp"

extern "C" PGDLLEXPORT void strom_store_rights_worker_main(Datum argument);

namespace strom::pg::store {

namespace {

/// True at first: a worker that ended may have missed changes.
bool roles_changed = true;

void note_change(Datum, int, uint32) { roles_changed = true; }

/// VACUUM changes rows of pg_database as well, so nobody is made to wait for this.
bool databases_changed = false;

void note_database(Datum, int, uint32) { databases_changed = true; }

/// Processes that were started for RightsLook::kChanged, of those that Control::rights_done counts when they are done.
uint32_t begun = 0;

/// True if one of these processes has not been done for some time. After an error, such as a deadlock, the next one
/// comes soon. Where errors stay, as for a table whose files are gone, the pauses grow.
bool is_time_to_repeat() {
  constexpr int kFirstPauseMs = 5000, kLongestPauseMs = 320'000;
  static int pause_ms = kFirstPauseMs;
  static TimestampTz since = 0;
  const uint32_t done = __atomic_load_n(&control()->rights_done, __ATOMIC_ACQUIRE);
  const TimestampTz now = GetCurrentTimestamp();
  const bool are_done = static_cast<int32_t>(begun - done) <= 0;
  if (are_done || since == 0) since = now;
  if (are_done) {
    begun = done;
    pause_ms = kFirstPauseMs;
  }
  if (!TimestampDifferenceExceeds(since, now, pause_ms)) return false;
  begun = done;
  since = 0;
  pause_ms = std::min(2 * pause_ms, kLongestPauseMs);
  return true;
}

void note_done() { __atomic_fetch_add(&control()->rights_done, 1, __ATOMIC_ACQ_REL); }

/// The argument of the process.
constexpr int kLookShift = 32;
Datum argument_of(Oid database, RightsLook look) {
  return UInt64GetDatum(database | static_cast<uint64_t>(look) << kLookShift);
}
RightsLook look_of(Datum argument) { return static_cast<RightsLook>(DatumGetUInt64(argument) >> kLookShift); }

}  // namespace

void watch_roles() {
  CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, note_change, Datum{0});
  CacheRegisterSyscacheCallback(AUTHOID, note_change, Datum{0});
  CacheRegisterSyscacheCallback(DATABASEOID, note_database, Datum{0});
}

bool have_roles_changed() {
  const bool changed = is_time_to_repeat() || roles_changed;
  roles_changed = false;
  return changed;
}

bool is_time_for_routine() {
  constexpr int kPauseMs = 30'000;
  static TimestampTz last = GetCurrentTimestamp();
  const TimestampTz now = GetCurrentTimestamp();
  if (!databases_changed && !TimestampDifferenceExceeds(last, now, kPauseMs)) return false;
  databases_changed = false;
  last = now;
  return true;
}

void start_rights_worker(Oid database, RightsLook look) {
  BackgroundWorker worker =
      boundary::worker_of("strom_store_rights_worker_main", "pg_strom rights of readers", argument_of(database, look));
  const bool is_started = RegisterDynamicBackgroundWorker(&worker, nullptr);
  if (look != RightsLook::kChanged) return;
  if (is_started)
    ++begun;
  else
    roles_changed = true;
}

}  // namespace strom::pg::store

/// The entry point of the process.
void strom_store_rights_worker_main(Datum argument) {
  namespace boundary = strom::pg::boundary;
  namespace store = strom::pg::store;
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  const auto oid = static_cast<Oid>(DatumGetUInt64(argument));
  const bool is_routine = store::look_of(argument) == store::RightsLook::kRoutine;
  // A database that has been dropped cannot be connected to.
  if (boundary::entry([oid] { return store::tables_with_memory(oid).empty(); })) {
    if (!is_routine) boundary::entry([] { store::note_done(); });
    proc_exit(0);
  }
  BackgroundWorkerInitializeConnectionByOid(oid, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  // Whoever comes to a table while this process waits for it, waits as well.
  boundary::guard([] { SetConfigOption("lock_timeout", "3s", PGC_SUSET, PGC_S_OVERRIDE); });
  boundary::entry([is_routine] {
    const auto tables = store::tables_with_memory(MyDatabaseId);
    const bool followed = store::run_for_each(tables, is_routine ? store::look_at_rights : store::follow_rights,
                                              "look at the readers of");
    // After an error, the store's worker starts another process later.
    store::run_for_each(tables, store::restore_region, "make the published region again of");
    if (followed && !is_routine) store::note_done();
  });
  proc_exit(0);
}
