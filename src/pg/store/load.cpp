#include "pg/store/load.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/store/control.hpp"
#include "pg/store/memory_file.hpp"
#include "pg/store/published.hpp"
#include "pg/store/server_headers.hpp"
#include "store/huge_pages.hpp"
#include "store/log/base_file.hpp"
#include "store/rows/row_image.hpp"

namespace strom::pg::store {

using boundary::guard;
using boundary::throw_if_failed;
using boundary::value_or_throw;

namespace {

uint64_t next_xid() {
  return U64FromFullTransactionId(guard([] { return ReadNextFullTransactionId(); }));
}

/// Whether a transaction has committed, by the server's record of commits. Caches the last answer.
class Outcomes {
 public:
  /// The oldest transaction that was asked about, or `none`.
  uint64_t oldest_or(uint64_t none) const { return std::min(oldest_, none); }

  bool did_commit(uint64_t xid) {
    if (xid != last_) {
      last_ = xid;
      oldest_ = std::min(oldest_, xid);
      const auto id = static_cast<TransactionId>(xid);
      committed_ = guard([id] { return TransactionIdDidCommit(id); });
    }
    return committed_;
  }

 private:
  uint64_t last_ = 0, oldest_ = UINT64_MAX;
  bool committed_ = false;
};

/// Fills new memory from the files.
class Loader {
 public:
  explicit Loader(Table* table) : table_(*table) {}

  void load() {
    auto base = value_or_throw(log::BaseReader::open(table_.options.base_file));
    check(base.header());
    table_.redo = value_or_throw(log::RedoFile::open(table_.options.redo_log_file, base.header().identity));
    if (table_.redo.file().is_claimed(table_.shared->incarnation))
      throw_if_failed(Status(ErrorCode::kInUse, std::string("the memory of store table \"") + table_.name +
                                                    "\" has been removed from /dev/shm while processes use it")
                          .with_hint("Restart the server. Nobody may remove its files there: see RemoveIPC in "
                                     "logind.conf."));
    table_.redo.file().claim(table_.shared->incarnation);
    if (table_.redo.file().has_other(table_.shared->incarnation))
      throw_if_failed(Status(ErrorCode::kInUse, "another server uses file \"" + table_.options.redo_log_file + "\"")
                          .with_hint("Stop the other server, which may run on a copy of this one's data directory."));
    const uint64_t now = next_xid();
    if (base.header().next_xid > now) throw_if_failed(ahead(table_.options.base_file));
    uint64_t count = 0;
    throw_if_failed(base.read_rows([&](const log::BaseRow& row, std::span<const rows::Cell> cells) {
      if ((++count & 0xFFF) == 0) boundary::check_for_interrupts();
      if (row.xmin != 0 || row.xmax != 0) table_.shared->log.has_ids = 1;
      if (row.xmin != 0 && !outcomes_.did_commit(row.xmin)) return Status::ok();
      if (row.xmax != 0 && outcomes_.did_commit(row.xmax)) return Status::ok();
      return insert(row.slot, cells);
    }));
    replay(base.header().position, now);
    link_all();
    Shared& shared = *table_.shared;
    shared.store_id = base.header().identity.store_id;
    shared.log.base = base.header().position;
    // The files keep the ids until the next checkpoint.
    shared.oldest_xid = outcomes_.oldest_or(now);
  }

 private:
  void check(const log::BaseHeader& header) const {
    const uint64_t system = GetSystemIdentifier();
    const log::Identity& identity = header.identity;
    if (identity.system_id != system || identity.database != MyDatabaseId || identity.relation != table_.relid)
      throw_if_failed(
          Status(ErrorCode::kCorruptFile, "base file \"" + table_.options.base_file + "\" belongs to another table")
              .with_detail("It was made for table " + std::to_string(identity.relation) + " of database " +
                           std::to_string(identity.database) + " in cluster " + std::to_string(identity.system_id) +
                           "."));
    if (!(header.shape == table_.shape)) throw_if_failed(changed_layout(table_.name));
  }

  static Status ahead(const std::string& path) {
    return Status(ErrorCode::kCorruptFile, "file \"" + path + "\" is newer than the database cluster")
        .with_hint("Files of store tables are not part of base backups: restore them as of the same time.");
  }

  Status insert(Slot slot, std::span<const rows::Cell> cells) {
    STROM_TRY(table_.rows->claim_slot(slot));
    if (table_.rows->has_row(slot))
      return Status(ErrorCode::kCorruptFile,
                    "files of store table \"" + std::string(table_.name) + "\" have two rows in one slot");
    STROM_TRY(table_.rows->write(slot, cells));
    table_.rows->load_version(slot);
    ++table_.shared->row_count;
    return Status::ok();
  }

  Status end(Slot slot) {
    if (slot == rows::kNoSlot || slot >= table_.rows->used_slots() || !table_.rows->has_row(slot))
      return Status(ErrorCode::kCorruptFile,
                    "the redo log of store table \"" + std::string(table_.name) + "\" ends a row that is not there");
    table_.rows->free_values(slot);
    table_.rows->unload_version(slot);
    --table_.shared->row_count;
    return Status::ok();
  }

  Status apply(std::string_view operations) {
    while (!operations.empty() && operations.front() != 0) {
      const auto operation = static_cast<log::Operation>(operations.front());
      Slot slot = rows::kNoSlot;
      bool is_good = operations.size() >= log::kOperationBytes;
      if (is_good) {
        std::memcpy(&slot, operations.data() + 1, sizeof(slot));
        operations.remove_prefix(log::kOperationBytes);
      }
      if (is_good && operation == log::Operation::kEnd) {
        STROM_TRY(end(slot));
        continue;
      }
      is_good = is_good && operation == log::Operation::kInsert;
      if (!is_good || !rows::take_row(table_.shape, &operations, cells_))
        return Status(ErrorCode::kCorruptFile,
                      "redo log \"" + table_.options.redo_log_file + "\" has an operation that is not known");
      STROM_TRY(insert(slot, cells_));
    }
    return Status::ok();
  }

  /// The transactions whose last record is not in the log: without waiting for the device, a transaction may have
  /// committed before a crash lost the end of its redo.
  std::unordered_set<uint64_t> cut_transactions(uint64_t begin) const {
    std::unordered_set<uint64_t> cut;
    uint64_t count = 0;
    const auto each = [&](const log::RecordHeader& header, std::string_view) {
      if ((++count & 0xFF) == 0) boundary::check_for_interrupts();
      if (header.magic == log::kPartMagic)
        cut.insert(header.xid);
      else
        cut.erase(header.xid);
      return Status::ok();
    };
    value_or_throw(table_.redo.replay(begin, each));
    return cut;
  }

  void replay(uint64_t begin, uint64_t next) {
    cells_.resize(table_.shape.columns.size());
    uint64_t kept = 0, count = 0;
    const std::unordered_set<uint64_t> cut = cut_transactions(begin);
    const auto each = [&](const log::RecordHeader& header, std::string_view operations) {
      if ((++count & 0xFF) == 0) boundary::check_for_interrupts();
      if (header.xid >= next) return ahead(table_.options.redo_log_file);
      if (cut.contains(header.xid) || !outcomes_.did_commit(header.xid)) return Status::ok();
      ++kept;
      return apply(operations);
    };
    const auto replayed = value_or_throw(table_.redo.replay(begin, each));
    LogState& state = table_.shared->log;
    state.appended = state.written = state.durable = replayed.end;
    report(begin, replayed, kept);
  }

  void report(uint64_t begin, const log::RedoFile::Replayed& replayed, uint64_t kept) const {
    const char* name = table_.name;
    guard([&] {
      if (replayed.records != 0)
        ereport(LOG, (errmsg("gstore_fdw: redo applied [%s] - %lu of %lu records, pos %lu => %lu", name, kept,
                             replayed.records, begin, replayed.end)));
      if (replayed.is_torn)
        ereport(LOG, (errmsg("gstore_fdw: redo log of %s ends with a torn record at position %lu, %lu bytes of a "
                             "transaction that did not commit are dropped",
                             name, replayed.end, replayed.torn_bytes)));
    });
  }

  /// Heads of buckets lie at random places. So the memory of each one is asked for some rows before it is needed.
  void link_rows() {
    struct Waiting {
      uint64_t bucket;
      Slot slot;
    };
    constexpr uint64_t kTogether = 32;
    std::array<Waiting, kTogether> waiting;
    const rows::Rows& all = *table_.rows;
    uint64_t count = 0, linked = 0;
    const auto link_next = [&] {
      const Waiting& next = waiting[linked++ % kTogether];
      all.link(next.bucket, next.slot);
    };
    for (Slot slot = 1; slot < all.used_slots(); ++slot) {
      if (!all.has_row(slot)) continue;
      if (count - linked == kTogether) link_next();
      const uint64_t bucket = all.bucket_of(slot);
      all.fetch_head(bucket);
      waiting[count++ % kTogether] = {bucket, slot};
    }
    while (linked < count) link_next();
  }

  void link_all() {
    if (table_.key() >= 0) link_rows();
    table_.rows->free_unclaimed();
  }

  Table& table_;
  Outcomes outcomes_;
  std::vector<rows::Cell> cells_;
};

void make_file(Table* table, const std::string& path) {
  constexpr mode_t kOwnerOnly = 0600;
  table->descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly);
  if (table->descriptor < 0) throw_if_failed(base::os_error(errno, "could not create file \"" + path + "\""));
  if (ftruncate(table->descriptor, static_cast<off_t>(table->layout.bytes)) != 0)
    throw_if_failed(base::os_error(errno, "could not set the size of file \"" + path + "\""));
  if (!grow_memory(table, 0, table->layout.head_bytes))
    throw_if_failed(Status(ErrorCode::kOutOfMemory, "no memory is left for a store table")
                        .with_detail("Folder \"/dev/shm\" has no room for " + std::to_string(table->layout.head_bytes) +
                                     " bytes."));
}

void report_load(const Table& table) {
  const rows::Rows& all = *table.rows;
  const uint64_t chunks = (all.used_slots() + table.layout.chunk_rows - 1) / table.layout.chunk_rows;
  guard([&] {
    ereport(LOG, (errmsg("gstore_fdw: initial load [%s] - main %lu bytes, extra %lu bytes", table.name,
                         table.layout.head_bytes + chunks * table.layout.chunk_bytes, all.heap_used())));
  });
}

}  // namespace

void make_memory(Table* table, uint64_t incarnation, int tranche, uint64_t layout_hash) {
  const std::string path = memory_path(table->relid), unfinished = path + ".new";
  try {
    make_file(table, unfinished);
    map_memory(table);
    ::strom::store::collapse(table->memory, 0, table->layout.head_bytes);
    Shared& shared = *table->shared;
    shared.magic = kMemoryMagic;
    shared.version = kMemoryVersion;
    shared.incarnation = incarnation;
    shared.layout = layout_hash;
    shared.database = MyDatabaseId;
    shared.relation = table->relid;
    strlcpy(shared.base_file, table->options.base_file.c_str(), sizeof(shared.base_file));
    strlcpy(shared.redo_file, table->options.redo_log_file.c_str(), sizeof(shared.redo_file));
    strlcpy(shared.name, table->name, sizeof(shared.name));
    for (auto& lock : shared.locks) LWLockInitialize(&lock.lock, tranche);
    if (guard([&shared] { return pg_strong_random(&shared.rows.seed, sizeof(shared.rows.seed)); }) == false)
      throw_if_failed(Status(ErrorCode::kInternal, "could not generate a random number"));
    // Generations of an earlier run of the server are not met again soon.
    if (guard([&shared] {
          return pg_strong_random(&shared.region_writer.generation, sizeof(shared.region_writer.generation));
        }) == false)
      throw_if_failed(Status(ErrorCode::kInternal, "could not generate a random number"));
    Loader(table).load();
    report_load(*table);
    if (table->options.kv_access) build_region(table);
    shared.state = static_cast<uint32_t>(MemoryState::kReady);
    if (rename(unfinished.c_str(), path.c_str()) != 0)
      throw_if_failed(base::os_error(errno, "could not rename file \"" + unfinished + "\""));
    unmap_memory(table);
  } catch (...) {
    if (table->shared != nullptr) drop_region(table);
    unmap_memory(table);
    unlink(unfinished.c_str());
    throw;
  }
}

log::Identity new_identity(Oid relid) {
  log::Identity identity{0, GetSystemIdentifier(), MyDatabaseId, relid};
  if (!guard([&identity] { return pg_strong_random(&identity.store_id, sizeof(identity.store_id)); }))
    throw_if_failed(Status(ErrorCode::kInternal, "could not generate a random number"));
  return identity;
}

/// Frees the memory of a file that nobody uses any more, though sessions may still have it mapped.
static void empty_memory(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat info{};
  const auto state = static_cast<uint32_t>(MemoryState::kDropped);
  // The worker may hold locks at this moment, so the part with the locks stays.
  constexpr off_t kPage = 4096, kKept = (sizeof(Shared) + kPage - 1) / kPage * kPage;
  if (fstat(descriptor, &info) == 0 && info.st_size > kKept &&
      pwrite(descriptor, &state, sizeof(state), offsetof(Shared, state)) == sizeof(state))
    fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, kKept, info.st_size - kKept);
  close(descriptor);
}

/// Retires the regions of a table that is gone.
static void retire_regions(const std::string& memory) {
  const int descriptor = open(memory.c_str(), O_RDONLY | O_CLOEXEC);
  uint32_t number = 0;
  if (descriptor >= 0 && pread(descriptor, &number, sizeof(number), offsetof(Shared, region)) == sizeof(number) &&
      number != 0)
    retire_region_file(region_path(memory, number), region::State::kDropped);
  if (descriptor >= 0) close(descriptor);
}

static void remove_path(const std::string& path) {
  if (!path.empty() && unlink(path.c_str()) != 0 && errno != ENOENT)
    ereport(LOG, (errcode_for_file_access(), errmsg("could not remove file \"%s\": %m", path.c_str())));
}

/// True if the file is one of this table. `found` is what its header says.
static bool is_own_file(Oid relid, const Result<log::Identity>& found) {
  if (!found.is_ok()) return false;
  const log::Identity& identity = found.value();
  return identity.relation == relid && identity.database == MyDatabaseId && identity.system_id == GetSystemIdentifier();
}

static bool is_used_elsewhere(const std::string& path) {
  const auto file = log::File::open(path, O_RDONLY);
  return file.is_ok() && file.value().has_other(control()->incarnation);
}

static void remove_own_file(const std::string& path, bool is_own) {
  if (path.empty() || access(path.c_str(), F_OK) != 0) return;
  if (is_own) return remove_path(path);
  ereport(LOG, (errmsg("file \"%s\" of a dropped store table is left alone", path.c_str()),
                errdetail("It is damaged, or belongs to a table of another database or server.")));
}

void remove_files(Oid relid, const std::string& base_file, const std::string& redo_file, const std::string& memory) {
  if (!memory.empty()) {
    retire_regions(memory);
    empty_memory(memory);
    remove_path(memory);
  }
  const bool is_elsewhere = !redo_file.empty() && is_used_elsewhere(redo_file);
  const auto base = log::BaseReader::open(base_file);
  const bool is_base = base.is_ok() && is_own_file(relid, base.value().header().identity);
  remove_own_file(base_file, is_base && !is_elsewhere);
  // A server that was ended during a checkpoint leaves this one.
  if (is_base && !is_elsewhere) remove_path(base_file + log::kNewSuffix);
  remove_own_file(redo_file, is_own_file(relid, log::RedoFile::identity_of(redo_file)) && !is_elsewhere);
}

}  // namespace strom::pg::store
