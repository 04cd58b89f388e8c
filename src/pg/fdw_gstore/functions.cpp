// SQL functions about store tables, as declared in sql/gstore_fdw.sql. All of them may ereport.
#include <sys/stat.h>

#include "pg/boundary/boundary.hpp"
#include "pg/fdw_gstore/named_table.hpp"
#include "pg/store/change.hpp"
#include "pg/store/check.hpp"
#include "pg/store/checkpoint.hpp"
#include "pg/store/freeze.hpp"
#include "pg/store/server_headers.hpp"

namespace boundary = strom::pg::boundary;
namespace store = strom::pg::store;
using strom::pg::fdw_gstore::open_named_table;
using strom::pg::fdw_gstore::require_owner;

namespace {

Relation open_own_table(Oid relid) {
  Relation relation = open_named_table(relid, AccessShareLock);
  require_owner(relation);
  return relation;
}

void put_info(ReturnSetInfo* result, const store::Table* table) {
  const store::rows::RowsState& rows = table->shared->rows;
  const store::LogState& log = table->shared->log;
  uint64_t ended = 0;
  for (uint64_t chunk = 0; chunk < rows.chunks; ++chunk) ended += table->rows->info(chunk).ended;
  const uint64_t used = table->rows->used_slots() == 0 ? 0 : table->rows->used_slots() - 1;
  constexpr uint64_t kBlock = 512;
  struct stat file{};
  const uint64_t memory = fstat(table->descriptor, &file) == 0 ? static_cast<uint64_t>(file.st_blocks) * kBlock : 0;
  const uint64_t numbers[] = {table->shared->row_count,
                              table->shape.max_rows,
                              used,
                              rows.free_slots,
                              ended,
                              memory,
                              rows.heap_used,
                              rows.heap_free.bytes,
                              log.appended,
                              log.durable,
                              log.base,
                              table->redo.ring_bytes()};
  constexpr int kColumns = 1 + static_cast<int>(std::size(numbers));
  Datum values[kColumns];
  bool nulls[kColumns] = {};
  values[0] = ObjectIdGetDatum(table->relid);
  for (int i = 1; i < kColumns; ++i) values[i] = Int64GetDatum(static_cast<int64_t>(numbers[i - 1]));
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/// Adds a table's row to the result. A table that cannot be opened gets a warning, and the others are shown.
void add_info(ReturnSetInfo* result, Relation relation) {
  const MemoryContext caller = CurrentMemoryContext;
  const ResourceOwner owner = CurrentResourceOwner;
  const char* name = RelationGetRelationName(relation);
  BeginInternalSubTransaction(nullptr);
  MemoryContextSwitchTo(caller);
  PG_TRY();
  {
    put_info(result, store::open_table(relation));
    ReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(caller);
    ErrorData* error = CopyErrorData();
    if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_OPERATOR_INTERVENTION) PG_RE_THROW();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
    MemoryContextSwitchTo(caller);
    CurrentResourceOwner = owner;
    ereport(WARNING, (errcode(error->sqlerrcode), errmsg("store table \"%s\" is left out: %s", name, error->message),
                      error->detail != nullptr ? errdetail("%s", error->detail) : 0,
                      error->hint != nullptr ? errhint("%s", error->hint) : 0));
    FreeErrorData(error);
  }
  PG_END_TRY();
  MemoryContextSwitchTo(caller);
  CurrentResourceOwner = owner;
}

}  // namespace

/// pgstrom.store_checkpoint(regclass)
STROM_SQL_FUNCTION(strom_store_checkpoint) {
  boundary::guard([fcinfo] {
    Relation relation = open_own_table(PG_GETARG_OID(0));
    store::checkpoint(store::open_table(relation), store::OwnRows::kNone, 0);
    table_close(relation, NoLock);
  });
  PG_RETURN_VOID();
}

/// pgstrom.store_compact(regclass) -> slots that were freed
STROM_SQL_FUNCTION(strom_store_compact) {
  const uint64_t freed = boundary::guard([fcinfo] {
    Relation relation = open_own_table(PG_GETARG_OID(0));
    store::Table* table = store::open_table(relation);
    const uint64_t slots = store::sweep(table, relation);
    store::freeze(table, relation, XidFromFullTransactionId(ReadNextFullTransactionId()), store::Freezes::kAll);
    store::checkpoint(table, store::OwnRows::kNone, 0);
    table_close(relation, NoLock);
    return slots;
  });
  return Int64GetDatum(static_cast<int64_t>(freed));
}

/// pgstrom.store_check(regclass) -> rows
STROM_SQL_FUNCTION(strom_store_check) {
  const uint64_t rows = boundary::guard([fcinfo] {
    Relation relation = open_own_table(PG_GETARG_OID(0));
    const uint64_t found = store::check_table(store::open_table(relation));
    table_close(relation, NoLock);
    return found;
  });
  return Int64GetDatum(static_cast<int64_t>(rows));
}

/// pgstrom.store_info() -> a row for each store table of this database
STROM_SQL_FUNCTION(strom_store_info) {
  boundary::guard([fcinfo] {
    InitMaterializedSRF(fcinfo, 0);
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    Relation catalog = table_open(ForeignTableRelationId, AccessShareLock);
    List* relids = NIL;
    SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, nullptr, 0, nullptr);
    for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple); tuple = systable_getnext(scan))
      relids = lappend_oid(relids, reinterpret_cast<Form_pg_foreign_table>(GETSTRUCT(tuple))->ftrelid);
    systable_endscan(scan);
    table_close(catalog, AccessShareLock);
    ListCell* cell;
    foreach (cell, relids) {
      Relation relation = try_relation_open(lfirst_oid(cell), AccessShareLock);
      if (relation == nullptr) continue;
      if (store::is_store_table(relation)) add_info(result, relation);
      relation_close(relation, AccessShareLock);
    }
  });
  return Datum{0};
}
