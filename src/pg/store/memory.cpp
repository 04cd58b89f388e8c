#include "pg/store/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>

#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/catalog/foreign_table.hpp"
#include "pg/store/control.hpp"
#include "pg/store/load.hpp"
#include "pg/store/memory_file.hpp"
#include "pg/store/published.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/table_lock.hpp"
#include "pg/store/worker.hpp"
#include "store/huge_pages.hpp"
#include "store/log/base_file.hpp"

namespace strom::pg::store {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;

namespace {

/// None of the pointers is null: catalogs change at any moment, also while a table is opened.
std::map<Oid, std::unique_ptr<Table>>& tables() {
  static auto* map = new std::map<Oid, std::unique_ptr<Table>>();
  return *map;
}

/// Tables whose memory was replaced. A statement may still use them.
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

/// True after the end of a transaction: no statement uses tables from before it.
bool may_forget = false;

void on_transaction(XactEvent event, void*) {
  may_forget = may_forget || event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT;
}

/// Unmaps tables that were dropped, and memory that was replaced.
void forget_gone_tables() {
  if (!may_forget) return;
  may_forget = false;
  for (const auto& table : retired()) unmap_memory(table.get());
  retired().clear();
  std::erase_if(tables(), [](const auto& entry) {
    Table* table = entry.second.get();
    if (table->shared->state != static_cast<uint32_t>(MemoryState::kDropped)) return false;
    unmap_memory(table);
    return true;
  });
}

void watch_catalogs() {
  static bool is_watching = false;
  if (is_watching) return;
  guard([] {
    RegisterXactCallback(on_transaction, nullptr);
    CacheRegisterRelcacheCallback(on_relation_change, 0);
    CacheRegisterSyscacheCallback(FOREIGNTABLEREL, on_catalog_change, 0);
  });
  is_watching = true;
}

uint64_t layout_hash(const rows::Shape& shape) { return rows::hash_shape(shape) ^ kHeaderBytes; }

/// The table as the catalogs define it.
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

/// Memory of a table that is ready and belongs to this run of the server.
struct Found {
  int descriptor = -1;  // -1: there is no such memory
  Shared head{};        // without parts that change
  uint64_t bytes = 0;
};

/// May throw.
Found find_memory(const std::string& path) {
  Found found;
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return found;
  if (descriptor < 0) {
    throw_if_failed(base::os_error(errno, "could not open file \"" + path + "\""));
    return found;
  }
  struct stat info{};
  constexpr size_t kHead = offsetof(Shared, row_count);
  const Shared& head = found.head;
  const bool is_ready =
      fstat(descriptor, &info) == 0 && pread(descriptor, &found.head, kHead, 0) == static_cast<ssize_t>(kHead) &&
      head.magic == kMemoryMagic && head.version == kMemoryVersion && head.incarnation == control()->incarnation &&
      head.state == static_cast<uint32_t>(MemoryState::kReady);
  found.bytes = static_cast<uint64_t>(info.st_size);
  if (is_ready)
    found.descriptor = descriptor;
  else
    close(descriptor);
  return found;
}

/// Maps the memory that find_memory() found. Its layout has been compared. May throw.
void use_memory(Table* table, const Found& found) {
  table->descriptor = found.descriptor;
  try {
    map_memory(table);
    const log::Identity identity{found.head.store_id, 0, 0, 0};
    auto redo = value_or_throw(log::RedoFile::open(table->options.redo_log_file, identity));
    // As long as somebody uses the memory, no other server makes memory of the files.
    redo.file().claim(found.head.incarnation);
    table->redo = std::move(redo);
  } catch (...) {
    unmap_memory(table);
    throw;
  }
}

/// The worker goes on writing to the files that the memory was made from.
Status changed_files(const char* name) {
  return Status(ErrorCode::kUnsupported,
                std::string("the files of store table \"") + name + "\" cannot be changed while it is in memory")
      .with_hint("Change the options after a restart of the server, before somebody uses the table.");
}

/// Maps the memory if it exists. May throw.
bool attach(Table* table) {
  const Found found = find_memory(memory_path(table->relid));
  if (found.descriptor < 0) return false;
  if (found.head.layout != layout_hash(table->shape) || found.bytes != table->layout.bytes) {
    close(found.descriptor);
    throw_if_failed(changed_layout(table->name));
  }
  if (table->options.base_file != found.head.base_file || table->options.redo_log_file != found.head.redo_file) {
    close(found.descriptor);
    throw_if_failed(changed_files(table->name));
  }
  use_memory(table, found);
  return true;
}

/// Makes the memory. One session does so; the others wait for it.
void build(Table* table) {
  const LOCKTAG tag = tag_of(TableLock::kMemory, MyDatabaseId, table->relid);
  guard([&tag] { LockAcquire(&tag, ExclusiveLock, false, false); });
  if (!attach(table)) {
    make_memory(table, control()->incarnation, control()->tranche, layout_hash(table->shape));
    if (!attach(table)) throw_if_failed(Status(ErrorCode::kInternal, "the memory of a store table went away"));
  }
  guard([&tag] { LockRelease(&tag, ExclusiveLock, false); });
}

/// The files are the primary's, which is perhaps on the same machine. What it writes to them would be missing here, and
/// what is written here after a promotion would damage them.
void refuse_on_standby(const char* name) {
  if (!RecoveryInProgress()) return;
  throw_if_failed(Status(ErrorCode::kUnsupported,
                         std::string("store table \"") + name + "\" cannot be used while the server is a standby")
                      .with_hint("Its files belong to the primary server."));
}

Table* find_or_open(Relation relation) {
  refuse_on_standby(RelationGetRelationName(relation));
  const Oid relid = RelationGetRelid(relation);
  watch_catalogs();
  forget_gone_tables();
  const auto found = tables().find(relid);
  Table* known = found == tables().end() ? nullptr : found->second.get();
  const bool is_ready = known != nullptr && known->shared->state == static_cast<uint32_t>(MemoryState::kReady);
  if (is_ready && !known->is_stale) return known;
  auto table = describe(relation);
  if (is_ready && table->shape == known->shape && table->options.base_file == known->options.base_file &&
      table->options.redo_log_file == known->options.redo_log_file) {
    known->options = table->options;
    known->shape = table->shape;  // columns may have been renamed
    strlcpy(known->name, table->name, NAMEDATALEN);
    known->is_stale = false;
    return known;
  }
  if (!attach(table.get())) build(table.get());
  auto& place = tables()[relid];
  if (place != nullptr) retired().push_back(std::move(place));
  place = std::move(table);
  guard([] { ensure_worker(); });
  return place.get();
}

}  // namespace

Status changed_layout(const char* name) {
  return Status(ErrorCode::kUnsupported, std::string("columns, key or limit of store table \"") + name +
                                             "\" are not those that its files were made with")
      .with_hint("Change them back, or copy the rows into a new table.");
}

bool grow_memory(void* context, uint64_t offset, uint64_t bytes) {
  const auto* table = static_cast<const Table*>(context);
  // Before the file gets small pages there, which would have to be copied.
  if (table->memory != nullptr) {
    constexpr uint64_t kHugePage = ::strom::store::kHugePage;
    // What is in front of a chunk, or of new memory for long values, has memory already. What is behind a large chunk
    // will be needed soon.
    const bool is_dense = offset >= table->layout.chunk_begin;
    const uint64_t before = is_dense ? offset % kHugePage : 0;
    const uint64_t behind = is_dense && bytes >= kHugePage ? kHugePage - 1 : 0;
    ::strom::store::collapse(table->memory, offset - before, offset + bytes + behind);
  }
  return ::strom::store::allocate(table->descriptor, offset, bytes);
}

void shrink_memory(void* context, uint64_t offset, uint64_t bytes) {
  const auto* table = static_cast<const Table*>(context);
  fallocate(table->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
            static_cast<off_t>(bytes));
}

void map_memory(Table* table) {
  void* memory = ::strom::store::map_shared(table->descriptor, table->layout.bytes, PROT_READ | PROT_WRITE);
  if (memory == nullptr) throw_if_failed(base::os_error(errno, "could not map the memory of a store table"));
  table->memory = static_cast<uint8_t*>(memory);
  table->shared = reinterpret_cast<Shared*>(memory);
  table->rows = new rows::Rows(table->shape, table->layout, table->memory, &table->shared->rows);
  table->rows->set_grow(grow_memory, shrink_memory, table);
}

void unmap_memory(Table* table) {
  unmap_region(table);
  delete table->rows;
  table->rows = nullptr;
  if (table->memory != nullptr) munmap(table->memory, table->layout.bytes);
  table->memory = nullptr;
  table->shared = nullptr;
  if (table->descriptor >= 0) close(table->descriptor);
  table->descriptor = -1;
}

bool attach_without_catalogs(Table* table, const std::string& path) {
  const Found found = find_memory(path);
  if (found.descriptor < 0) return false;
  const Shared& head = found.head;
  table->relid = head.relation;
  strlcpy(table->name, head.name, NAMEDATALEN);
  table->options.base_file = head.base_file;
  table->options.redo_log_file = head.redo_file;
  auto base = log::BaseReader::open(head.base_file);
  if (!base.is_ok() || layout_hash(base.value().header().shape) != head.layout) {
    close(found.descriptor);
    return false;
  }
  table->shape = base.value().header().shape;
  table->columns.resize(table->shape.columns.size());
  table->layout = rows::layout_of(table->shape, kHeaderBytes);
  use_memory(table, found);
  return true;
}

bool is_store_table(Relation relation) {
  return relation->rd_rel->relkind == RELKIND_FOREIGN_TABLE && is_store_table(RelationGetRelid(relation));
}

bool is_store_table(Oid foreign_table) {
  const ForeignServer* server = GetForeignServer(GetForeignTable(foreign_table)->serverid);
  return strcmp(GetForeignDataWrapper(server->fdwid)->fdwname, "gstore_fdw") == 0;
}

Table* open_table(Relation relation) {
  return boundary::entry([relation] { return find_or_open(relation); });
}

}  // namespace strom::pg::store
