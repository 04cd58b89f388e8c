// The process that brings copies of store tables' columns in the memory of GPUs up to date, once, for the tables of one
// database. The store's worker starts it when a table's gpu_update_interval has passed, or gpu_update_threshold has
// been reached: see pg/store/gpu_copies.hpp.
#include <vector>

#include "engine/device/renewal.hpp"
#include "engine/exec/execution.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/gpu/gpu_session.hpp"
#include "pg/store/control.hpp"
#include "pg/store/failures.hpp"
#include "pg/store/gpu_copies.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/table/store/store_rows.hpp"
#include "pg/table/value_type.hpp"

extern "C" PGDLLEXPORT void strom_store_renewal_worker_main(Datum database);

namespace strom::pg::worker {
namespace {

using engine::device::Renewed;
using table::StoredAs;

constexpr size_t kAllDevices = 1024;

/// The columns that devices keep.
struct Kept {
  std::vector<AttrNumber> attributes;
  engine::plan::Source source;
};

/// May throw.
Kept kept_columns(const store::Table& table) {
  Kept kept;
  for (const store::StoreColumn& column : table.columns) {
    const auto type = table::value_type_of(column.type, column.typmod);
    StoredAs stored;
    if (!type.is_ok() || !table::stored_as(column, type.value().type, &stored)) continue;
    if (stored != StoredAs::kRegisters && stored != StoredAs::kDatums) continue;
    kept.attributes.push_back(column.attnum);
    kept.source.columns.push_back(type.value());
  }
  return kept;
}

void log_renewed(const store::Table& table, const Renewed& renewed, uint64_t from, uint64_t to) {
  ereport(LOG, (errmsg("gstore_fdw: Log applied (nitems=%ld, length=%ld, pos %lu => %lu)", renewed.blocks,
                       renewed.bytes, from, to),
                errdetail("Blocks of rows of the store table \"%s\" were copied to GPUs.", table.name)));
}

/// `position`: the end of the redo log before the active snapshot was taken. May throw.
void renew(const store::Table& table, uint64_t position) {
  const Kept kept = kept_columns(table);
  const table::StoreRows rows(&table, GetActiveSnapshot(), kept.attributes, kept.source.columns,
                              table::Reader::kRenewal);
  Renewed all;
  for (const auto& device : gpu::choose_gpus({}, kAllDevices).devices) {
    const auto renewed = engine::device::renew_columns(
        device.get(), rows, kept.source, engine::exec::default_device_morsel_rows(), [] { return !InterruptPending; });
    boundary::check_for_interrupts();
    boundary::throw_if_failed(renewed.status());
    all.blocks += renewed.value().blocks;
    all.bytes += renewed.value().bytes;
  }
  const uint64_t from = store::end_renewal(&table, position);
  boundary::guard([&] { log_renewed(table, all, from, position); });
}

/// May ereport.
void renew_table(Oid relid) {
  // Whoever has locked the table does not have to wait, nor does this process.
  if (!ConditionalLockRelationOid(relid, AccessShareLock)) return;
  Relation relation = try_relation_open(relid, NoLock);
  if (relation == nullptr) return;
  if (store::is_store_table(relation)) {
    const store::Table* table = store::open_table(relation);
    const uint64_t position = __atomic_load_n(&table->shared->log.appended, __ATOMIC_ACQUIRE);
    PushActiveSnapshot(GetLatestSnapshot());
    boundary::entry([table, position] {
      if (store::has_renewal(table)) renew(*table, position);
    });
    PopActiveSnapshot();
  }
  table_close(relation, NoLock);
}

}  // namespace
}  // namespace strom::pg::worker

/// The entry point of the process.
void strom_store_renewal_worker_main(Datum database) {
  namespace boundary = strom::pg::boundary;
  namespace store = strom::pg::store;
  pqsignal(SIGTERM, die);
  BackgroundWorkerUnblockSignals();
  BackgroundWorkerInitializeConnectionByOid(DatumGetObjectId(database), InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
  // Queries have used a GPU, whatever the settings of this database are.
  boundary::guard([] { SetConfigOption("pg_strom.device", "auto", PGC_SUSET, PGC_S_OVERRIDE); });
  boundary::entry([] {
    store::run_for_each(store::tables_with_memory(MyDatabaseId), strom::pg::worker::renew_table,
                        "bring to GPUs the changes of");
  });
  proc_exit(0);
}
