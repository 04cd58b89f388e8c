#include "pg/store/rights_worker.hpp"

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

/// The argument of the process.
constexpr int kLookShift = 32;
Datum argument_of(Oid database, RightsLook look) {
  return UInt64GetDatum(database | static_cast<uint64_t>(look) << kLookShift);
}
RightsLook look_of(Datum argument) { return static_cast<RightsLook>(DatumGetUInt64(argument) >> kLookShift); }

/// The tables of this database that have memory. May throw.
std::vector<Oid> tables_of(Oid database) {
  std::vector<Oid> found;
  for (const std::string& path : memory_of_cluster())
    if (database_of_memory(path) == database) found.push_back(relation_of_memory(path));
  return found;
}

}  // namespace

void watch_roles() {
  CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, note_change, Datum{0});
  CacheRegisterSyscacheCallback(AUTHOID, note_change, Datum{0});
  CacheRegisterSyscacheCallback(DATABASEOID, note_database, Datum{0});
}

bool have_roles_changed() {
  const bool changed = roles_changed;
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
  constexpr int kRestartSeconds = 5;  // after errors, such as a deadlock
  const bool must_be_done = look == RightsLook::kChanged;
  if (must_be_done) worker.bgw_restart_time = kRestartSeconds;
  if (!RegisterDynamicBackgroundWorker(&worker, nullptr) && must_be_done) roles_changed = true;
}

}  // namespace strom::pg::store

/// The entry point of the process.
void strom_store_rights_worker_main(Datum argument) {
  namespace boundary = strom::pg::boundary;
  namespace store = strom::pg::store;
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  const auto oid = static_cast<Oid>(DatumGetUInt64(argument));
  // A database that has been dropped cannot be connected to, and the process would be started for ever.
  if (boundary::entry([oid] { return store::tables_of(oid).empty(); })) proc_exit(0);
  BackgroundWorkerInitializeConnectionByOid(oid, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  // Whoever comes to a table while this process waits for it, waits as well.
  boundary::guard([] { SetConfigOption("lock_timeout", "3s", PGC_SUSET, PGC_S_OVERRIDE); });
  const bool is_routine = store::look_of(argument) == store::RightsLook::kRoutine;
  const bool is_done = boundary::entry([is_routine] {
    const auto tables = store::tables_of(MyDatabaseId);
    const bool followed = store::run_for_each(tables, is_routine ? store::look_at_rights : store::follow_rights,
                                              "look at the readers of");
    // After an error, the store's worker starts another process later.
    store::run_for_each(tables, store::restore_region, "make the published region again of");
    return followed;
  });
  // With 1 the server starts the process again, unless it is for routine.
  proc_exit(is_done ? 0 : 1);
}
