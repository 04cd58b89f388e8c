// SQL functions about published regions and messages: kv_attach(), kv_session(), kv_session_tcp(), kv_rotate(). All of
// it may ereport.
#include "base/hex.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/compat/schema_rights.hpp"
#include "pg/fdw_gstore/named_table.hpp"
#include "pg/kv_server/places.hpp"
#include "pg/store/control.hpp"
#include "pg/store/published.hpp"
#include "pg/store/readers.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/tokens.hpp"
#include "pg/store/transaction.hpp"
#include "pg/store/worker.hpp"

namespace boundary = strom::pg::boundary;
namespace store = strom::pg::store;
using strom::pg::fdw_gstore::open_named_table;
using strom::pg::fdw_gstore::require_owner;

namespace {

void require_kv_access(const store::Table* table) {
  if (table->options.kv_access) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("store table \"%s\" has no published region", table->name),
                  errhint("Set its option \"kv_access\".")));
}

/// The path of the worker's socket. Waits for it, because the worker may just be starting.
const char* wait_for_socket() {
  const store::Control* control = boundary::entry([] { return store::control(); });
  constexpr int kPatience = 500;
  constexpr long kPauseUs = 10000;
  for (int i = 0; i < kPatience; ++i) {
    store::ensure_worker();
    if (control->socket[0] != '\0') return control->socket;
    CHECK_FOR_INTERRUPTS();
    pg_usleep(kPauseUs);
  }
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("nobody hands out published regions: the memory store's worker does not run"),
                  errhint("It takes one of \"max_worker_processes\"; the server's log may say more.")));
  return nullptr;
}

/// True if new clients cannot use the region.
bool is_worn_out(store::Table* table) {
  const store::Region* region = store::region_of(table);
  if (region == nullptr) return true;
  return static_cast<store::region::State>(region->writer.header().state) != store::region::State::kReady;
}

/// The right to read the table, and to use its schema: that one is checked where a name is looked up, but the table may
/// be given by its OID.
void require_select(Relation relation) {
  const Oid schema = RelationGetNamespace(relation);
  const AclResult use = strom::pg::compat::check_schema(schema, GetUserId(), ACL_USAGE);
  if (use != ACLCHECK_OK) aclcheck_error(use, OBJECT_SCHEMA, get_namespace_name(schema));
  const AclResult right = pg_class_aclcheck(RelationGetRelid(relation), GetUserId(), ACL_SELECT);
  if (right != ACLCHECK_OK) aclcheck_error(right, OBJECT_FOREIGN_TABLE, RelationGetRelationName(relation));
}

/// The row (place, token).
Datum answer(FunctionCallInfo fcinfo, Datum place, const uint8_t* token) {
  char hex[2 * strom::store::region::kTokenBytes + 1];
  char* end = hex;
  for (size_t i = 0; i < strom::store::region::kTokenBytes; ++i) end = strom::base::put_hex(end, token[i]);
  *end = '\0';
  TupleDesc descriptor;
  if (get_call_result_type(fcinfo, nullptr, &descriptor) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  Datum values[] = {place, CStringGetTextDatum(hex)};
  bool nulls[] = {false, false};
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls));
}

Datum attach(FunctionCallInfo fcinfo) {
  if (pg_class_aclcheck(PG_GETARG_OID(0), GetUserId(), ACL_SELECT) == ACLCHECK_OK)
    store::lock_attaching(PG_GETARG_OID(0), ShareLock);
  Relation relation = open_named_table(PG_GETARG_OID(0), AccessShareLock);
  require_select(relation);
  store::Table* table = store::open_table(relation);
  require_kv_access(table);
  if (is_worn_out(table))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("the published region of store table \"%s\" has to be made anew", table->name),
                    errhint("Let the table's owner call pgstrom.kv_rotate().")));
  const char* socket = wait_for_socket();
  uint8_t bytes[strom::store::region::kTokenBytes];
  store::note_reader(table, GetUserId());
  // Roles may have changed since the first look. Whoever looks at the readers now finds this one; what came before is
  // seen here.
  AcceptInvalidationMessages();
  require_select(relation);
  store::make_token({MyDatabaseId, RelationGetRelid(relation), table->shared->region, GetUserId()}, bytes);
  table_close(relation, NoLock);
  return answer(fcinfo, CStringGetTextDatum(socket), bytes);
}

Datum begin_messages(FunctionCallInfo fcinfo, bool is_by_tcp) {
  Relation relation = open_named_table(PG_GETARG_OID(0), AccessShareLock);
  require_select(relation);
  const store::Table* table = store::open_table(relation);
  require_kv_access(table);
  char socket[sizeof(store::MessageServer::socket)];
  int port = 0;
  strom::pg::kv_server::ensure_message_server(socket, &port);
  if (is_by_tcp && port == 0)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE), errmsg("messages are not taken over TCP"),
             errhint("Set \"pg_strom.kv_listen_addresses\"; it takes effect when the database has had no clients "
                     "for some seconds. The server's log may say more.")));
  uint8_t bytes[strom::store::region::kTokenBytes];
  store::make_token({MyDatabaseId, RelationGetRelid(relation), 0, GetUserId()}, bytes);
  table_close(relation, NoLock);
  return answer(fcinfo, is_by_tcp ? Int32GetDatum(port) : CStringGetTextDatum(socket), bytes);
}

void rotate(Oid relid) {
  // Before the lock is asked for, for which all others would have to wait.
  require_owner(relid);
  Relation relation = open_named_table(relid, AccessExclusiveLock);
  require_owner(relation);
  store::Table* table = store::open_table(relation);
  require_kv_access(table);
  if (store::has_changes(table))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
                    errmsg("store table \"%s\" has changes of this transaction", table->name)));
  boundary::entry([table] { store::build_region(table); });
  table_close(relation, NoLock);
}

}  // namespace

/// pgstrom.kv_attach(regclass) -> (socket, token)
STROM_SQL_FUNCTION(strom_kv_attach) {
  return boundary::guard([fcinfo] { return attach(fcinfo); });
}

/// pgstrom.kv_session(regclass) -> (socket, token)
STROM_SQL_FUNCTION(strom_kv_session) {
  return boundary::guard([fcinfo] { return begin_messages(fcinfo, false); });
}

/// pgstrom.kv_session_tcp(regclass) -> (port, token)
STROM_SQL_FUNCTION(strom_kv_session_tcp) {
  return boundary::guard([fcinfo] { return begin_messages(fcinfo, true); });
}

/// pgstrom.kv_rotate(regclass)
STROM_SQL_FUNCTION(strom_kv_rotate) {
  boundary::guard([fcinfo] { rotate(PG_GETARG_OID(0)); });
  PG_RETURN_VOID();
}
