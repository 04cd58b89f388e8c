#include "pg/kv_server/operations.hpp"

#include <cstring>

#include "pg/boundary/boundary.hpp"
#include "pg/kv_server/values.hpp"
#include "pg/store/change.hpp"
#include "pg/store/published.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/transaction.hpp"
#include "pg/store/turns.hpp"
#include "pg/store/visibility.hpp"

namespace strom::pg::kv_server {

namespace {

using message::Kind;
using message::Outcome;
using store::rows::Cell;
using store::rows::kNoSlot;

Verdict fail(Outcome outcome, int sqlstate, const char* text) { return {outcome, 0, sqlstate, text}; }

/// Switches to the client's role before code of users runs. leave_role() takes the result and switches back.
struct Before {
  Oid user;
  int security, settings;
};
Before enter_role(Oid role) {
  Before before;
  GetUserIdAndSecContext(&before.user, &before.security);
  SetUserIdAndSecContext(role, before.security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
  before.settings = NewGUCNestLevel();
  return before;
}
void leave_role(const Before& before) {
  AtEOXact_GUC(false, before.settings);
  SetUserIdAndSecContext(before.user, before.security);
}

/// May ereport: by input functions of types and by constraints.
void check_constraints(const OpenTable& open, const Cell* cells) {
  Relation relation = open.relation;
  EState* estate = CreateExecutorState();
  ResultRelInfo* target = makeNode(ResultRelInfo);
  InitResultRelInfo(target, relation, 0, nullptr, 0);
  TupleTableSlot* slot = MakeSingleTupleTableSlot(RelationGetDescr(relation), &TTSOpsVirtual);
  std::memset(slot->tts_isnull, true, static_cast<size_t>(slot->tts_tupleDescriptor->natts));
  for (size_t i = 0; i < open.table->columns.size(); ++i) {
    const int at = open.table->columns[i].attnum - 1;
    slot->tts_values[at] = store::from_cell(open.table->columns[i], cells[i], &slot->tts_isnull[at]);
  }
  ExecStoreVirtualTuple(slot);
  slot->tts_tableOid = RelationGetRelid(relation);
  if (relation->rd_att->constr != nullptr) ExecConstraints(target, slot, estate);
  if (relation->rd_rel->relispartition) ExecPartitionCheck(target, slot, estate, true);
  ExecDropSingleTupleTableSlot(slot);
  FreeExecutorState(estate);
}

bool has_conditions(Relation relation) {
  const TupleConstr* constraints = relation->rd_att->constr;
  return relation->rd_rel->relispartition || (constraints != nullptr && constraints->num_check != 0);
}

/// Checks NOT NULL by the table's description alone.
Verdict check_nulls(const OpenTable& open, const Cell* cells) {
  for (size_t i = 0; i < open.table->columns.size(); ++i) {
    const FormData_pg_attribute* attribute =
        TupleDescAttr(RelationGetDescr(open.relation), open.table->columns[i].attnum - 1);
    if (attribute->attnotnull && cells[i].is_null)
      return fail(Outcome::kConstraint, ERRCODE_NOT_NULL_VIOLATION,
                  psprintf("null value in column \"%s\" violates not-null constraint", NameStr(attribute->attname)));
  }
  return {};
}

/// Converts the row that a client has sent. Not kDone: it is invalid.
Verdict take_row(const OpenTable& open, const store::Grant& grant, const message::Request& request, Cell* cells) {
  const auto& columns = open.table->columns;
  auto* spaces = static_cast<store::CellSpace*>(palloc(columns.size() * sizeof(store::CellSpace)));
  bool runs_code = has_conditions(open.relation);
  for (const message::Field& field : request.fields) runs_code = runs_code || field.form != message::Form::kStored;
  const Before before = runs_code ? enter_role(grant.role) : Before{};
  Verdict verdict;
  for (size_t i = 0; i < columns.size() && verdict.outcome == Outcome::kDone; ++i)
    if (!take_value(columns[i], request.fields[i], &spaces[i], &cells[i]))
      verdict = fail(Outcome::kBadValue, ERRCODE_INVALID_BINARY_REPRESENTATION,
                     psprintf("the bytes of column \"%s\" are no value of type %s",
                              open.table->shape.columns[i].name.c_str(), format_type_be(columns[i].type)));
  if (verdict.outcome == Outcome::kDone) verdict = check_nulls(open, cells);
  if (verdict.outcome == Outcome::kDone && has_conditions(open.relation)) check_constraints(open, cells);
  if (runs_code) leave_role(before);
  return verdict;
}

Verdict put(const OpenTable& open, const Cell* cells) {
  const CommandId command = GetCurrentCommandId(true);
  const Cell& key = cells[open.table->key()];
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    const store::Slot row = key.is_null ? kNoSlot : store::find_by_key(open.table, key, GetActiveSnapshot());
    if (row == kNoSlot) {
      if (store::insert_row(open.table, open.relation, cells, command, true) != kNoSlot) return {Outcome::kDone, 1};
    } else if (store::end_row(open.table, open.relation, row, command).result == store::EndResult::kDone) {
      store::replace_row(open.table, open.relation, row, cells, command);
      return {Outcome::kDone, 0};
    }
    take_new_snapshot();
  }
}

Verdict remove(const OpenTable& open, std::string_view bytes) {
  const CommandId command = GetCurrentCommandId(true);
  const Cell key = store::rows::cell_of(bytes);
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    const store::Slot row = store::find_by_key(open.table, key, GetActiveSnapshot());
    if (row == kNoSlot) return {Outcome::kNotFound};
    if (store::end_row(open.table, open.relation, row, command).result == store::EndResult::kDone) return {};
    take_new_snapshot();
  }
}

/// The generation of the published record of a key; 0: there is none.
uint32_t published_generation(const OpenTable& open, std::string_view key) {
  const store::Region* region = store::region_of(open.table);
  if (region == nullptr) return 0;
  LWLockAcquire(open.table->lock(store::kRegionLock), LW_SHARED);
  const store::region::RecordHeader* record = region->writer.find(key);
  const uint32_t generation = record != nullptr ? store::region::generation_of(*record) : 0;
  LWLockRelease(open.table->lock(store::kRegionLock));
  return generation;
}

/// Waits until a row, which this transaction has ended, is published. A transaction publishes its rows a moment after
/// it has ended.
void wait_until_published(const OpenTable& open, store::Slot row) {
  const store::rows::Version& version = open.table->rows->version(row);
  constexpr long kPauseUs = 50;
  while (store::rows::Rows::xids(version).xmin != store::rows::kFrozen &&
         (__atomic_load_n(&version.aux, __ATOMIC_ACQUIRE) & store::kXminCommitted) == 0) {
    CHECK_FOR_INTERRUPTS();
    if (ShutdownRequestPending)
      ereport(ERROR, (errcode(ERRCODE_ADMIN_SHUTDOWN), errmsg("the process for messages ends")));
    pg_usleep(kPauseUs);
  }
  // The publishing transaction sets the row's bits before its records, and holds the lock meanwhile.
  LWLockAcquire(open.table->lock(store::kRegionLock), LW_SHARED);
  LWLockRelease(open.table->lock(store::kRegionLock));
}

Verdict compare_and_set(const OpenTable& open, uint32_t generation, const Cell* cells) {
  const CommandId command = GetCurrentCommandId(true);
  const Cell& key = cells[open.table->key()];
  if (generation == 0) {
    const bool is_made = store::insert_row(open.table, open.relation, cells, command, true) != kNoSlot;
    return {is_made ? Outcome::kDone : Outcome::kConflict};
  }
  take_new_snapshot();
  const store::Slot row = key.is_null ? kNoSlot : store::find_by_key(open.table, key, GetActiveSnapshot());
  if (row == kNoSlot) return {Outcome::kConflict};
  // A row that this transaction has made gets another generation when it is published.
  store::share_lock(open.table, store::kVersionLock);
  const store::rows::Version& version = open.table->rows->look(row);
  const bool is_own = store::fate_of_xmin(version, store::rows::Rows::xids(version)) == store::Fate::kOwn;
  LWLockRelease(open.table->lock(store::kVersionLock));
  if (is_own) return {Outcome::kConflict};
  if (store::end_row(open.table, open.relation, row, command).result != store::EndResult::kDone)
    return {Outcome::kConflict};
  // From here on no other transaction can change the row.
  wait_until_published(open, row);
  if (published_generation(open, key.view()) != generation) {
    store::undo_last_change(open.table);
    return {Outcome::kConflict};
  }
  store::replace_row(open.table, open.relation, row, cells, command);
  return {};
}

AclMode rights_for(Kind kind) {
  switch (kind) {
    case Kind::kPut:
    case Kind::kCompareAndSet: return ACL_SELECT | ACL_INSERT | ACL_UPDATE;
    case Kind::kDelete: return ACL_SELECT | ACL_DELETE;
    default: return ACL_SELECT;
  }
}

bool is_class(int sqlstate, int other) { return ERRCODE_TO_CATEGORY(sqlstate) == ERRCODE_TO_CATEGORY(other); }

Outcome outcome_of(int sqlstate) {
  switch (sqlstate) {
    case ERRCODE_INSUFFICIENT_PRIVILEGE: return Outcome::kDenied;
    case ERRCODE_FEATURE_NOT_SUPPORTED: return Outcome::kUnsupported;
    case ERRCODE_LOCK_NOT_AVAILABLE:
    case ERRCODE_T_R_DEADLOCK_DETECTED:
    case ERRCODE_T_R_SERIALIZATION_FAILURE:
    case ERRCODE_QUERY_CANCELED: return Outcome::kBusy;
    case ERRCODE_UNDEFINED_TABLE:
    case ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE: return Outcome::kGone;
    case ERRCODE_DATATYPE_MISMATCH: return Outcome::kBadValue;
    case ERRCODE_PROTOCOL_VIOLATION: return Outcome::kBadRequest;
    default: break;
  }
  if (is_class(sqlstate, ERRCODE_INSUFFICIENT_RESOURCES)) return Outcome::kFull;
  if (is_class(sqlstate, ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION)) return Outcome::kConstraint;
  if (is_class(sqlstate, ERRCODE_DATA_EXCEPTION) || is_class(sqlstate, ERRCODE_PROGRAM_LIMIT_EXCEEDED))
    return Outcome::kBadValue;
  return Outcome::kFailed;
}

/// A row by its key. Runs after an error, so it only uses types that can be printed without the catalog.
const char* row_text(const store::Table* table, const Cell& key) {
  const store::StoreColumn& column = table->key_column();
  const char* name = table->shape.columns[static_cast<size_t>(table->key())].name.c_str();
  PGFunction output = nullptr;
  switch (column.type) {
    case INT2OID: output = int2out; break;
    case INT4OID: output = int4out; break;
    case INT8OID: output = int8out; break;
    case OIDOID: output = oidout; break;
    case UUIDOID: output = uuid_out; break;
    case DATEOID: output = date_out; break;
    case TIMESTAMPOID: output = timestamp_out; break;
    case TEXTOID:
    case VARCHAROID: output = textout; break;
    default: return "the row";
  }
  bool is_null;
  const char* text = DatumGetCString(DirectFunctionCall1(output, store::from_cell(column, key, &is_null)));
  constexpr int kMostBytes = 100;
  const int length = static_cast<int>(std::strlen(text));
  const int shown = pg_mbcliplen(text, length, kMostBytes);
  return psprintf("the row with %s = %.*s%s", name, shown, text, shown < length ? "..." : "");
}

}  // namespace

Verdict verdict_of(const ErrorData* error) {
  if (error == nullptr) return fail(Outcome::kFull, ERRCODE_OUT_OF_MEMORY, "out of memory");
  return fail(outcome_of(error->sqlerrcode), error->sqlerrcode, error->message != nullptr ? error->message : "");
}

void take_new_snapshot() {
  PopActiveSnapshot();
  PushActiveSnapshot(GetTransactionSnapshot());
}

Verdict open_for(const store::Grant& grant, OpenTable* open) {
  const Verdict gone =
      fail(Outcome::kGone, ERRCODE_UNDEFINED_TABLE, "the table is gone, or has no published region any more");
  open->relation = try_relation_open(grant.relation, RowExclusiveLock);
  if (open->relation == nullptr) return gone;
  if (store::is_store_table(open->relation)) {
    open->table = store::open_table(open->relation);
    const bool is_served = open->table->options.kv_access && open->table->key() >= 0;
    if (is_served && store::region_of(open->table) != nullptr) return {};
  }
  relation_close(open->relation, NoLock);
  open->relation = nullptr;
  return gone;
}

Verdict check_rights(const store::Grant& grant, Kind kind) {
  const bool is_there = SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(grant.role));
  const AclMode wanted = rights_for(kind);
  if (is_there && pg_class_aclmask(grant.relation, grant.role, wanted, ACLMASK_ALL) == wanted) return {};
  return fail(Outcome::kDenied, ERRCODE_INSUFFICIENT_PRIVILEGE, "permission denied for the table");
}

const char* busy_text(const OpenTable* open, const Cell& key) {
  if (open == nullptr) return psprintf("another transaction has locked the table; waited for %d ms", LockTimeout);
  return psprintf("another transaction has %s of table \"%s\"; waited for %d ms", row_text(open->table, key),
                  RelationGetRelationName(open->relation), LockTimeout);
}

Verdict change(const OpenTable& open, const store::Grant& grant, const message::Request& request, Cell* sought) {
  Relation relation = open.relation;
  const TupleConstr* constraints = relation->rd_att->constr;
  if (relation->trigdesc != nullptr || (constraints != nullptr && constraints->has_generated_stored))
    return fail(Outcome::kUnsupported, ERRCODE_FEATURE_NOT_SUPPORTED,
                "tables with triggers or generated columns are changed by SQL only");
  Verdict verdict;
  if (request.kind == Kind::kDelete) {
    *sought = store::rows::cell_of(request.keys[0]);
    verdict = remove(open, request.keys[0]);
  } else {
    const size_t columns = open.table->columns.size();
    if (request.fields.size() != columns)
      return fail(Outcome::kBadRequest, ERRCODE_PROTOCOL_VIOLATION,
                  psprintf("the table has %zu columns, the message %zu values", columns, request.fields.size()));
    auto* cells = static_cast<Cell*>(palloc(columns * sizeof(Cell)));
    verdict = take_row(open, grant, request, cells);
    if (verdict.outcome != Outcome::kDone) return verdict;
    *sought = cells[open.table->key()];
    verdict = request.kind == Kind::kPut ? put(open, cells) : compare_and_set(open, request.generation, cells);
  }
  // Later messages in this transaction have to see the change.
  CommandCounterIncrement();
  UpdateActiveSnapshotCommandId();
  return verdict;
}

}  // namespace strom::pg::kv_server
