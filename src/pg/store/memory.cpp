#include "pg/store/memory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <climits>
#include <cstdio>
#include <map>
#include <memory>

#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/store/load.hpp"
#include "pg/store/memory_file.hpp"
#include "pg/store/server_headers.hpp"

namespace strom::pg::store {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;

namespace {

/// In the server's own shared memory: tells its runs apart, crashes included.
struct Control {
  uint64_t incarnation;
  int tranche;
};

std::map<Oid, std::unique_ptr<Table>>& tables() {
  static auto* map = new std::map<Oid, std::unique_ptr<Table>>();
  return *map;
}

/// Tables whose memory is no longer theirs. A statement may still use them.
std::vector<std::unique_ptr<Table>>& retired() {
  static auto* list = new std::vector<std::unique_ptr<Table>>();
  return *list;
}

void on_relation_change(Datum, Oid relid) {
  for (auto& [id, table] : tables())
    if (!OidIsValid(relid) || relid == id) table->is_stale = true;
}

void on_catalog_change(Datum, int, uint32) {
  for (auto& [id, table] : tables()) table->is_stale = true;
}

/// Names of memory of this cluster begin like this. A copy of a cluster has the same identifier, but another folder.
std::string memory_prefix() {
  struct stat folder{};
  if (stat(DataDir, &folder) != 0) throw_if_failed(base::os_error(errno, "could not examine the data folder"));
  char name[NAME_MAX];
  snprintf(name, sizeof(name), "pg_strom.%016" PRIx64 ".%" PRIx64 ".%" PRIx64 ".",
           static_cast<uint64_t>(GetSystemIdentifier()), static_cast<uint64_t>(folder.st_dev),
           static_cast<uint64_t>(folder.st_ino));
  return name;
}

/// What earlier runs of the server left.
void remove_old_memory() {
  const std::string prefix = memory_prefix();
  DIR* folder = opendir(kMemoryFolder);
  if (folder == nullptr) return;
  while (const struct dirent* entry = readdir(folder))
    if (std::string_view(entry->d_name).substr(0, prefix.size()) == prefix)
      unlink((std::string(kMemoryFolder) + "/" + entry->d_name).c_str());
  closedir(folder);
}

const Control& control() {
  static Control* found = nullptr;
  if (found != nullptr) return *found;
  bool is_new = false;
  auto* shared = guard([&is_new] {
    bool found_before;
    LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
    auto* memory = static_cast<Control*>(ShmemInitStruct("pg_strom memory store", sizeof(Control), &found_before));
    is_new = !found_before;
    if (is_new) {
      memory->tranche = LWLockNewTrancheId();
      if (!pg_strong_random(&memory->incarnation, sizeof(memory->incarnation)))
        ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate a random number")));
    }
    LWLockRelease(AddinShmemInitLock);
    LWLockRegisterTranche(memory->tranche, "PgStromStore");
    CacheRegisterRelcacheCallback(on_relation_change, 0);
    CacheRegisterSyscacheCallback(FOREIGNTABLEREL, on_catalog_change, 0);
    return memory;
  });
  // Nobody can have made memory of this run before.
  if (is_new) remove_old_memory();
  found = shared;
  return *found;
}

uint64_t layout_hash(const rows::Shape& shape) { return rows::hash_shape(shape) ^ kHeaderBytes; }

/// What the catalogs say.
std::unique_ptr<Table> describe(Relation relation) {
  auto table = std::make_unique<Table>();
  table->relid = RelationGetRelid(relation);
  strlcpy(table->name, RelationGetRelationName(relation), NAMEDATALEN);
  const catalog::ForeignTable foreign = catalog::load_foreign_table(table->relid, {});
  table->options = value_or_throw(parse_options(foreign.options));
  table->columns =
      value_or_throw(columns_of(relation, table->options.primary_key, table->options.max_num_rows, &table->shape));
  table->layout = rows::layout_of(table->shape, kHeaderBytes);
  return table;
}

/// Maps the memory if it is of this run. False: there is none.
bool attach(Table* table) {
  const std::string path = memory_path(table->relid);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return false;
  if (descriptor < 0) {
    throw_if_failed(base::os_error(errno, "could not open file \"" + path + "\""));
    return false;
  }
  struct stat info{};
  Shared head{};
  const bool is_whole = fstat(descriptor, &info) == 0 && pread(descriptor, &head, offsetof(Shared, rows), 0) ==
                                                             static_cast<ssize_t>(offsetof(Shared, rows));
  if (!is_whole || head.magic != kMemoryMagic || head.version != kMemoryVersion ||
      head.incarnation != control().incarnation || head.state != static_cast<uint32_t>(MemoryState::kReady)) {
    close(descriptor);
    return false;
  }
  if (head.layout != layout_hash(table->shape) || static_cast<uint64_t>(info.st_size) != table->layout.bytes) {
    close(descriptor);
    throw_if_failed(changed_layout(table->name));
  }
  table->descriptor = descriptor;
  map_memory(table);
  const log::Identity identity{head.store_id, 0, 0, 0};
  table->redo = value_or_throw(log::RedoFile::open(table->options.redo_log_file, identity));
  return true;
}

/// One session makes the memory; the others wait for it.
void build(Table* table) {
  const Oid relid = table->relid;
  LOCKTAG tag;
  constexpr uint32 kOurs = 0x53544F52;
  constexpr uint16 kNotUsers = 5;  // users' advisory locks have 1 and 2
  SET_LOCKTAG_ADVISORY(tag, MyDatabaseId, kOurs, relid, kNotUsers);
  guard([&tag] { LockAcquire(&tag, ExclusiveLock, false, false); });
  if (!attach(table)) {
    make_memory(table, control().incarnation, control().tranche, layout_hash(table->shape));
    if (!attach(table)) throw_if_failed(Status(ErrorCode::kInternal, "the memory of a store table went away"));
  }
  guard([&tag] { LockRelease(&tag, ExclusiveLock, false); });
}

Table* find_or_open(Relation relation) {
  const Oid relid = RelationGetRelid(relation);
  control();
  auto& known = tables()[relid];
  const bool is_ready = known != nullptr && known->shared != nullptr &&
                        known->shared->state == static_cast<uint32_t>(MemoryState::kReady);
  if (is_ready && !known->is_stale) return known.get();
  auto table = describe(relation);
  if (is_ready && table->shape == known->shape && table->options.base_file == known->options.base_file &&
      table->options.redo_log_file == known->options.redo_log_file) {
    known->options = table->options;
    strlcpy(known->name, table->name, NAMEDATALEN);
    known->is_stale = false;
    return known.get();
  }
  if (!attach(table.get())) build(table.get());
  if (known != nullptr) retired().push_back(std::move(known));
  known = std::move(table);
  return known.get();
}

}  // namespace

Status changed_layout(const char* name) {
  return Status(ErrorCode::kUnsupported, std::string("columns, key or limit of store table \"") + name +
                                             "\" are not those that its files were made with")
      .with_hint("Change them back, or copy the rows into a new table.");
}

std::string memory_path(Oid relid) {
  return std::string(kMemoryFolder) + "/" + memory_prefix() + std::to_string(MyDatabaseId) + "." +
         std::to_string(relid);
}

bool grow_memory(void* context, uint64_t offset, uint64_t bytes) {
  const auto* table = static_cast<const Table*>(context);
  int error;
  do error = posix_fallocate(table->descriptor, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  while (error == EINTR);
  return error == 0;
}

void map_memory(Table* table) {
  void* memory =
      mmap(nullptr, table->layout.bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, table->descriptor, 0);
  if (memory == MAP_FAILED) throw_if_failed(base::os_error(errno, "could not map the memory of a store table"));
  table->memory = static_cast<uint8_t*>(memory);
  table->shared = reinterpret_cast<Shared*>(memory);
  table->rows = new rows::Rows(table->shape, table->layout, table->memory, &table->shared->rows);
  table->rows->set_grow(grow_memory, table);
}

Table* open_table(Relation relation) {
  return boundary::entry([relation] { return find_or_open(relation); });
}

}  // namespace strom::pg::store
