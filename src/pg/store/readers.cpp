#include "pg/store/readers.hpp"

#include <algorithm>

#include "pg/boundary/boundary.hpp"
#include "pg/store/control.hpp"
#include "pg/store/published.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/table_lock.hpp"
#include "pg/store/transaction.hpp"

namespace strom::pg::store {

void lock_attaching(Oid relid, LOCKMODE mode) {
  const LOCKTAG tag = tag_of(TableLock::kAttaching, MyDatabaseId, relid);
  LockAcquire(&tag, mode, false, false);
}

void note_reader(const Table* table, Oid role) {
  Shared* shared = table->shared;
  LWLockAcquire(table->lock(kRegionLock), LW_EXCLUSIVE);
  uint32_t at = 0;
  while (at < shared->reader_count && at < kMostReaders && shared->readers[at] != role) ++at;
  if (at < kMostReaders) shared->readers[at] = role;
  if (at == shared->reader_count) ++shared->reader_count;
  LWLockRelease(table->lock(kRegionLock));
}

bool has_readers(const Table* table) {
  const Shared* shared = table->shared;
  LWLockAcquire(table->lock(kRegionLock), LW_SHARED);
  const bool has = shared->region != 0 && shared->reader_count > 0;
  LWLockRelease(table->lock(kRegionLock));
  return has;
}

bool has_denied_reader(const Table* table, bool or_unlisted) {
  const Shared* shared = table->shared;
  LWLockAcquire(table->lock(kRegionLock), LW_SHARED);
  const uint32_t count = shared->region == 0 ? 0 : shared->reader_count;
  Oid readers[kMostReaders];
  std::memcpy(readers, shared->readers, sizeof(readers));
  LWLockRelease(table->lock(kRegionLock));
  if (count > kMostReaders && or_unlisted) return true;
  for (uint32_t i = 0; i < std::min(count, kMostReaders); ++i)
    if (pg_class_aclcheck(table->relid, readers[i], ACL_SELECT) != ACLCHECK_OK) return true;
  return false;
}

void deny_readers(Relation relation) {
  Table* table = open_table(relation);
  if (!has_denied_reader(table)) return;
  if (has_changes(table))
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_IN_USE), errmsg("store table \"%s\" has changes of this transaction", table->name),
             errdetail("Its published region has to be made anew for clients that lose the right to read."),
             errhint("Take the right away in a transaction of its own.")));
  boundary::entry([table] { build_region(table); });
}

namespace {

bool is_reader(const Table* table, Oid role) {
  const Shared* shared = table->shared;
  LWLockAcquire(table->lock(kRegionLock), LW_SHARED);
  const Oid* end = shared->readers + std::min(shared->reader_count, kMostReaders);
  const bool is_listed = std::find(shared->readers, end, role) != end;
  LWLockRelease(table->lock(kRegionLock));
  return is_listed;
}

/// Ends sessions of readers without the right to read that have locked the table.
void end_denied_sessions(const Table* table) {
  const LockData* locks = GetLockStatusData();
  for (int i = 0; i < locks->nelements; ++i) {
    const LockInstanceData& held = locks->locks[i];
    const LOCKTAG& tag = held.locktag;
    if (tag.locktag_type != LOCKTAG_RELATION || tag.locktag_field1 != MyDatabaseId ||
        tag.locktag_field2 != table->relid || held.holdMask == 0 || held.pid == MyProcPid)
      continue;
    const PGPROC* process = BackendPidGetProc(held.pid);
    const Oid role = process == nullptr ? InvalidOid : process->roleId;
    if (!OidIsValid(role) || !is_reader(table, role) ||
        pg_class_aclcheck(table->relid, role, ACL_SELECT) == ACLCHECK_OK)
      continue;
    ereport(LOG, (errmsg("ending process %d, which keeps the published region of store table \"%s\" from a role that "
                         "may not read it any more",
                         held.pid, table->name)));
    kill(held.pid, SIGTERM);
  }
}

/// Locks the table AccessExclusive. Who has lost the right to read could keep the region by a transaction that is left
/// open.
Relation lock_against_readers(Oid relid) {
  constexpr int kLooks = 10;
  constexpr long kPauseUs = 100'000;
  for (int i = 0; i < kLooks; ++i) {
    if (ConditionalLockRelationOid(relid, AccessExclusiveLock)) return table_open(relid, NoLock);
    CHECK_FOR_INTERRUPTS();
    pg_usleep(kPauseUs);
  }
  Relation relation = table_open(relid, AccessShareLock);
  end_denied_sessions(open_table(relation));
  table_close(relation, AccessShareLock);
  return table_open(relid, AccessExclusiveLock);
}

}  // namespace

void follow_rights(Oid relid) {
  if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE || !has_memory(relid)) return;
  lock_attaching(relid, ExclusiveLock);
  Relation relation = try_relation_open(relid, AccessShareLock);
  if (relation == nullptr) return;
  const bool is_affected = is_store_table(relation) && has_denied_reader(open_table(relation));
  table_close(relation, AccessShareLock);
  if (!is_affected) return;
  relation = lock_against_readers(relid);
  deny_readers(relation);
  table_close(relation, NoLock);
}

void look_at_rights(Oid relid) {
  if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE || !has_memory(relid)) return;
  if (!ConditionalLockRelationOid(relid, AccessShareLock)) return;
  Relation relation = try_relation_open(relid, NoLock);
  const bool is_affected =
      relation != nullptr && is_store_table(relation) && has_denied_reader(open_table(relation), false);
  if (relation != nullptr) table_close(relation, NoLock);
  UnlockRelationOid(relid, AccessShareLock);
  if (is_affected) follow_rights(relid);
}

}  // namespace strom::pg::store
