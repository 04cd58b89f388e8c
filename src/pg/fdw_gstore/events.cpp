// Event triggers: make and remove files of store tables with the tables, and follow changes of the right to read
// published regions.
#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/fdw_gstore/existing_rows.hpp"
#include "pg/store/control.hpp"
#include "pg/store/files.hpp"
#include "pg/store/readers.hpp"
#include "pg/store/server_headers.hpp"

namespace boundary = strom::pg::boundary;
namespace catalog = strom::pg::catalog;
namespace fdw_gstore = strom::pg::fdw_gstore;
namespace store = strom::pg::store;

namespace {

/// The OIDs in the first column of a query's result, in the caller's memory context. May ereport.
List* query_oids(const char* query) {
  MemoryContext caller = CurrentMemoryContext;
  List* found = NIL;
  if (SPI_connect() != SPI_OK_CONNECT) elog(ERROR, "SPI_connect failed");
  if (SPI_execute(query, true, 0) != SPI_OK_SELECT) elog(ERROR, "SPI_execute failed");
  for (uint64 i = 0; i < SPI_processed; ++i) {
    bool is_null;
    const Datum value = SPI_getbinval(SPI_tuptable->vals[i], SPI_tuptable->tupdesc, 1, &is_null);
    if (is_null) continue;
    MemoryContext before = MemoryContextSwitchTo(caller);
    found = list_append_unique_oid(found, DatumGetObjectId(value));
    MemoryContextSwitchTo(before);
  }
  SPI_finish();
  return found;
}

/// Adds the relations that inherit from those of `relids`, partitions above all. May ereport.
List* with_children(List* relids) {
  List* found = NIL;
  ListCell* cell;
  foreach (cell, relids) {
    const Oid relid = lfirst_oid(cell);
    if (get_rel_relkind(relid) == '\0') continue;  // it has been dropped
    if (has_subclass(relid))
      found = list_concat_unique_oid(found, find_all_inheritors(relid, NoLock, nullptr));
    else
      found = list_append_unique_oid(found, relid);
  }
  return found;
}

/// Calls `call` for each store table among `relids`. May ereport.
template <class Call>
void for_store_tables(List* relids, Call call) {
  ListCell* cell;
  foreach (cell, relids) {
    const Oid relid = lfirst_oid(cell);
    if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE) continue;
    Relation relation = table_open(relid, AccessShareLock);
    if (store::is_store_table(relation)) call(relation);
    table_close(relation, NoLock);
  }
}

/// Has sessions forget what they know of the bounds of partitions. PostgreSQL does so for a default partition that
/// gives up bounds, but not for the partitions below it. May ereport.
void forget_bounds(List* relids) {
  ListCell* cell;
  foreach (cell, relids)
    if (get_rel_relispartition(lfirst_oid(cell))) CacheInvalidateRelcacheByRelid(lfirst_oid(cell));
  CommandCounterIncrement();
}

/// May ereport.
void require_event_trigger(FunctionCallInfo fcinfo) {
  if (!CALLED_AS_EVENT_TRIGGER(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_EVENT_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("this function is for an event trigger")));
}

object_access_hook_type previous_hook = nullptr;

/// Called before anything is dropped, whatever the command. May ereport.
void on_object_access(ObjectAccessType access, Oid catalog, Oid object, int column, void* argument) {
  if (previous_hook != nullptr) previous_hook(access, catalog, object, column, argument);
  if (access != OAT_DROP || catalog != RelationRelationId || column != 0) return;
  if (get_rel_relkind(object) != RELKIND_FOREIGN_TABLE || !store::is_store_table(object)) return;
  boundary::entry([object] {
    const auto parsed = store::parse_options(catalog::load_foreign_table(object, {}).options);
    if (parsed.is_ok()) store::drop_files(object, parsed.value());
  });
}

void watch_drops() {
  static bool is_watching = false;
  if (is_watching) return;
  is_watching = true;
  previous_hook = object_access_hook;
  object_access_hook = on_object_access;
}

/// All foreign tables. May ereport.
List* foreign_tables() {
  List* found = NIL;
  Relation catalog = table_open(ForeignTableRelationId, AccessShareLock);
  SysScanDesc scan = systable_beginscan(catalog, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple tuple = systable_getnext(scan); HeapTupleIsValid(tuple); tuple = systable_getnext(scan))
    found = lappend_oid(found, reinterpret_cast<Form_pg_foreign_table>(GETSTRUCT(tuple))->ftrelid);
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return found;
}

/// The tables whose rights a command may have reduced. May ereport.
List* tables_with_fewer_rights(const Node* command) {
  if (!IsA(command, GrantStmt)) return foreign_tables();
  const auto* grant = reinterpret_cast<const GrantStmt*>(command);
  if (grant->objtype != OBJECT_TABLE) return NIL;
  if (grant->targtype != ACL_TARGET_OBJECT) return foreign_tables();
  List* found = NIL;
  ListCell* cell;
  foreach (cell, grant->objects) {
    const Oid relid = RangeVarGetRelid(lfirst_node(RangeVar, cell), NoLock, true);
    if (OidIsValid(relid)) found = list_append_unique_oid(found, relid);
  }
  return found;
}

/// True if the command attaches a partition.
bool is_attaching(const Node* command) {
  if (!IsA(command, AlterTableStmt)) return false;
  ListCell* cell;
  foreach (cell, reinterpret_cast<const AlterTableStmt*>(command)->cmds)
    if (lfirst_node(AlterTableCmd, cell)->subtype == AT_AttachPartition) return true;
  return false;
}

/// Called after ALTER. May ereport.
void check_altered(Relation relation) {
  store::check_definition(relation);
  if (!store::has_memory(RelationGetRelid(relation))) return;
  if (CheckRelationLockedByMe(relation, AccessExclusiveLock, true)) store::deny_readers(relation);
}

}  // namespace

STROM_SQL_FUNCTION(strom_gstore_tables_made) {
  boundary::guard([fcinfo] {
    require_event_trigger(fcinfo);
    watch_drops();  // a temporary table goes with the session, without a command
    List* found = query_oids(
        "SELECT objid FROM pg_catalog.pg_event_trigger_ddl_commands() "
        "WHERE object_type = 'foreign table' AND command_tag = 'CREATE FOREIGN TABLE'");
    for_store_tables(found, store::create_files);
    // New partitions, of whatever kind, take bounds from default partitions.
    List* beside = NIL;
    ListCell* cell;
    foreach (cell, query_oids("SELECT objid FROM pg_catalog.pg_event_trigger_ddl_commands() "
                              "WHERE classid = 'pg_catalog.pg_class'::pg_catalog.regclass"))
      beside = list_concat_unique_oid(beside, fdw_gstore::beside_default_partition(lfirst_oid(cell)));
    forget_bounds(beside);
    for_store_tables(beside, [](Relation relation) { fdw_gstore::check_existing_rows(relation, true); });
  });
  PG_RETURN_NULL();
}

STROM_SQL_FUNCTION(strom_gstore_tables_altered) {
  boundary::guard([fcinfo] {
    require_event_trigger(fcinfo);
    List* found = query_oids(
        "SELECT objid FROM pg_catalog.pg_event_trigger_ddl_commands() "
        "WHERE classid = 'pg_catalog.pg_class'::pg_catalog.regclass");
    // ALTER TABLE of a partitioned table names that table alone.
    List* tables = with_children(found);
    for_store_tables(tables, check_altered);
    const bool attaches = is_attaching(reinterpret_cast<const EventTriggerData*>(fcinfo->context)->parsetree);
    if (attaches) forget_bounds(tables);
    for_store_tables(tables, [attaches](Relation relation) { fdw_gstore::check_existing_rows(relation, attaches); });
  });
  PG_RETURN_NULL();
}

STROM_SQL_FUNCTION(strom_gstore_rights_taken) {
  boundary::guard([fcinfo] {
    require_event_trigger(fcinfo);
    const auto* data = reinterpret_cast<const EventTriggerData*>(fcinfo->context);
    ListCell* cell;
    foreach (cell, tables_with_fewer_rights(data->parsetree)) store::follow_rights(lfirst_oid(cell));
  });
  PG_RETURN_NULL();
}

/// Loads this library before a command that may drop store tables. An event trigger that is told of dropped tables
/// would be dropped itself by DROP EXTENSION.
STROM_SQL_FUNCTION(strom_gstore_dropping) {
  boundary::guard([fcinfo] {
    require_event_trigger(fcinfo);
    watch_drops();
  });
  PG_RETURN_NULL();
}

/// Columns go with what they depend on: DROP DOMAIN … CASCADE.
STROM_SQL_FUNCTION(strom_gstore_columns_dropped) {
  boundary::guard([fcinfo] {
    require_event_trigger(fcinfo);
    List* tables = query_oids(
        "SELECT objid FROM pg_catalog.pg_event_trigger_dropped_objects() "
        "WHERE object_type IN ('foreign table column', 'table column')");
    for_store_tables(with_children(tables), store::check_definition);
  });
  PG_RETURN_NULL();
}
