// See pending.hpp.
#include "pg/files/pending.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <vector>

#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/files/options.hpp"
#include "pg/files/pending_write.hpp"

namespace strom::pg::files {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;
namespace {

/// The writes of this transaction.
std::vector<std::unique_ptr<PendingWrite>>& writes() {
  static auto* list = new std::vector<std::unique_ptr<PendingWrite>>();
  return *list;
}

/// Counts events that may have changed tables or types, including changes by this transaction.
uint64_t catalog_state = 1;

PendingWrite* find_write(Oid relid, const std::string& path) {
  for (const auto& write : writes())
    if (write->relid() == relid && write->path() == path) return write.get();
  return nullptr;
}

/// The write of table `relid`, unless something may have changed the table since it was bound.
PendingWrite* find_current(Oid relid) {
  for (const auto& write : writes())
    if (write->relid() == relid && write->catalog_state() == catalog_state && !write->is_broken()) return write.get();
  return nullptr;
}

/// Resolves symbolic links. A rewrite replaces the file, not the link.
std::string resolve(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : path;
}

// May ereport.
void on_transaction(XactEvent event, void*) {
  if (writes().empty()) return;
  switch (event) {
    case XACT_EVENT_PRE_COMMIT:
      boundary::entry([] {
        for (const auto& write : writes()) write->prepare();
        for (const auto& write : writes()) write->commit();
      });
      break;
    case XACT_EVENT_COMMIT:
      for (const auto& write : writes()) write->settle();
      writes().clear();
      break;
    case XACT_EVENT_ABORT: writes().clear(); break;
    case XACT_EVENT_PRE_PREPARE:
      ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                      errmsg("cannot PREPARE a transaction that has written to Arrow foreign tables")));
      break;
    default: break;
  }
}

void on_subtransaction(SubXactEvent event, SubTransactionId, SubTransactionId, void*) {
  if (event != SUBXACT_EVENT_COMMIT_SUB && event != SUBXACT_EVENT_ABORT_SUB) return;
  const int level = GetCurrentTransactionNestLevel();
  const bool is_commit = event == SUBXACT_EVENT_COMMIT_SUB;
  auto& list = writes();
  if (!is_commit) std::erase_if(list, [level](const auto& write) { return write->level() >= level; });
  for (const auto& write : list) {
    try {
      write->end_level(level, is_commit);
    } catch (const boundary::StatusError& error) {
      write->fail(error.status());
    } catch (...) {
      write->fail(Status(ErrorCode::kOutOfMemory, "out of memory while rows were taken back"));
    }
  }
}

void on_relation_change(Datum, Oid) { ++catalog_state; }
void on_catalog_change(Datum, int, uint32) { ++catalog_state; }

void register_callbacks() {
  static bool registered = false;
  if (registered) return;
  guard([] {
    RegisterXactCallback(on_transaction, nullptr);
    RegisterSubXactCallback(on_subtransaction, nullptr);
    CacheRegisterRelcacheCallback(on_relation_change, 0);
    CacheRegisterSyscacheCallback(FOREIGNTABLEREL, on_catalog_change, 0);
    CacheRegisterSyscacheCallback(TYPEOID, on_catalog_change, 0);
  });
  registered = true;
}

void require_owner_privilege(Oid relid) {
  const bool allowed = guard([relid] {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
    const Oid owner =
        HeapTupleIsValid(tuple) ? reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relowner : InvalidOid;
    if (HeapTupleIsValid(tuple)) ReleaseSysCache(tuple);
    return OidIsValid(owner) && has_privs_of_role(owner, ROLE_PG_WRITE_SERVER_FILES);
  });
  if (allowed) return;
  throw_if_failed(Status(ErrorCode::kPermissionDenied, "permission denied to write Arrow files of the server")
                      .with_hint("The table's owner needs the privileges of the role \"pg_write_server_files\"."));
}

void refuse_same_file(const std::string& path) {
  struct stat mine, theirs;
  if (stat(path.c_str(), &mine) != 0) return;
  for (const auto& write : writes()) {
    if (stat(write->path().c_str(), &theirs) != 0) continue;
    if (mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino)
      throw_if_failed(
          Status(ErrorCode::kUnsupported, "file \"" + path + "\" is already being written to by this transaction")
              .with_detail("Another foreign table, or another name of the file, leads to it."));
  }
}

/// The current definition of a writable table.
struct Definition {
  catalog::ForeignTable table;
  TableOptions options;
  std::string path;
};

Definition load_definition(Oid relid) {
  catalog::ForeignTable table = catalog::load_foreign_table(relid, catalog::live_columns(relid));
  TableOptions options = value_or_throw(parse_table_options(table.options));
  if (!options.writable) {
    throw_if_failed(Status(ErrorCode::kUnsupported, "foreign table \"" + table.name + "\" is not writable")
                        .with_hint("Set the option \"writable\" of a table that has the option \"file\"."));
  }
  std::string path = resolve(options.files.front());
  return {std::move(table), std::move(options), std::move(path)};
}

void lock_table(Oid relid) {
  register_callbacks();
  guard([relid] {
    // A lock between writers: the statement's own lock on the table does not exclude other writers.
    LockDatabaseObject(ForeignTableRelationId, relid, 0, ShareRowExclusiveLock);
    ResetPlanCache();  // parallel workers would not see the rows
  });
  require_owner_privilege(relid);
}

/// Calls `use` with the write of the table's file, which may be new.
template <class F>
PendingWrite* open_write(const Definition& now, F use) {
  const Oid relid = now.table.relid;
  if (PendingWrite* known = find_write(relid, now.path)) {
    if (known->is_broken()) throw_if_failed(Status(ErrorCode::kInternal, "rows of this transaction were lost"));
    use(*known);
    return known;
  }
  refuse_same_file(now.path);
  auto write = std::make_unique<PendingWrite>(relid, now.path);
  write->open(now.table);
  use(*write);
  writes().push_back(std::move(write));
  return writes().back().get();
}

}  // namespace

PendingWrite* begin_write(Oid relid) {
  lock_table(relid);
  if (PendingWrite* current = find_current(relid)) return current;
  const uint64_t state = catalog_state;  // changes during the reading are noticed by the next call
  const Definition now = load_definition(relid);
  return open_write(now, [&](PendingWrite& write) { write.fit_to(now.table, now.options, state); });
}

void write_row(PendingWrite* write, TupleTableSlot* slot, CommandId command) { write->add(slot, command); }

void write_columns(PendingWrite* write, const codec::RegisterColumn* columns, int64_t rows, CommandId command) {
  write->add(columns, rows, command);
}

void truncate_table(Oid relid) {
  lock_table(relid);
  const uint64_t state = catalog_state;
  const Definition now = load_definition(relid);
  open_write(now, [&](PendingWrite& write) { write.truncate(now.table, now.options, state); });
}

bool has_pending_rows(Oid relid) {
  return std::any_of(writes().begin(), writes().end(), [relid](const auto& write) { return write->relid() == relid; });
}

std::shared_ptr<const format::arrow::FileReader> pending_reader(Oid relid, const std::string& path) {
  if (!has_pending_rows(relid)) return nullptr;
  PendingWrite* write = find_write(relid, resolve(path));
  if (write == nullptr) return nullptr;
  return write->reader(
      guard([] { return ActiveSnapshotSet() ? GetActiveSnapshot()->curcid : GetCurrentCommandId(false); }));
}

}  // namespace strom::pg::files
