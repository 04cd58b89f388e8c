#include "pg/store/worker.hpp"

#include <setjmp.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "pg/boundary/background_worker.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/store/attach_server.hpp"
#include "pg/store/change.hpp"
#include "pg/store/checkpoint.hpp"
#include "pg/store/control.hpp"
#include "pg/store/failures.hpp"
#include "pg/store/freeze.hpp"
#include "pg/store/gpu_copies.hpp"
#include "pg/store/memory_file.hpp"
#include "pg/store/published.hpp"
#include "pg/store/readers.hpp"
#include "pg/store/recovery_worker.hpp"
#include "pg/store/redo.hpp"
#include "pg/store/rights_worker.hpp"
#include "pg/store/server_headers.hpp"

extern "C" PGDLLEXPORT void strom_store_worker_main(Datum stays);

namespace strom::pg::store {

namespace {

constexpr int kLookMs = 200;        // like wal_writer_delay
constexpr int kLooksForTables = 5;  // rounds between two searches for tables: once a second
constexpr int kLooksForPages = 25;  // rounds between two searches for pages of versions at rest: five seconds
constexpr int kIdleLooks = 300;     // rounds without tables before the worker ends: a minute
constexpr uint64_t kOldXids = 50'000'000;
constexpr uint64_t kOldPart = 4;  // of autovacuum_freeze_max_age, if that is less

std::map<std::string, std::unique_ptr<Table>>& tables() {
  static auto* map = new std::map<std::string, std::unique_ptr<Table>>();
  return *map;
}

TimestampTz now() { return GetCurrentTimestamp(); }

/// Logs the exception that is being handled.
void log_exception(const char* what, const char* table) {
  log_failure(std::string("the memory store's worker could not ") + what + " store table \"" + table + "\"");
}

/// Finds tables that have memory, and forgets those that are gone. Throws.
void look_for_tables() {
  auto& known = tables();
  for (auto at = known.begin(); at != known.end();) {
    const bool is_gone = at->second->shared->state != static_cast<uint32_t>(MemoryState::kReady);
    if (is_gone) unmap_memory(at->second.get());
    at = is_gone ? known.erase(at) : std::next(at);
  }
  for (const std::string& path : memory_of_cluster()) {
    if (known.contains(path)) continue;
    auto table = std::make_unique<Table>();
    // Other tables are served even if the files of one are gone. Its next look may find them.
    static auto* failed = new std::set<std::string>();
    try {
      if (attach_without_catalogs(table.get(), path)) known.emplace(path, std::move(table));
      failed->erase(path);
    } catch (const std::exception&) {
      if (failed->insert(path).second) log_exception("open", table->name);
    }
  }
}

/// Forgets tables of dropped databases; no event trigger reports these. Throws.
void forget_dropped_databases() {
  for (const std::string& path : memory_of_cluster()) {
    const Oid database = database_of_memory(path);
    const bool is_there = boundary::guard([database] { return SearchSysCacheExists1(DATABASEOID, database); });
    if (is_there) continue;
    const auto found = tables().find(path);
    if (found != tables().end()) {
      unmap_memory(found->second.get());
      tables().erase(found);
    }
    remove_memory(path);
  }
}

/// Frees the pages of versions that nobody has changed since the last call. May ereport.
void free_pages(Table* table) {
  const TransactionId rest = table->rest, next = XidFromFullTransactionId(ReadNextFullTransactionId());
  table->rest = next;
  if (!TransactionIdIsNormal(rest) || !has_pages_at_rest(table, rest, Freezes::kMost)) return;
  StartTransactionCommand();
  PushActiveSnapshot(GetTransactionSnapshot());
  freeze(table, nullptr, rest, Freezes::kMost);
  PopActiveSnapshot();
  CommitTransactionCommand();
}

/// The age at which the server may soon forget a transaction id.
uint64_t old_age() { return std::min(kOldXids, static_cast<uint64_t>(autovacuum_freeze_max_age) / kOldPart); }

/// Shows clients that the server lives, and writes what sessions have left in the memory for the log. May ereport.
void keep_up(Table* table) {
  if (Region* region = region_of(table); region != nullptr) region->writer.beat(now_us());
  const LogState& state = table->shared->log;
  const uint64_t appended = __atomic_load_n(&state.appended, __ATOMIC_ACQUIRE);
  if (appended > __atomic_load_n(&state.durable, __ATOMIC_ACQUIRE) && state.failed == 0) flush_redo(table, appended);
}

/// May ereport.
void write_base_file(Table* table, bool freezes_all) {
  StartTransactionCommand();
  PushActiveSnapshot(GetTransactionSnapshot());
  const uint64_t next = U64FromFullTransactionId(ReadNextFullTransactionId());
  if (freezes_all) sweep(table, nullptr);
  if (try_checkpoint(table) && freezes_all) table->shared->oldest_xid = next;
  PopActiveSnapshot();
  CommitTransactionCommand();
}

/// May ereport.
void serve(Table* table) {
  keep_up(table);
  const bool is_long = free_in_ring(table) < table->redo.ring_bytes() / 2;
  const uint64_t next = U64FromFullTransactionId(ReadNextFullTransactionId());
  // Transaction ids that the server may soon forget must be neither in the memory nor in the files.
  const bool is_old = next - table->shared->oldest_xid > old_age();
  constexpr int kPauseMs = 5000;  // after an error
  const bool may_try = table->failed_at == 0 || TimestampDifferenceExceeds(table->failed_at, now(), kPauseMs);
  if (!may_try || !(is_long || is_old)) return;
  write_base_file(table, is_old);
  table->failed_at = table->told_at = 0;
}

/// Calls `work`, which may ereport, for a table. An error, such as that of a full disk, is written to the server's log
/// once a minute, and the other tables are served.
void run_for(Table* table, void (*work)(Table*)) {
  try {
    boundary::guard([=] { work(table); });
  } catch (const std::exception&) {
    constexpr int kQuietMs = 60'000;
    table->failed_at = now();
    const bool tells = table->told_at == 0 || TimestampDifferenceExceeds(table->told_at, table->failed_at, kQuietMs);
    if (tells) {
      table->told_at = table->failed_at;
      log_exception("write the files of", table->name);
    }
    abandon_transaction();
  }
}

/// What cannot wait until a base file is written: clients would take the server for silent, and changes of tables with
/// `durability = async` would stay in the memory. Throws.
void serve_while_writing() {
  static TimestampTz last = 0;
  if (!TimestampDifferenceExceeds(last, now(), kLookMs)) return;
  last = now();
  for (auto& [path, known] : tables()) {
    Table* table = known.get();
    if (table->shared->state != static_cast<uint32_t>(MemoryState::kReady)) continue;
    try {
      boundary::guard([table] { keep_up(table); });
    } catch (const std::exception&) {
      // The table's next turn reports it. Whoever writes a base file holds no lock of this kind now.
      boundary::guard([] { LWLockReleaseAll(); });
    }
  }
  serve_attach();
}

/// The databases of tables that have lost their region, when it is time to make it. Each attempt takes the table from
/// everybody, perhaps in vain. So the pauses between them grow.
std::set<Oid> databases_without_region() {
  constexpr int kFirstPauseMs = 10'000, kLongestPauseMs = 320'000;
  static int pause_ms = kFirstPauseMs;
  static TimestampTz last_try = 0;
  std::set<Oid> databases;
  for (const auto& [path, table] : tables())
    if (lacks_region(table.get())) databases.insert(database_of_memory(path));
  if (databases.empty()) pause_ms = kFirstPauseMs;
  if (databases.empty() || last_try == 0) last_try = now();
  if (!TimestampDifferenceExceeds(last_try, now(), pause_ms)) return {};
  last_try = now();
  pause_ms = std::min(2 * pause_ms, kLongestPauseMs);
  return databases;
}

/// The databases of tables that clients may have mapped. Throws.
std::set<Oid> databases_with_readers() {
  std::set<Oid> databases;
  for (const auto& [path, table] : tables())
    if (boundary::guard([table = table.get()] { return has_readers(table); }))
      databases.insert(database_of_memory(path));
  return databases;
}

/// Has the readers of all tables looked at after a change of roles and from time to time, and lost regions made again.
/// Throws.
void serve_rights() {
  std::set<Oid> changed = databases_without_region(), routine;
  const bool is_routine = is_time_for_routine(), have_changed = have_roles_changed();
  if (is_routine || have_changed) (have_changed ? changed : routine).merge(databases_with_readers());
  for (const Oid database : changed)
    boundary::guard([database] { start_rights_worker(database, RightsLook::kChanged); });
  for (const Oid database : routine)
    if (!changed.contains(database))
      boundary::guard([database] { start_rights_worker(database, RightsLook::kRoutine); });
}

/// Has copies on GPUs brought up to date, where it is time. Throws.
void serve_gpu_copies() {
  std::set<Oid> databases;
  for (const auto& [path, table] : tables()) {
    const Oid database = database_of_memory(path);
    // A process that runs is not started again, so its tables' marks stay as they are.
    if (!boundary::guard([database] { return is_renewing(database); }) && begins_renewal(table.get()))
      databases.insert(database);
  }
  for (const Oid database : databases) boundary::guard([database] { start_renewal_worker(database); });
}

void serve_all() {
  static int looks = 0;
  if (looks++ % kLooksForTables == 0) {
    boundary::entry([] { look_for_tables(); });
    StartTransactionCommand();
    boundary::entry([] { forget_dropped_databases(); });
    CommitTransactionCommand();
    boundary::entry([] { serve_rights(); });
    boundary::entry([] { serve_recovery(); });
    boundary::entry([] { serve_gpu_copies(); });
  }
  static int pauses = 0;
  const bool is_time_for_pages = pauses++ % kLooksForPages == 0;
  for (auto& [path, table] : tables()) {
    CHECK_FOR_INTERRUPTS();
    if (table->shared->state != static_cast<uint32_t>(MemoryState::kReady)) continue;
    run_for(table.get(), serve);
    if (is_time_for_pages) run_for(table.get(), free_pages);
  }
}

/// True if the server is going down, according to its file, and not just this process.
bool is_server_stopping() {
  constexpr int kStatusLine = 8;
  std::ifstream file("postmaster.pid");
  std::string line;
  for (int i = 0; i < kStatusLine; ++i)
    if (!std::getline(file, line)) return false;
  return line.starts_with("stopping");
}

/// The number of sessions in the databases of these tables.
int sessions_of(const std::vector<std::string>& paths) {
  std::set<Oid> databases;
  for (const std::string& path : paths) databases.insert(database_of_memory(path));
  int count = 0;
  for (const Oid database : databases) count += boundary::guard([database] { return CountDBBackends(database); });
  return count;
}

/// False: there are sessions still, or the server is not stopping. Throws.
bool wait_for_last_session() {
  constexpr int kPatience = 500;
  constexpr long kPauseUs = 10000;
  for (int i = 0; i < kPatience && is_server_stopping(); ++i) {
    if (sessions_of(memory_of_cluster()) == 0) return true;
    pg_usleep(kPauseUs);
  }
  return false;
}

/// When the last session has gone, nobody needs the memory. The next run removes what this one leaves behind.
void remove_memory_at_stop() {
  if (!wait_for_last_session()) return;
  for (const std::string& path : memory_of_cluster()) remove_memory(path);
}

/// Writes the rows of all tables to their base files. A log of the last run, and a base file that a large transaction
/// wrote before it committed, would name transactions that the server may have forgotten when somebody opens the table.
/// Throws.
void write_base_files_at_stop() {
  if (!is_server_stopping()) return;
  wait_for_last_session();
  look_for_tables();
  for (auto& [path, known] : tables()) {
    Table* table = known.get();
    const LogState& state = table->shared->log;
    const bool has_redo =
        __atomic_load_n(&state.appended, __ATOMIC_ACQUIRE) != __atomic_load_n(&state.base, __ATOMIC_ACQUIRE);
    if (!has_redo && __atomic_load_n(&state.has_ids, __ATOMIC_ACQUIRE) == 0) continue;
    try {
      boundary::guard([table] { write_base_file(table, false); });
    } catch (const std::exception&) {
      // The files are as they were, and the others' turn comes.
      log_exception("write the base file of", table->name);
      abandon_transaction();
    }
  }
}

/// Makes sessions respect this process's snapshots. They ignore those of a process that is connected to no database,
/// unless it says otherwise. They would then free and reuse rows that a checkpoint is about to write.
void keep_what_snapshots_see() {
  LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
  MyProc->statusFlags |= PROC_AFFECTS_ALL_HORIZONS;
  ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
  LWLockRelease(ProcArrayLock);
}

void leave(int, Datum) {
  control()->socket[0] = '\0';
  close_attach_socket();
  control()->worker = 0;
}

bool take_place() {
  Control* shared = boundary::entry([] { return control(); });
  int before = 0;
  if (!__atomic_compare_exchange_n(&shared->worker, &before, MyProcPid, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return false;
  before_shmem_exit(leave, Datum{0});
  boundary::entry([] { open_attach_socket(); });
  return true;
}

BackgroundWorker described_worker(bool stays) {
  BackgroundWorker worker =
      boundary::worker_of("strom_store_worker_main", "pg_strom memory store", BoolGetDatum(stays));
  constexpr int kRestartSeconds = 5;
  if (stays) worker.bgw_restart_time = kRestartSeconds;
  return worker;
}

/// Runs until the server stops; without `stays`, only until there have been no tables for a while. May ereport.
void run(bool stays) {
  int idle = 0;
  TimestampTz last_look = 0;
  while (!ShutdownRequestPending) {
    const TimestampTz now = GetCurrentTimestamp();
    if (TimestampDifferenceExceeds(last_look, now, kLookMs)) {
      last_look = now;
      serve_all();
      idle = tables().empty() ? idle + 1 : 0;
      if (!stays && idle > kIdleLooks) return;
    }
    boundary::entry([] { serve_attach(); });
    const int socket = attach_descriptor();
    const uint32 events = WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH;
    WaitLatchOrSocket(MyLatch, socket >= 0 ? events | WL_SOCKET_READABLE : events,
                      socket >= 0 ? socket : PGINVALID_SOCKET, kLookMs, PG_WAIT_EXTENSION);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
    if (ConfigReloadPending) {
      ConfigReloadPending = false;
      ProcessConfigFile(PGC_SIGHUP);
    }
  }
  serve_all();
  boundary::entry([] { write_base_files_at_stop(); });
}

/// run(), continued after errors.
void run_through_errors(bool stays) {
  sigjmp_buf on_error;
  if (sigsetjmp(on_error, 1) != 0) {
    constexpr long kPauseUs = 1'000'000;
    HOLD_INTERRUPTS();
    error_context_stack = nullptr;
    EmitErrorReport();
    AbortCurrentTransaction();
    LWLockReleaseAll();
    MemoryContextSwitchTo(TopMemoryContext);
    FlushErrorState();
    RESUME_INTERRUPTS();
    if (ShutdownRequestPending) return;
    pg_usleep(kPauseUs);
  }
  PG_exception_stack = &on_error;
  run(stays);
}

}  // namespace

bool ensure_worker() {
  const Control* shared = boundary::entry([] { return control(); });
  if (__atomic_load_n(&shared->worker, __ATOMIC_ACQUIRE) != 0) return true;
  static TimestampTz last_try = 0;
  constexpr int kPauseMs = 1000;
  const TimestampTz now = GetCurrentTimestamp();
  if (last_try != 0 && !TimestampDifferenceExceeds(last_try, now, kPauseMs)) return false;
  last_try = now;
  BackgroundWorker worker = described_worker(false);
  return RegisterDynamicBackgroundWorker(&worker, nullptr);
}

void register_worker() {
  if (!process_shared_preload_libraries_in_progress) return;
  BackgroundWorker worker = described_worker(true);
  RegisterBackgroundWorker(&worker);
}

}  // namespace strom::pg::store

/// The entry point of the process.
void strom_store_worker_main(Datum stays) {
  pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
  pqsignal(SIGHUP, SignalHandlerForConfigReload);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnection(nullptr, nullptr, 0);
  if (!strom::pg::store::take_place()) proc_exit(0);
  strom::pg::store::keep_what_snapshots_see();
  strom::pg::store::watch_roles();
  strom::pg::store::while_writing = strom::pg::store::serve_while_writing;
  strom::pg::store::run_through_errors(DatumGetBool(stays));
  strom::pg::boundary::entry([] { strom::pg::store::remove_memory_at_stop(); });
  // The server restarts the worker unless its exit code is 0.
  proc_exit(DatumGetBool(stays) && !strom::pg::store::is_server_stopping() ? 1 : 0);
}
