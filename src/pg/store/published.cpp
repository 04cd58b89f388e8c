#include "pg/store/published.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/os_error.hpp"
#include "pg/boundary/boundary.hpp"
#include "pg/store/control.hpp"
#include "pg/store/server_headers.hpp"
#include "pg/store/transaction.hpp"
#include "pg/store/visibility.hpp"
#include "store/huge_pages.hpp"
#include "store/rows/row_payload.hpp"

namespace strom::pg::store {

using boundary::guard;
using boundary::throw_if_failed;

namespace {

constexpr const char* kSuffix = ".kv.";
constexpr uint32_t kClassBits = 8;

bool allocate(int descriptor, uint8_t* memory, uint64_t offset, uint64_t bytes) {
  // Before the file gets small pages there, which would have to be copied. What is in front has memory already.
  ::strom::store::collapse(memory, offset - offset % ::strom::store::kHugePage, offset + bytes);
  return ::strom::store::allocate(descriptor, offset, bytes);
}

/// A Grow function for region::Writer; `context` points to the Region, which has the descriptor.
bool grow_region(void* context, uint64_t offset, uint64_t bytes) {
  const auto* region = static_cast<const Region*>(context);
  return allocate(region->descriptor, region->memory, offset, bytes);
}

std::string path_of(const Table* table, uint32_t number) {
  return region_path(memory_path(table->shared->database, table->shared->relation), number);
}

uint8_t* map_file(int descriptor, uint64_t bytes) {
  void* memory = ::strom::store::map_shared(descriptor, bytes, PROT_READ | PROT_WRITE);
  if (memory != nullptr) return static_cast<uint8_t*>(memory);
  const int error = errno;
  close(descriptor);
  throw_if_failed(base::os_error(error, "could not map the published region of a store table"));
  return nullptr;
}

/// May throw.
void map_region(Table* table, uint32_t number) {
  const std::string path = path_of(table, number);
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) {
    throw_if_failed(base::os_error(errno, "could not open file \"" + path + "\""));
    return;
  }
  struct stat info{};
  if (fstat(descriptor, &info) != 0) info.st_size = 0;
  const auto bytes = static_cast<uint64_t>(info.st_size);
  uint8_t* memory = map_file(descriptor, bytes);
  table->region = new Region{number, descriptor, bytes, memory, region::Writer(memory, &table->shared->region_writer)};
  table->region->writer.set_grow(grow_region, table->region);
}

static_assert(rows::kMaxRowBytes + rows::kPayloadOverhead <= region::kMaxPayload);

/// The size of the region. Values of variable length have as much room as the table's heap, beside that of the rows.
region::Plan plan_for(const Table* table, const std::string& description) {
  constexpr uint64_t kVersions = 2;  // one transaction may change every row
  // A row with a NULL has the bitmap, and one without has every value.
  const auto key = static_cast<size_t>(table->key());
  uint64_t most = (table->shape.columns.size() + 7) / 8, key_bytes = 0;
  for (size_t i = 0; i < table->shape.columns.size(); ++i) {
    const rows::Column& column = table->shape.columns[i];
    const bool is_fixed = column.form == rows::Form::kFixed;
    if (i == key)
      key_bytes = is_fixed ? column.width : rows::kInlineBytes;
    else
      most += is_fixed ? column.width : sizeof(uint32_t) + rows::kInlineBytes;
  }
  const uint64_t record = region::record_bytes(key_bytes, most);
  region::Plan plan;
  plan.max_rows = table->shape.max_rows;
  plan.extents_bytes =
      region::extents_for(table->shape.max_rows * kVersions, record) + kVersions * table->layout.heap_bytes;
  plan.description = description;
  plan.checksum_kind = table->options.checksum;
  return plan;
}

/// Writes every version that has not ended. No other session has changes.
void fill(const Table* table, Region* to) {
  std::vector<rows::Cell> cells(table->columns.size());
  std::vector<uint64_t> record;
  const rows::Rows& rows = *table->rows;
  for (Slot slot = 1; slot < rows.used_slots(); ++slot) {
    constexpr Slot kOften = 0xFFFF;
    if ((slot & kOften) == 0) boundary::check_for_interrupts();
    if (!rows.has_row(slot)) continue;
    for (uint32_t i = 0; i < cells.size(); ++i) cells[i] = rows.read(slot, i);
    const uint64_t bytes = record_bytes_of(table, cells.data());
    record.resize(std::max<size_t>(record.size(), bytes / sizeof(uint64_t)));
    const Result<uint64_t> extent = to->writer.reserve(bytes);
    if (!extent.is_ok()) throw_if_failed(extent.status());
    const uint64_t packed = extent.value() << kClassBits;
    publish_row(table, to, slot, packed, {cells.data(), record.data()});
  }
}

/// Makes a file with an empty region and maps it as table->region. May throw.
void make_region(Table* table, uint32_t number) {
  const std::string path = path_of(table, number), description = rows::encode_shape(table->shape);
  region::Plan plan = plan_for(table, description);
  uint64_t random[3] = {0, 0, 0};
  if (!guard([&random] { return pg_strong_random(&random, sizeof(random)); }))
    throw_if_failed(Status(ErrorCode::kInternal, "could not generate a random number"));
  plan.region_id = random[0];
  plan.seeds[0] = random[1];
  plan.seeds[1] = random[2];
  plan.epoch = table->shared->incarnation;
  const region::Geometry geometry = region::geometry_of(plan);
  constexpr mode_t kOwnerOnly = 0600;
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly);
  if (descriptor < 0) throw_if_failed(base::os_error(errno, "could not create file \"" + path + "\""));
  if (ftruncate(descriptor, static_cast<off_t>(geometry.file_bytes)) != 0) {
    const int error = errno;
    close(descriptor);
    throw_if_failed(base::os_error(error, "could not set the size of file \"" + path + "\""));
  }
  uint8_t* memory = map_file(descriptor, geometry.file_bytes);
  // Before anything reads the header.
  if (!allocate(descriptor, memory, 0, geometry.extents_offset)) {
    munmap(memory, geometry.file_bytes);
    close(descriptor);
    throw_if_failed(Status(ErrorCode::kOutOfMemory, "no memory is left for the published region of a store table"));
  }
  table->region = new Region{number, descriptor, geometry.file_bytes, memory,
                             region::Writer(memory, &table->shared->region_writer)};
  // Generations go on where the previous region's have ended: a client may compare with one of those.
  const uint32_t generation = table->shared->region_writer.generation;
  table->shared->region_writer = {};
  table->shared->region_writer.generation = generation;
  table->region->writer = region::Writer::create(memory, plan, &table->shared->region_writer);
  table->region->writer.set_grow(grow_region, table->region);
}

void set_lacks_region(const Table* table, bool lacks) {
  __atomic_store_n(&table->shared->lacks_region, lacks ? 1U : 0U, __ATOMIC_RELEASE);
}

/// Overwrites the region's memory behind the header with zeros, so that a network card with access to its pages reads
/// zeros.
void write_zeros(int descriptor, off_t bytes) {
  static const char zeros[64 << 10] = {};
  off_t at = region::kHeaderBytes;
  while (at < bytes && (at = lseek(descriptor, at, SEEK_DATA)) >= 0) {
    const off_t hole = lseek(descriptor, at, SEEK_HOLE);
    const off_t end = hole < 0 ? bytes : std::min(hole, bytes);
    while (at < end) {
      const ssize_t written =
          pwrite(descriptor, zeros, std::min<size_t>(sizeof(zeros), static_cast<size_t>(end - at)), at);
      if (written <= 0) return;
      at += written;
    }
  }
}

/// A region that was made for a definition which its transaction may take back.
struct Doubtful {
  const Table* table;
  int level;  // of nested transactions
};

std::vector<Doubtful>& doubtful() {
  static auto* list = new std::vector<Doubtful>();
  return *list;
}

/// Takes the region, if there is one, from its clients. The worker has another one made, unless this process makes it,
/// or the table is not to have one. This process's mapping stays.
void retire_region(const Table* table, region::State state) {
  set_lacks_region(table, true);
  const uint32_t number = table->shared->region;
  if (number == 0) return;
  __atomic_store_n(&table->shared->region, 0U, __ATOMIC_RELEASE);
  retire_region_file(path_of(table, number), state);
}

/// The transaction still has the table to itself.
void lose_region(const Table* table) {
  if (table->shared->region != 0) retire_region(table, region::State::kMoved);
}

void lose_at_abort(const Table* table) {
  guard([] { watch_transactions(); });
  doubtful().push_back({table, guard([] { return GetCurrentTransactionNestLevel(); })});
}

}  // namespace

void settle_regions(XactEvent event) {
  if (event == XACT_EVENT_PRE_PREPARE && !doubtful().empty())
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot PREPARE a transaction that has altered store tables")));
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT) return;
  if (event == XACT_EVENT_ABORT)
    for (const Doubtful& one : doubtful()) lose_region(one.table);
  doubtful().clear();
}

void settle_regions_of_subtransaction(SubXactEvent event) {
  const int level = GetCurrentTransactionNestLevel();
  if (event == SUBXACT_EVENT_COMMIT_SUB)
    for (Doubtful& one : doubtful()) one.level = std::min(one.level, level - 1);
  if (event != SUBXACT_EVENT_ABORT_SUB) return;
  for (const Doubtful& one : doubtful())
    if (one.level >= level) lose_region(one.table);
  std::erase_if(doubtful(), [level](const Doubtful& one) { return one.level >= level; });
}

void unmap_region(Table* table) {
  if (table->region == nullptr) return;
  munmap(table->region->memory, table->region->bytes);
  close(table->region->descriptor);
  delete table->region;
  table->region = nullptr;
}

uint64_t now_us() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

std::string region_path(const std::string& memory, uint32_t number) {
  return memory + kSuffix + std::to_string(number);
}

bool is_region_path(const std::string& path) { return path.find(kSuffix) != std::string::npos; }

void retire_region_file(const std::string& path, region::State state) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0) return;
  struct stat info{};
  const auto word = static_cast<uint32_t>(state);
  if (fstat(descriptor, &info) == 0 && info.st_size > static_cast<off_t>(region::kHeaderBytes) &&
      pwrite(descriptor, &word, sizeof(word), offsetof(region::Header, state)) == sizeof(word)) {
    uint64_t pinned = 0;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (pread(descriptor, &pinned, sizeof(pinned), offsetof(region::Header, pinned)) == sizeof(pinned) && pinned != 0)
      write_zeros(descriptor, info.st_size);
    fallocate(descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, region::kHeaderBytes,
              info.st_size - static_cast<off_t>(region::kHeaderBytes));
  }
  close(descriptor);
  unlink(path.c_str());
}

Region* region_of(Table* table) {
  const uint32_t number = __atomic_load_n(&table->shared->region, __ATOMIC_ACQUIRE);
  if (table->region != nullptr && table->region->number == number) return table->region;
  if (table->region == nullptr && number == 0) return nullptr;
  return boundary::entry([=]() -> Region* {
    unmap_region(table);
    if (number != 0) map_region(table, number);
    return table->region;
  });
}

void build_region(Table* table) {
  guard([table] { forget_unchanged(table); });
  unmap_region(table);
  const uint32_t number = table->shared->last_region + 1;
  table->shared->last_region = number;
  table->shared->reader_count = 0;
  // The new region takes over the state of the previous one. If making it fails, the table lacks one.
  retire_region(table, region::State::kMoved);
  try {
    make_region(table, number);
    fill(table, table->region);
  } catch (...) {
    unmap_region(table);
    unlink(path_of(table, number).c_str());
    throw;
  }
  table->region->writer.beat(now_us());
  table->region->writer.set_state(region::State::kReady);
  __atomic_store_n(&table->shared->region, number, __ATOMIC_RELEASE);
  set_lacks_region(table, false);
}

void drop_region(Table* table) {
  if (table->shared->region == 0) return;
  guard([table] { forget_unchanged(table); });
  unmap_region(table);
  // The table lacks a region then, in case that the transaction takes back its change of the option.
  retire_region(table, region::State::kDropped);
}

bool lacks_region(const Table* table) { return __atomic_load_n(&table->shared->lacks_region, __ATOMIC_ACQUIRE) != 0; }

void restore_region(Oid relid) {
  if (get_rel_relkind(relid) != RELKIND_FOREIGN_TABLE || !has_memory(relid)) return;
  Relation relation = try_relation_open(relid, AccessShareLock);
  if (relation == nullptr) return;
  const Table* seen = is_store_table(relation) ? open_table(relation) : nullptr;
  const bool is_lost = seen != nullptr && lacks_region(seen);
  if (is_lost && !seen->options.kv_access) set_lacks_region(seen, false);
  const bool is_wanted = is_lost && seen->options.kv_access;
  table_close(relation, AccessShareLock);
  if (!is_wanted) return;
  relation = table_open(relid, AccessExclusiveLock);
  Table* table = open_table(relation);
  if (lacks_region(table) && table->options.kv_access) boundary::entry([table] { build_region(table); });
  table_close(relation, NoLock);
}

void follow_kv_option(Table* table, Relation relation) {
  const Region* own = guard([table] { return region_of(table); });
  bool is_right = (own != nullptr) == table->options.kv_access;
  if (own != nullptr && is_right) {
    const region::Header& header = own->writer.header();
    const std::string_view description(reinterpret_cast<const char*>(own->memory + header.description_offset),
                                       header.description_bytes);
    is_right = description == rows::encode_shape(table->shape) &&
               header.checksum_kind == static_cast<uint32_t>(table->options.checksum);
  }
  // Without a region, another session may make one by the options before this transaction, while it is prepared.
  is_right = is_right && !lacks_region(table);
  if (is_right || !guard([relation] { return CheckRelationLockedByMe(relation, AccessExclusiveLock, true); })) return;
  if (has_changes(table))
    guard([table] {
      ereport(ERROR, (errcode(ERRCODE_OBJECT_IN_USE),
                      errmsg("store table \"%s\" has changes of this transaction", table->name)));
    });
  if (table->options.kv_access)
    build_region(table);
  else
    drop_region(table);
  lose_at_abort(table);
}

bool is_live(const Table* table, Slot slot) {
  const rows::Version& version = table->rows->look(slot);
  rows::Xids xids;
  uint32_t aux;
  // Otherwise the bits may be those of another version in the slot.
  do {
    xids = rows::Rows::xids(version);
    aux = __atomic_load_n(&version.aux, __ATOMIC_ACQUIRE);
  } while (rows::Rows::xids(version) != xids);
  if (xids.xmin == rows::kNobody || (aux & kXmaxCommitted) != 0) return false;
  if (xids.xmin != rows::kFrozen && (aux & kXminCommitted) == 0) return false;
  return xids.xmax == rows::kNobody || !TransactionIdIsCurrentTransactionId(xids.xmax);
}

Slot find_live(const Table* table, const rows::Cell& key) {
  const rows::Rows& rows = *table->rows;
  const uint64_t bucket = rows.bucket_of(key);
  LWLock* lock = table->bucket_lock(bucket);
  LWLockAcquire(lock, LW_SHARED);
  Slot slot = rows.head(bucket);
  while (slot != rows::kNoSlot && !(is_live(table, slot) && rows.has_key(slot, key))) slot = rows.next(slot);
  LWLockRelease(lock);
  return slot;
}

uint64_t record_bytes_of(const Table* table, const rows::Cell* cells) {
  const rows::PayloadSize payload = rows::payload_size(table->shape, {cells, table->columns.size()});
  return region::record_bytes(cells[table->key()].bytes, payload.bytes);
}

uint64_t reserve_extent(const Table* table, Region* to, uint64_t bytes) {
  boundary::RaisableError error;
  uint64_t extent = 0;
  {
    LWLockAcquire(table->lock(kRegionLock), LW_EXCLUSIVE);
    const Result<uint64_t> offset = to->writer.reserve(bytes);
    LWLockRelease(table->lock(kRegionLock));
    if (offset.is_ok())
      extent = (offset.value() << kClassBits) | ::strom::store::class_of(bytes);
    else
      error = boundary::describe(offset.status());
  }
  if (extent == 0) boundary::raise(error);
  return extent;
}

void release_in_region(Region* to, uint64_t extent) noexcept {
  to->writer.release(extent >> kClassBits, ::strom::store::bytes_of_class(extent & ((1U << kClassBits) - 1)));
}

void release_extent(const Table* table, Region* to, uint64_t extent) {
  LWLockAcquire(table->lock(kRegionLock), LW_EXCLUSIVE);
  release_in_region(to, extent);
  LWLockRelease(table->lock(kRegionLock));
}

void publish_row(const Table* table, Region* to, Slot slot, uint64_t extent, const PublishSpace& space) noexcept {
  const std::span<rows::Cell> row(space.cells, table->columns.size());
  table->rows->read_row(slot, row);
  const rows::Cell& key = space.cells[table->key()];
  const rows::PayloadSize payload = rows::payload_size(table->shape, row);
  const std::span<uint8_t> image(reinterpret_cast<uint8_t*>(space.record),
                                 region::record_bytes(key.bytes, payload.bytes));
  uint8_t* at = region::begin_record(image, key.view(), static_cast<uint32_t>(payload.bytes), payload.has_nulls);
  rows::write_payload(table->shape, row, payload.has_nulls, at);
  to->writer.publish(image, extent >> kClassBits, false);
}

void publish_end(const Table* table, Region* to, const rows::Cell& key) noexcept {
  if (find_live(table, key) == rows::kNoSlot) to->writer.erase(key.view());
}

}  // namespace strom::pg::store
