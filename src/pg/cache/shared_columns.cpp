#include "pg/cache/shared_columns.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "pg/boundary/boundary.hpp"
#include "pg/cache/segment.hpp"

namespace strom::pg::cache {

using boundary::guard;
using format::heap::kImageAlignment;

namespace {

constexpr uint64_t kLayout = 3;  // raise this when the structs in shared memory change
constexpr uint32_t kMostSegments = 128;
constexpr uint32_t kUsualSegments = 64;  // the memory that is allowed is divided by this
constexpr uint64_t kSmallestSegment = uint64_t{4} << 20, kLargestSegment = uint64_t{1} << 30;
constexpr uint64_t kBytesForEntry = 16 * 1024;
constexpr uint32_t kFewestEntries = 1024, kMostEntries = 1 << 20;
constexpr uint32_t kTables = 8192, kTableWays = 8;  // a table may use any of kTableWays places, chosen by its hash
constexpr uint32_t kNone = 0xFFFFFFFF;
constexpr BlockNumber kBitsOfPage = 2;  // in the visibility map
constexpr BlockNumber kPagesOfMapPage = (BLCKSZ - MAXALIGN(SizeOfPageHeaderData)) * BITS_PER_BYTE / kBitsOfPage;
// The server empties this folder when it starts, together with other temporary files.
constexpr char kFolder[] = "base/" PG_TEMP_FILES_DIR;
constexpr char kPath[] = "base/" PG_TEMP_FILES_DIR "/" PG_TEMP_FILE_PREFIX "_strom_columns";

}  // namespace

BlockNumber group_begin(BlockNumber block) {
  const BlockNumber in_page = block % kPagesOfMapPage;
  return block - in_page % kGroupPages;
}

BlockNumber group_end(BlockNumber block) {
  const BlockNumber map_page = block - block % kPagesOfMapPage;
  return std::min(group_begin(block) + kGroupPages, map_page + kPagesOfMapPage);
}

struct SharedColumns::Entry {
  GroupId group;
  XLogRecPtr version;
  ColumnId column;
  format::heap::ImageShape shape;
  uint64_t offset;
  uint32_t segment;
  uint32_t size;             // 0: cannot be cached
  uint32_t next_in_bucket;   // or the next in the list of free entries
  uint32_t next_in_segment;  // links entries whose bytes lie in the segment, replaced ones included
  bool in_bucket;
};

struct SharedColumns::Control {
  struct Segment {
    dsm_handle handle;
    uint32_t first_entry;
    uint64_t used;
    pg_atomic_uint64 last_use;
    pg_atomic_uint32 pins;
  };
  struct Table {
    compat::FileId file;
    pg_atomic_uint32 filler;   // the process whose scan fills the cache, or 0
    uint64_t last, previous;   // scans, by their numbers
    pg_atomic_uint64 lacking;  // bytes that the last filling scan had no room for
  };

  uint64_t magic;
  TimestampTz server_start;
  uint64_t incarnation;
  int tranche;
  LWLock lock;  // protects all that follows except atomics
  uint64_t segment_bytes;
  uint32_t entries, buckets;
  uint64_t clock;
  uint32_t segment_count, open_segment, free_entry;
  Segment segments[kMostSegments];
  Table tables[kTables];

  uint32_t* bucket(uint32_t i) { return reinterpret_cast<uint32_t*>(this + 1) + i; }
  Entry* entry(uint32_t i) { return reinterpret_cast<Entry*>(bucket(buckets)) + i; }
  uint32_t* bucket_of(const GroupId& group) {
    return bucket(hash_bytes(reinterpret_cast<const unsigned char*>(&group), sizeof group) & (buckets - 1));
  }
  static size_t size(uint32_t entries, uint32_t buckets) {
    return sizeof(Control) + buckets * sizeof(uint32_t) + entries * sizeof(Entry);
  }

  bool may_grow() const { return segment_count < std::min<uint64_t>(kMostSegments, allowed_bytes() / segment_bytes); }
  void set_up(uint64_t bytes, uint32_t entry_count, uint32_t bucket_count);
  void unlink(uint32_t index);
  void empty(uint32_t segment);
  uint32_t victim(uint64_t evictable);
  bool free_entries(size_t count, uint64_t evictable);
};

namespace {

using Control = SharedColumns::Control;

// Sessions of one server may run different builds if the library was replaced meanwhile.
constexpr uint64_t kMagic =
    (0x6d756c6f43 * 31 + kLayout) * 1000003 + sizeof(Control) * 4099 + sizeof(SharedColumns::Entry);

// What this process has attached; it stays attached until the process ends.
SharedColumns* attached = nullptr;
uint8_t* mapped[kMostSegments];
uint32_t held_pins[kMostSegments];
bool refused = false;  // this server gives no shared memory

class Locked {
 public:
  Locked(LWLock* lock, LWLockMode mode) : lock_(lock) {
    guard([=] { LWLockAcquire(lock, mode); });
  }
  ~Locked() { LWLockRelease(lock_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  LWLock* lock_;
};

// Called when the process ends, in whatever way: releases its pins and its role as filler for other sessions.
void let_go(dsm_segment*, Datum control_address) {
  auto* control = reinterpret_cast<Control*>(DatumGetPointer(control_address));
  for (uint32_t i = 0; i < kMostSegments; ++i) {
    if (held_pins[i] > 0) pg_atomic_fetch_sub_u32(&control->segments[i].pins, held_pins[i]);
    held_pins[i] = 0;
    mapped[i] = nullptr;
  }
  for (auto& table : control->tables) {
    auto process = static_cast<uint32_t>(MyProcPid);
    pg_atomic_compare_exchange_u32(&table.filler, &process, 0);
  }
  attached = nullptr;
}

/// The content of the file by which sessions find the shared memory.
struct Rendezvous {
  uint64_t magic;
  TimestampTz server_start;
  dsm_handle handle;
};

dsm_segment* find_control(int file) {
  Rendezvous found;
  if (pread(file, &found, sizeof found, 0) != sizeof found) return nullptr;
  if (found.magic != kMagic || found.server_start != PgStartTime) return nullptr;
  dsm_segment* segment = attach_segment(found.handle);
  if (segment == nullptr) return nullptr;
  // After a crash of the server the handle may belong to somebody else's segment.
  const auto* control = static_cast<const Control*>(dsm_segment_address(segment));
  const bool is_control = dsm_segment_map_length(segment) >= sizeof(Control) && control->magic == kMagic &&
                          control->server_start == PgStartTime;
  if (is_control) return segment;
  guard([=] { dsm_detach(segment); });
  return nullptr;
}

dsm_segment* make_control(int file) {
  const uint64_t bytes = allowed_bytes();
  const auto entries =
      static_cast<uint32_t>(std::clamp<uint64_t>(bytes / kBytesForEntry, kFewestEntries, kMostEntries));
  uint32_t buckets = 1;
  while (buckets < entries) buckets *= 2;
  dsm_segment* segment = make_segment(Control::size(entries, buckets));
  if (segment == nullptr) return nullptr;
  static_cast<Control*>(dsm_segment_address(segment))->set_up(bytes, entries, buckets);
  const Rendezvous told{kMagic, PgStartTime, dsm_segment_handle(segment)};
  if (pwrite(file, &told, sizeof told, 0) == sizeof told) return segment;
  guard([=] {
    dsm_unpin_segment(dsm_segment_handle(segment));
    dsm_detach(segment);
  });
  return nullptr;
}

dsm_segment* find_or_make_control() {
  int file = open(kPath, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0 && errno == ENOENT && mkdir(kFolder, S_IRWXU) == 0)
    file = open(kPath, O_RDWR | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) return nullptr;
  dsm_segment* segment = nullptr;
  try {
    if (flock(file, LOCK_EX) == 0) {
      segment = find_control(file);
      if (segment == nullptr) segment = make_control(file);
    }
  } catch (...) {
    close(file);
    throw;
  }
  close(file);  // and the lock with it
  return segment;
}

}  // namespace

// ---- Under the lock ----

void SharedColumns::Control::set_up(uint64_t bytes, uint32_t entry_count, uint32_t bucket_count) {
  server_start = PgStartTime;
  if (!pg_strong_random(&incarnation, sizeof incarnation)) incarnation = static_cast<uint64_t>(GetCurrentTimestamp());
  tranche = LWLockNewTrancheId();
  LWLockInitialize(&lock, tranche);
  segment_bytes = std::clamp(bytes / kUsualSegments, kSmallestSegment, kLargestSegment) / BLCKSZ * BLCKSZ;
  entries = entry_count;
  buckets = bucket_count;
  clock = 0;
  segment_count = 0;
  open_segment = kNone;
  for (auto& segment : segments) {
    segment.first_entry = kNone;
    segment.used = 0;
    pg_atomic_init_u64(&segment.last_use, 0);
    pg_atomic_init_u32(&segment.pins, 0);
  }
  for (auto& table : tables) {
    table.file = {};
    table.last = table.previous = 0;
    pg_atomic_init_u32(&table.filler, 0);
    pg_atomic_init_u64(&table.lacking, 0);
  }
  for (uint32_t i = 0; i < buckets; ++i) *bucket(i) = kNone;
  for (uint32_t i = 0; i < entries; ++i) entry(i)->next_in_bucket = i + 1 < entries ? i + 1 : kNone;
  free_entry = 0;
  magic = kMagic;
}

void SharedColumns::Control::unlink(uint32_t index) {
  Entry* gone = entry(index);
  uint32_t* link = bucket_of(gone->group);
  while (*link != index) link = &entry(*link)->next_in_bucket;
  *link = gone->next_in_bucket;
  gone->in_bucket = false;
}

void SharedColumns::Control::empty(uint32_t segment) {
  for (uint32_t index = segments[segment].first_entry; index != kNone;) {
    Entry* gone = entry(index);
    if (gone->in_bucket) unlink(index);
    gone->next_in_bucket = free_entry;
    free_entry = index;
    index = gone->next_in_segment;
  }
  segments[segment].first_entry = kNone;
  segments[segment].used = 0;
}

/// The segment that has been unused for the longest time, if its last use was before scan `evictable`; else kNone.
uint32_t SharedColumns::Control::victim(uint64_t evictable) {
  uint32_t found = kNone;
  uint64_t found_use = evictable;
  for (uint32_t i = 0; i < segment_count; ++i) {
    const uint64_t use = pg_atomic_read_u64(&segments[i].last_use);
    if (i == open_segment || use >= found_use || pg_atomic_read_u32(&segments[i].pins) > 0) continue;
    found = i;
    found_use = use;
  }
  return found;
}

bool SharedColumns::Control::free_entries(size_t count, uint64_t evictable) {
  for (;;) {
    size_t free = 0;
    for (uint32_t i = free_entry; i != kNone && free < count; i = entry(i)->next_in_bucket) ++free;
    if (free == count) return true;
    const uint32_t segment = victim(evictable);
    if (segment == kNone || segments[segment].first_entry == kNone) return false;
    empty(segment);
  }
}

// ---- Sessions ----

uint64_t SharedColumns::allowed() { return allowed_bytes(); }

SharedColumns* SharedColumns::attach() {
  if (allowed_bytes() == 0 || refused) return nullptr;
  if (attached != nullptr) return attached;
  dsm_segment* segment = find_or_make_control();
  refused = segment == nullptr;
  if (refused) return nullptr;
  auto* control = static_cast<Control*>(dsm_segment_address(segment));
  guard([=] {
    LWLockRegisterTranche(control->tranche, "PgStromColumnCache");
    on_dsm_detach(segment, let_go, PointerGetDatum(control));
  });
  attached = new SharedColumns(control);
  return attached;
}

uint64_t SharedColumns::incarnation() const { return control_->incarnation; }

SharedColumns::Turn SharedColumns::begin_scan(const compat::FileId& file, bool is_first_worth_it) {
  Locked locked(&control_->lock, LW_EXCLUSIVE);
  const uint32_t hash = hash_bytes(reinterpret_cast<const unsigned char*>(&file), sizeof file);
  Control::Table* const begin = control_->tables + hash % (kTables / kTableWays) * kTableWays;
  Control::Table* const end = begin + kTableWays;
  Control::Table* found = std::find_if(begin, end, [&](const auto& table) { return table.file == file; });
  if (found == end) {
    found = std::min_element(begin, end, [](const auto& a, const auto& b) { return a.last < b.last; });
    found->file = file;
    found->last = 0;
    pg_atomic_write_u32(&found->filler, 0);
    pg_atomic_write_u64(&found->lacking, 0);
  }
  found->previous = found->last;
  found->last = ++control_->clock;
  Turn turn;
  turn.now = found->last;
  turn.evictable = found->previous;
  turn.table = static_cast<uint32_t>(found - control_->tables);
  uint32_t nobody = 0;
  turn.fills = (found->previous > 0 || is_first_worth_it) &&
               pg_atomic_compare_exchange_u32(&found->filler, &nobody, static_cast<uint32_t>(MyProcPid));
  if (turn.fills) pg_atomic_write_u64(&found->lacking, 0);
  return turn;
}

void SharedColumns::end_scan(Turn* turn) {
  if (!std::exchange(turn->fills, false)) return;
  auto process = static_cast<uint32_t>(MyProcPid);
  pg_atomic_compare_exchange_u32(&control_->tables[turn->table].filler, &process, 0);
}

void SharedColumns::lacks(const Turn& turn, uint64_t bytes) {
  pg_atomic_write_u64(&control_->tables[turn.table].lacking, bytes);
}

void SharedColumns::Pins::release() {
  for (const uint32_t segment : segments_) {
    if (attached == nullptr || held_pins[segment] == 0) continue;
    --held_pins[segment];
    pg_atomic_fetch_sub_u32(&attached->control_->segments[segment].pins, 1);
  }
  segments_.clear();
}

// The caller holds the lock, at least shared.
void SharedColumns::pin(uint32_t segment, Pins* pins) {
  if (std::find(pins->segments_.begin(), pins->segments_.end(), segment) != pins->segments_.end()) return;
  pins->segments_.push_back(segment);
  ++held_pins[segment];
  pg_atomic_fetch_add_u32(&control_->segments[segment].pins, 1);
}

uint8_t* SharedColumns::map(uint32_t segment) {
  if (mapped[segment] == nullptr) {
    dsm_segment* found = attach_segment(control_->segments[segment].handle);
    if (found != nullptr) mapped[segment] = static_cast<uint8_t*>(dsm_segment_address(found));
  }
  return mapped[segment];
}

SharedColumns::Found SharedColumns::find(const GroupId& group, XLogRecPtr version, const std::vector<ColumnId>& ids,
                                         const Turn& turn, Pins* pins, FoundColumn* columns) {
  struct Location {
    uint32_t segment;
    uint64_t offset;
  };
  std::vector<Location> places(ids.size(), Location{kNone, 0});
  {
    Locked locked(&control_->lock, LW_SHARED);
    for (uint32_t i = *control_->bucket_of(group); i != kNone; i = control_->entry(i)->next_in_bucket) {
      const Entry& entry = *control_->entry(i);
      if (entry.group != group || entry.version != version) continue;
      const auto id = std::find(ids.begin(), ids.end(), entry.column);
      if (id == ids.end()) continue;
      if (entry.size == 0) return Found::kCannotBeCached;
      const auto index = static_cast<size_t>(id - ids.begin());
      places[index] = {entry.segment, entry.offset};
      columns[index].shape = entry.shape;
    }
    if (std::any_of(places.begin(), places.end(), [](const Location& place) { return place.segment == kNone; }))
      return Found::kSome;
    for (const Location& place : places) {
      pin(place.segment, pins);
      auto* last_use = &control_->segments[place.segment].last_use;
      if (pg_atomic_read_u64(last_use) < turn.now) pg_atomic_write_u64(last_use, turn.now);
    }
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const uint8_t* segment = map(places[i].segment);
    if (segment == nullptr) return Found::kCannotBeCached;
    columns[i].bytes = segment + places[i].offset;
  }
  return Found::kAll;
}

// ---- What is cached anew ----

int64_t SharedColumns::padded(int64_t size) { return (size + kImageAlignment - 1) / kImageAlignment * kImageAlignment; }

bool SharedColumns::add_segment() {
  dsm_segment* segment = make_segment(control_->segment_bytes);
  if (segment == nullptr) return false;
  const dsm_handle handle = dsm_segment_handle(segment);
  Locked locked(&control_->lock, LW_EXCLUSIVE);
  const uint32_t index = control_->segment_count;
  if (index == kMostSegments) {  // other sessions have added segments meanwhile
    dsm_unpin_segment(handle);
    return false;
  }
  mapped[index] = static_cast<uint8_t*>(dsm_segment_address(segment));
  control_->segments[index].handle = handle;
  control_->segment_count = index + 1;
  control_->open_segment = index;
  return true;
}

// Takes room from the open segment. If `empties`, a full open segment is replaced by an old segment, which is emptied.
bool SharedColumns::take_room(uint64_t size, const Turn& turn, bool empties, Pins* pins, Room* room) {
  Locked locked(&control_->lock, LW_EXCLUSIVE);
  const auto has_room = [&](uint32_t i) {
    return i != kNone && control_->segments[i].used + size <= control_->segment_bytes;
  };
  if (!has_room(control_->open_segment)) {
    if (!empties) return false;
    const uint32_t victim = control_->victim(turn.evictable);
    if (victim == kNone) return false;
    control_->empty(victim);
    control_->open_segment = victim;
  }
  Control::Segment& segment = control_->segments[control_->open_segment];
  room->segment = control_->open_segment;
  room->offset = segment.used;
  segment.used += size;
  pin(room->segment, pins);
  pg_atomic_write_u64(&segment.last_use, std::max(turn.now, pg_atomic_read_u64(&segment.last_use)));
  return true;
}

int64_t SharedColumns::largest_group() const { return static_cast<int64_t>(control_->segment_bytes / 2); }

bool SharedColumns::reserve(const std::vector<NewColumn>& columns, const Turn& turn, Pins* pins, Room* room) {
  uint64_t size = 0;
  for (const NewColumn& column : columns) size += static_cast<uint64_t>(padded(column.size));
  if (size > static_cast<uint64_t>(largest_group())) return false;
  const auto has_taken = [&](bool empties) { return take_room(size, turn, empties, pins, room); };
  const bool may_grow = control_->may_grow();
  // If the server has no memory for another segment, old columns give way as well.
  if (!has_taken(!may_grow) && !(may_grow && ((add_segment() && has_taken(false)) || has_taken(true)))) return false;
  uint8_t* segment = map(room->segment);
  room->bytes = segment + room->offset;
  if (segment == nullptr) return false;
  Locked locked(&control_->lock, LW_EXCLUSIVE);
  return control_->free_entries(columns.size(), turn.evictable);
}

bool SharedColumns::publish(const GroupId& group, XLogRecPtr version, const std::vector<NewColumn>& columns,
                            const Room& room) {
  Locked locked(&control_->lock, LW_EXCLUSIVE);
  uint32_t* bucket = control_->bucket_of(group);
  for (uint32_t i = *bucket; i != kNone;) {
    const Entry& entry = *control_->entry(i);
    const uint32_t next = entry.next_in_bucket;
    const bool replaced =
        entry.group == group &&
        std::any_of(columns.begin(), columns.end(), [&](const NewColumn& column) { return column.id == entry.column; });
    if (replaced) control_->unlink(i);
    i = next;
  }
  Control::Segment& segment = control_->segments[room.segment];
  uint64_t offset = room.offset;
  for (const NewColumn& column : columns) {
    const uint32_t index = control_->free_entry;
    if (index == kNone) return false;  // another session has taken the entry since
    Entry* entry = control_->entry(index);
    control_->free_entry = entry->next_in_bucket;
    *entry = {group,
              version,
              column.id,
              column.shape,
              offset,
              room.segment,
              static_cast<uint32_t>(column.size),
              *bucket,
              segment.first_entry,
              true};
    *bucket = index;
    segment.first_entry = index;
    offset += static_cast<uint64_t>(padded(column.size));
  }
  return true;
}

// ---- Asking ----

double SharedColumns::cached_part(const compat::FileId& file, BlockNumber pages, const AttrNumber* attributes,
                                  int count, int asked) {
  const BlockNumber groups = (pages + kGroupPages - 1) / kGroupPages;
  const BlockNumber chosen = std::min(groups, static_cast<BlockNumber>(asked));
  if (chosen == 0) return 0;
  int cached = 0;
  LWLockAcquire(&control_->lock, LW_SHARED);
  for (BlockNumber i = 0; i < chosen; ++i) {
    const auto block = static_cast<BlockNumber>((uint64{i} * 2 + 1) * pages / (uint64{chosen} * 2));
    const GroupId group{file, group_begin(block)};
    int found = 0;
    for (uint32_t e = *control_->bucket_of(group); e != kNone; e = control_->entry(e)->next_in_bucket) {
      const Entry& entry = *control_->entry(e);
      if (entry.size == 0 || entry.group != group) continue;
      found += std::find(attributes, attributes + count, entry.column.attribute) != attributes + count;
    }
    cached += found >= count;
  }
  LWLockRelease(&control_->lock);
  return static_cast<double>(cached) / chosen;
}

std::vector<SharedColumns::Usage> SharedColumns::usage() {
  std::map<std::tuple<Oid, Oid, Oid, int16_t>, Usage> sums;
  Locked locked(&control_->lock, LW_SHARED);
  for (uint32_t s = 0; s < control_->segment_count; ++s) {
    for (uint32_t i = control_->segments[s].first_entry; i != kNone; i = control_->entry(i)->next_in_segment) {
      const Entry& entry = *control_->entry(i);
      if (!entry.in_bucket || entry.size == 0 || entry.column.attribute <= 0) continue;
      const compat::FileId& file = entry.group.file;
      Usage& sum = sums[{file.tablespace, file.database, file.file, entry.column.attribute}];
      sum.file = file;
      sum.attribute = entry.column.attribute;
      sum.groups += 1;
      sum.rows += entry.shape.rows;
      sum.bytes += entry.size;
    }
  }
  std::vector<Usage> result;
  result.reserve(sums.size());
  for (const auto& [key, sum] : sums) result.push_back(sum);
  return result;
}

SharedColumns::Memory SharedColumns::memory() {
  Memory memory;
  memory.allowed = allowed_bytes();
  memory.is_usual = is_usual();
  SharedColumns* shared = attach();
  if (shared == nullptr) return memory;
  Control* control = shared->control_;
  Locked locked(&control->lock, LW_SHARED);
  memory.taken = control->segment_count * control->segment_bytes;
  for (auto& table : control->tables) memory.lacking += pg_atomic_read_u64(&table.lacking);
  return memory;
}

int64_t SharedColumns::bytes_of(int16_t attribute) {
  int64_t bytes = 0;
  Locked locked(&control_->lock, LW_SHARED);
  for (uint32_t s = 0; s < control_->segment_count; ++s) {
    for (uint32_t i = control_->segments[s].first_entry; i != kNone; i = control_->entry(i)->next_in_segment) {
      const Entry& entry = *control_->entry(i);
      if (entry.in_bucket && entry.column.attribute == attribute) bytes += entry.size;
    }
  }
  return bytes;
}

void SharedColumns::reset() {
  Locked locked(&control_->lock, LW_EXCLUSIVE);
  for (uint32_t i = 0; i < control_->segment_count; ++i) {
    if (pg_atomic_read_u32(&control_->segments[i].pins) == 0) control_->empty(i);
  }
  for (auto& table : control_->tables) {
    table.last = table.previous = 0;
    pg_atomic_write_u64(&table.lacking, 0);
  }
}

}  // namespace strom::pg::cache
