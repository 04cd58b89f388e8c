// Versions of rows in memory that several processes map: columns in chunks, a chain of slots for each bucket of the
// key's index, and a heap for long values. Knows nothing about transactions: the callers decide which versions are
// visible, and hold the locks that the functions name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "store/rows/cell.hpp"
#include "store/rows/shape.hpp"
#include "store/free_extents.hpp"
#include "store/huge_pages.hpp"

namespace strom::store::rows {

inline constexpr uint32_t kNobody = 0, kFrozen = 2;  // special transaction ids: none, and one that everybody sees

/// The transactions that made and ended a version. `xmin` and `xmax` change together, by compare_and_set().
struct alignas(16) Version {
  uint32_t xmin;  // kNobody: the slot is free
  uint32_t xmax;  // kNobody: the version has not ended
  uint32_t aux;   // for the callers
};
static_assert(sizeof(Version) == 16 && sizeof(Version) * kPageRows == 4096);
/// A huge page has the versions of a group of slots. The group comes as a whole when one page of `kPartInUse` is there.
inline constexpr uint32_t kGroupRows = kHugePage / sizeof(Version), kPartInUse = 8;

/// The state of a page with the versions of kPageRows slots. It needs no memory if all versions are free or settled,
/// since Block::live says which of them are settled.
enum class PageState : uint8_t {
  kGone = 0,      // the page has no memory, and must not be read
  kReleased = 1,  // the same, but it still has its memory
  kPresent = 2,
  kLeaving = 3,  // as kPresent for readers; writers set kPresent before they change a version
};
inline bool is_away(PageState state) { return state <= PageState::kReleased; }

struct Xids {
  uint32_t xmin, xmax;
  bool operator==(const Xids&) const = default;
};

/// Counters of a chunk, on a cache line of their own.
struct alignas(64) ChunkInfo {
  uint32_t settled;  // versions that everybody sees: xmin is kFrozen, xmax is kNobody
  uint32_t ended;    // versions that a transaction has ended; may still be undone
  // See Rows::generation():
  uint64_t generation;  // the present one
  uint64_t written;     // the last one in which a row was written
};

/// A summary of kBlockRows slots, which mostly saves a scan from reading their versions. `live` has a bit for each
/// version that was made and has not ended; compare_and_set() maintains it.
struct alignas(16) Block {
  uint64_t live;
  uint64_t stamp;  // low half: the newest transaction that changed a version here, or kNobody; high half: `open`
};

struct Stamp {
  uint32_t newest;
  uint32_t open;  // changes that are neither undone nor marked as committed
};

/// The later of two transaction ids, which wrap around.
inline uint32_t later_xid(uint32_t a, uint32_t b) {
  if (a == kNobody || b == kNobody) return a | b;
  return static_cast<int32_t>(b - a) > 0 ? b : a;
}

/// Shared state, at a place of the memory's header that callers choose. All zeros at the beginning.
struct RowsState {
  // Under the lock of slots:
  uint32_t next_unused;  // slots from here on were never used; 0 means 1, since slot 0 does not exist
  uint32_t chunks;       // chunks that have memory; others read it without the lock
  Slot free_head;
  uint32_t free_slots;
  // Under the lock of the heap:
  uint64_t heap_used, heap_grown;
  FreeExtents heap_free;
  uint64_t seed;  // for the hash of keys; set when the memory is made
};

/// Allocates memory for bytes [offset, offset + bytes). False: no memory.
using Grow = bool (*)(void* context, uint64_t offset, uint64_t bytes);
/// Gives the memory back. The bytes are undefined until the next Grow.
using Shrink = void (*)(void* context, uint64_t offset, uint64_t bytes);

class Rows {
 public:
  /// `layout` and the memory outlive this object.
  Rows(const Shape& shape, const Layout& layout, uint8_t* memory, RowsState* state)
      : shape_(&shape), layout_(&layout), memory_(memory), state_(state) {}
  void set_grow(Grow grow, Shrink shrink, void* context) { grow_ = grow, shrink_ = shrink, grow_context_ = context; }

  const Shape& shape() const { return *shape_; }
  const Layout& layout() const { return *layout_; }
  RowsState& state() const { return *state_; }

  // ---- Slots. The caller holds the lock of slots.

  /// Takes a slot for a new version. Errors: kOverBudget (all are in use), kOutOfMemory.
  Result<Slot> take_slot();
  void give_slot(Slot slot);
  uint32_t used_slots() const { return __atomic_load_n(&state_->next_unused, __ATOMIC_ACQUIRE); }
  /// The number of slots that take_slot() can still return.
  uint64_t spare_slots() const { return layout_->slots - state_->next_unused + state_->free_slots; }

  // ---- Loading, by a process that has the memory for itself. The loaded versions take no memory.

  /// Takes a given slot, for a version from a file. Errors: kCorruptFile, kOutOfMemory.
  Status claim_slot(Slot slot);
  /// Makes a settled version in a claimed slot that is free; and frees it again.
  void load_version(Slot slot) const;
  void unload_version(Slot slot) const;
  /// Frees the slots below next_unused that have no version.
  void free_unclaimed();

  // ---- Versions

  /// The version in a slot. The caller holds the lock of the bucket, of versions or of the region, or has an open
  /// change in the block.
  const Version& look(Slot slot) const {
    for (;;) {
      if (!is_away(page_state(slot))) return version(slot);
      const bool live = has_row(slot);
      // Else a writer has taken the page back, and the bit may already show a change that not everybody sees.
      if (is_away(page_state(slot))) return live ? kSettledVersion : kFreeVersion;
    }
  }
  /// The version itself. Its page must be present.
  Version& version(Slot slot) const { return reinterpret_cast<Version*>(memory_ + layout_->versions)[slot]; }
  /// True if the version was made and has not ended.
  bool has_row(Slot slot) const {
    return (__atomic_load_n(&block_of(slot).live, __ATOMIC_ACQUIRE) >> (slot % kBlockRows) & 1) != 0;
  }
  static Xids xids(const Version& version) {
    const uint64_t both = __atomic_load_n(reinterpret_cast<const uint64_t*>(&version), __ATOMIC_ACQUIRE);
    return {static_cast<uint32_t>(both), static_cast<uint32_t>(both >> 32)};
  }
  /// Changes both ids if they equal `before`, and updates the counters of settled and ended versions. Returns whether
  /// it did.
  bool compare_and_set(Slot slot, Xids before, Xids after) const;
  /// The caller alone may change xmax and free the slot. Others may still set xmin to kFrozen at any time.
  void set_xmax(Slot slot, uint32_t xmax) const;
  void set_free(Slot slot) const;
  Block& block_of(Slot slot) const {
    return blocks_of(slot / layout_->chunk_rows)[slot % layout_->chunk_rows / kBlockRows];
  }
  Block* blocks_of(uint64_t chunk) const { return reinterpret_cast<Block*>(chunk_at(chunk)); }
  /// Called before a transaction makes or ends a version. It calls finish_change() after it has marked the version as
  /// committed, or has undone the change. `xid` is kNobody for other changes.
  void begin_change(Slot slot, uint32_t xid) const;
  /// Called after begin_change(). True: the page is present, and stays so until finish_change(). False: bring_page()
  /// has to take it back.
  bool keep_page(Slot slot) const;
  /// Takes the page back, after begin_change(). The caller holds the lock of pages. If several pages of a group are
  /// present, changes are probably spread over all of it, and all its pages come. Errors: kOutOfMemory.
  Status bring_page(Slot slot) const;
  /// The first of three steps to free a page, which one process takes at a time. False: the page is not present.
  bool begin_release(Slot first) const;
  /// The second step, when everybody who held a lock for look() at begin_release() has released it. True: all versions
  /// are free or settled, no change is open, and no aux has bits of `refuses`. Nobody reads the page from then on.
  bool release_page(Slot first, uint32_t refuses) const;
  /// The last step for `count` pages, when everybody who held such a lock at release_page() has released it. The caller
  /// holds the lock of pages.
  void drop_pages(Slot first, uint32_t count) const;
  PageState page_state(Slot slot) const {
    return static_cast<PageState>(__atomic_load_n(page_at(slot), __ATOMIC_SEQ_CST));
  }
  void finish_change(Slot slot) const { finish_changes(slot, 1); }
  /// Finishes `count` changes in the block of `slot`.
  void finish_changes(Slot slot, uint32_t count) const;
  static Stamp stamp_of(const Block& block) {
    const uint64_t both = __atomic_load_n(&block.stamp, __ATOMIC_ACQUIRE);
    return {static_cast<uint32_t>(both), static_cast<uint32_t>(both >> 32)};
  }
  /// Gets the block's live versions if all its changes are finished and were made by transactions before `xid`. Then
  /// these are the versions visible to every snapshot for which all transactions before `xid` have ended. False: there
  /// are other changes.
  static bool read_live(const Block& block, uint32_t xid, uint64_t* live) {
    const Stamp before = stamp_of(block);
    if (before.open != 0 || (before.newest != kNobody && static_cast<int32_t>(before.newest - xid) >= 0)) return false;
    *live = __atomic_load_n(&block.live, __ATOMIC_ACQUIRE);
    // A change that is visible in `live` has set its stamp before.
    const Stamp after = stamp_of(block);
    return after.open == 0 && after.newest == before.newest;
  }
  ChunkInfo& info(uint64_t chunk) const { return reinterpret_cast<ChunkInfo*>(memory_ + layout_->infos)[chunk]; }
  /// The number of slots of the chunk that were ever used; `used` comes from used_slots().
  uint32_t used_in(uint64_t chunk, uint32_t used) const {
    const uint64_t begin = chunk * layout_->chunk_rows;
    return begin >= used ? 0 : static_cast<uint32_t>(std::min<uint64_t>(layout_->chunk_rows, used - begin));
  }

  // ---- Values

  Cell read(Slot slot, uint32_t column) const {
    const uint64_t chunk = slot / layout_->chunk_rows, row = slot % layout_->chunk_rows;
    const uint8_t* flags = nulls(chunk, column);
    if (flags != nullptr && flags[row] != 0) return {};
    const Column& described = shape_->columns[column];
    const uint8_t* value = values(chunk, column) + row * described.value_bytes();
    return described.form == Form::kFixed ? Cell{value, described.width, false} : read_view(value);
  }
  /// Reads all columns. Copies member by member: a cell would be copied in two overlapping words, of which the second
  /// waits for the first.
  void read_row(Slot slot, std::span<Cell> cells) const {
    for (uint32_t i = 0; i < cells.size(); ++i) {
      const Cell cell = read(slot, i);
      cells[i].data = cell.data;
      cells[i].bytes = cell.bytes;
      cells[i].is_null = cell.is_null;
    }
  }
  /// The chunk's generation: begins a new one if rows were written in the present one. A session asks after it has
  /// taken its snapshot. All rows that the snapshot sees were written in earlier generations, and what the session
  /// reads from then on has all rows of earlier generations. See docs/dev/store.md.
  uint64_t generation(uint64_t chunk) const;
  /// The last generations in which rows were written into the chunk's blocks; read after generation(), and before the
  /// values. A copy of a block is the same, for all who may use it, until its number is that of the copy or later.
  std::vector<uint64_t> written_blocks(uint64_t chunk) const;
  /// Writes a row into a slot that nobody else sees. If needs_heap(), the caller holds the lock of the heap. Errors:
  /// kOverBudget, kOutOfMemory; nothing is stored then.
  Status write(Slot slot, std::span<const Cell> cells) const;
  bool needs_heap(std::span<const Cell> cells) const;
  bool has_heap() const { return layout_->heap_bytes != 0; }
  /// Frees a row's memory in the heap. The caller holds the lock of the heap.
  void free_values(Slot slot) const;
  const uint8_t* values(uint64_t chunk, uint32_t column) const { return chunk_at(chunk) + layout_->values[column]; }
  /// A byte for each row, 1 = NULL; nullptr: the chunk has never had a NULL in this column.
  const uint8_t* nulls(uint64_t chunk, uint32_t column) const {
    return has_nulls(chunk, column) ? null_flags(chunk, column) : nullptr;
  }
  /// True if rows of the chunk have a byte for NULL.
  bool has_nulls(uint64_t chunk, uint32_t column) const {
    const uint8_t* mark = memory_ + layout_->marks + chunk * shape_->columns.size() + column;
    return __atomic_load_n(mark, __ATOMIC_ACQUIRE) != 0;
  }
  const uint8_t* heap_segment(uint32_t segment) const { return memory_ + layout_->heap_begin + segment * kHeapSegment; }
  uint64_t heap_used() const { return __atomic_load_n(&state_->heap_used, __ATOMIC_ACQUIRE); }

  // ---- The key's index. The caller holds the lock of the bucket.

  uint64_t bucket_of(const Cell& key) const;
  uint64_t bucket_of(Slot slot) const { return bucket_of(read(slot, static_cast<uint32_t>(shape_->key))); }
  Slot& head(uint64_t bucket) const { return reinterpret_cast<Slot*>(memory_ + layout_->heads)[bucket]; }
  /// Prefetches the head, which is about to be changed.
  void fetch_head(uint64_t bucket) const { __builtin_prefetch(&head(bucket), 1); }
  bool has_key(Slot slot, const Cell& key) const {
    const Cell cell = read(slot, static_cast<uint32_t>(shape_->key));
    return cell.bytes == key.bytes && is_same_value(cell.data, key.data, key.bytes);
  }
  /// Loads the memory that has_key() needs into the processor's cache. Uses loads, since the processor drops a prefetch
  /// if the page's address is not in its TLB. Nobody waits for the loaded values, so loads for many slots overlap.
  void fetch_key(Slot slot) const {
    const auto key = static_cast<uint32_t>(shape_->key);
    const uint64_t row = slot % layout_->chunk_rows;
    touch(values(slot / layout_->chunk_rows, key) + row * shape_->columns[key].value_bytes());
  }
  /// The caller holds the lock of versions.
  void fetch_version(Slot slot) const {
    touch(reinterpret_cast<const uint8_t*>(&look(slot)));
    touch(reinterpret_cast<const uint8_t*>(&next(slot)));
  }
  /// Prefetches the memory that free_values() needs.
  void fetch_values(Slot slot) const {
    const uint64_t chunk = slot / layout_->chunk_rows, row = slot % layout_->chunk_rows;
    for (uint32_t i = 0; i < shape_->columns.size(); ++i)
      if (shape_->columns[i].form == Form::kView)
        __builtin_prefetch(chunk_at(chunk) + layout_->values[i] + row * shape_->columns[i].value_bytes(), 1);
  }
  /// The next slot in the bucket's chain, or in the list of free slots.
  Slot& next(Slot slot) const {
    return reinterpret_cast<Slot*>(chunk_at(slot / layout_->chunk_rows) + layout_->links)[slot % layout_->chunk_rows];
  }
  void link(uint64_t bucket, Slot slot) const;
  /// False when the slot is not in the chain.
  bool unlink(uint64_t bucket, Slot slot) const;

 private:
  static constexpr Version kSettledVersion{kFrozen, kNobody, 0}, kFreeVersion{kNobody, kNobody, 0};

  uint64_t* written_of(uint64_t chunk) const { return reinterpret_cast<uint64_t*>(chunk_at(chunk) + layout_->written); }
  uint8_t* page_at(Slot slot) const { return memory_ + layout_->pages + slot / kPageRows; }
  uint64_t offset_of_page(Slot first) const { return layout_->versions + uint64_t{first} * sizeof(Version); }
  uint64_t offset_of_nulls(uint64_t chunk, uint32_t column) const {
    return layout_->nulls + (chunk * shape_->columns.size() + column) * layout_->null_bytes;
  }
  uint8_t* null_flags(uint64_t chunk, uint32_t column) const { return memory_ + offset_of_nulls(chunk, column); }
  bool is_in_use(Slot group) const;
  void bring_group(Slot group) const;
  void fill_page(Slot first) const;
  bool may_leave(Slot first, uint32_t refuses) const;
  static void touch(const uint8_t* at) {
    const uint8_t byte = __atomic_load_n(at, __ATOMIC_RELAXED);
    asm volatile("" : : "r"(byte));
  }
  uint8_t* chunk_at(uint64_t chunk) const { return memory_ + layout_->chunk_begin + chunk * layout_->chunk_bytes; }
  Cell read_view(const uint8_t* value) const;
  Status add_chunk(PageState pages);
  Status mark_null(Slot slot, uint32_t column) const;
  void mark_written(Slot slot) const;
  ExtentLists heap_lists() const { return {&state_->heap_free, memory_ + layout_->heap_begin, kHeapSegment}; }
  Result<uint64_t> take_heap(uint32_t bytes) const;
  void give_heap(uint64_t offset, uint32_t bytes) const;

  const Shape* shape_;
  const Layout* layout_;
  uint8_t* memory_;
  RowsState* state_;
  Grow grow_ = nullptr;
  Shrink shrink_ = nullptr;
  void* grow_context_ = nullptr;
};

}  // namespace strom::store::rows
