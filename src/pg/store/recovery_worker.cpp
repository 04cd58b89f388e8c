#include "pg/store/recovery_worker.hpp"

#include <exception>
#include <string>
#include <vector>

#include "pg/boundary/background_worker.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/store/control.hpp"
#include "pg/store/failures.hpp"
#include "pg/store/memory.hpp"
#include "pg/store/server_headers.hpp"
#include "store/log/base_file.hpp"

extern "C" {
#include "catalog/pg_database.h"
PGDLLEXPORT void strom_store_recovery_worker_main(Datum database);
}

namespace strom::pg::store {

namespace {

using boundary::guard;

/// The OIDs of a catalog's rows: `oid_of` returns InvalidOid for those that are not wanted. May ereport.
std::vector<Oid> oids_in(Oid catalog_id, Oid (*oid_of)(const void* row)) {
  std::vector<Oid> found;
  guard([&] {
    Relation catalog = table_open(catalog_id, AccessShareLock);
    SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, nullptr, 0, nullptr);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple); tuple = systable_getnext(scan))
      if (const Oid oid = oid_of(GETSTRUCT(tuple)); OidIsValid(oid)) found.push_back(oid);
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
  });
  return found;
}

/// A table of a template has no files of its own in the copies. May ereport.
std::vector<Oid> databases() {
  guard([] { StartTransactionCommand(); });
  auto found = oids_in(DatabaseRelationId, [](const void* row) {
    const auto* database = static_cast<const FormData_pg_database*>(row);
    return database->datallowconn && !database->datistemplate ? database->oid : InvalidOid;
  });
  guard([] { CommitTransactionCommand(); });
  return found;
}

/// True if a row of a base file names a transaction: a large one wrote the file before it committed.
bool names_transactions(const log::BaseReader& base) {
  bool found = false;
  const Status read = base.read_rows([&found](const log::BaseRow& row, std::span<const rows::Cell>) {
    boundary::check_for_interrupts();
    found = row.xmin != 0 || row.xmax != 0;
    return found ? Status(ErrorCode::kInternal, "enough has been seen") : Status::ok();
  });
  return found;
}

/// True if the table's files name transactions. Files that are damaged, or another table's, are left to whoever uses
/// the table.
bool has_transactions(Oid relid, const Options& options) {
  const auto base = log::BaseReader::open(options.base_file);
  if (!base.is_ok()) return false;
  const log::BaseHeader& header = base.value().header();
  const log::Identity& identity = header.identity;
  if (identity.system_id != GetSystemIdentifier() || identity.database != MyDatabaseId || identity.relation != relid)
    return false;
  const auto redo = log::RedoFile::open(options.redo_log_file, identity);
  if (!redo.is_ok()) return false;
  bool found = false;
  const auto replayed = redo.value().replay(header.position, [&found](const log::RecordHeader&, std::string_view) {
    found = true;
    return Status(ErrorCode::kInternal, "enough has been seen");
  });
  // A file whose log is empty is seldom that of a large transaction, and reading it takes long.
  constexpr uint64_t kOldXids = 10'000'000;
  const uint64_t next = U64FromFullTransactionId(guard([] { return ReadNextFullTransactionId(); }));
  return found || (next > header.next_xid + kOldXids && names_transactions(base.value()));
}

/// Makes the table's memory, if its files name transactions. The store's worker does the rest. May throw.
void open_if_needed(Oid relid) {
  const bool is_store = guard([relid] {
    return get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE && is_store_table(relid) && !has_memory(relid);
  });
  if (!is_store) return;
  const auto options = parse_options(catalog::load_foreign_table(relid, {}).options);
  if (!options.is_ok() || !has_transactions(relid, options.value())) return;
  guard([relid] {
    Relation relation = try_relation_open(relid, AccessShareLock);
    if (relation == nullptr) return;
    open_table(relation);
    table_close(relation, AccessShareLock);
  });
}

/// Throws.
void open_tables() {
  guard([] { StartTransactionCommand(); });
  const auto tables = oids_in(ForeignTableRelationId, [](const void* row) {
    return static_cast<const FormData_pg_foreign_table*>(row)->ftrelid;
  });
  guard([] { CommitTransactionCommand(); });
  const auto open = [](Oid relid) { boundary::entry([relid] { open_if_needed(relid); }); };
  run_for_each(tables, open, "open", " after the server's start");
}

}  // namespace

void serve_recovery() {
  static boundary::StartedWorker worker;
  static std::vector<Oid> left;
  static bool is_known = false;
  Control* shared = control();
  if (shared->has_recovered != 0) return;
  if (!is_known) left = databases();
  is_known = true;
  if (guard([] { return worker.is_running(); })) return;
  if (left.empty()) {
    shared->has_recovered = 1;
    return;
  }
  const Oid database = left.back();
  const bool is_started = guard([database] {
    return worker.start(
        boundary::worker_of("strom_store_recovery_worker_main", "pg_strom recovery", ObjectIdGetDatum(database)));
  });
  if (is_started) left.pop_back();
}

}  // namespace strom::pg::store

/// The entry point of the process.
void strom_store_recovery_worker_main(Datum database) {
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, 0);
  strom::pg::boundary::entry([] { strom::pg::store::open_tables(); });
  proc_exit(0);
}
