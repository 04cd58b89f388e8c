#include "store/rows/rows.hpp"

#include <algorithm>
#include <string>

#include "store/region/format.hpp"

namespace strom::store::rows {

namespace {

/// A view of Arrow's binary view layout.
struct View {
  uint32_t bytes;
  union {
    char inside[kInlineBytes];
    struct {
      char prefix[4];
      uint32_t segment, offset;
    } outside;
  };
};
static_assert(sizeof(View) == kViewBytes);

Status no_memory() { return {ErrorCode::kOutOfMemory, "no memory is left for a store table"}; }

bool is_settled(Xids xids) { return xids.xmin == kFrozen && xids.xmax == kNobody; }
bool is_live(Xids xids) { return xids.xmin != kNobody && xids.xmax == kNobody; }
bool is_ended(Xids xids) { return xids.xmin != kNobody && xids.xmax != kNobody; }

void add_to(uint32_t* counter, int by) {
  if (by != 0) __atomic_fetch_add(counter, static_cast<uint32_t>(by), __ATOMIC_ACQ_REL);
}

/// Makes a number at least so large. Numbers never get smaller.
void raise(uint64_t* number, uint64_t least) {
  uint64_t before = __atomic_load_n(number, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(number, &before, std::max(before, least), false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED)) {
  }
}

}  // namespace

// Slots

Status Rows::add_chunk(PageState pages) {
  if (state_->chunks == layout_->chunks)
    return {ErrorCode::kOverBudget, "all slots of a store table are in use, those of old versions included"};
  const auto first = static_cast<Slot>(uint64_t{state_->chunks} * layout_->chunk_rows);
  const uint64_t begin = layout_->chunk_begin + state_->chunks * layout_->chunk_bytes;
  if (grow_ != nullptr && !grow_(grow_context_, begin, layout_->chunk_bytes)) return no_memory();
  if (grow_ != nullptr && pages == PageState::kPresent &&
      !grow_(grow_context_, offset_of_page(first), uint64_t{layout_->chunk_rows} * sizeof(Version)))
    return no_memory();
  for (Slot slot = first; slot - first < layout_->chunk_rows; slot += kPageRows)
    __atomic_store_n(page_at(slot), static_cast<uint8_t>(pages), __ATOMIC_RELEASE);
  __atomic_store_n(&state_->chunks, state_->chunks + 1, __ATOMIC_RELEASE);
  return Status::ok();
}

Result<Slot> Rows::take_slot() {
  if (state_->free_head != kNoSlot) {
    const Slot slot = state_->free_head;
    state_->free_head = next(slot);
    --state_->free_slots;
    return slot;
  }
  const Slot slot = std::max<Slot>(state_->next_unused, 1);
  if (slot >= static_cast<uint64_t>(state_->chunks) * layout_->chunk_rows) STROM_TRY(add_chunk(PageState::kPresent));
  __atomic_store_n(&state_->next_unused, slot + 1, __ATOMIC_RELEASE);
  return slot;
}

void Rows::give_slot(Slot slot) {
  next(slot) = state_->free_head;
  state_->free_head = slot;
  ++state_->free_slots;
}

// Loading

Status Rows::claim_slot(Slot slot) {
  if (slot == kNoSlot || slot >= layout_->slots)
    return {ErrorCode::kCorruptFile, "slot " + std::to_string(slot) + " does not exist in a store table"};
  while (slot >= static_cast<uint64_t>(state_->chunks) * layout_->chunk_rows) STROM_TRY(add_chunk(PageState::kGone));
  if (slot >= state_->next_unused) state_->next_unused = slot + 1;
  return Status::ok();
}

void Rows::load_version(Slot slot) const {
  block_of(slot).live |= uint64_t{1} << (slot % kBlockRows);
  ++info(slot / layout_->chunk_rows).settled;
}

void Rows::unload_version(Slot slot) const {
  block_of(slot).live &= ~(uint64_t{1} << (slot % kBlockRows));
  --info(slot / layout_->chunk_rows).settled;
}

void Rows::free_unclaimed() {
  for (Slot slot = std::max<Slot>(state_->next_unused, 1) - 1; slot > 0; --slot)
    if (!has_row(slot)) give_slot(slot);
}

// Versions

bool Rows::compare_and_set(Slot slot, Xids before, Xids after) const {
  uint64_t expected = before.xmin | (uint64_t{before.xmax} << 32);
  const uint64_t wanted = after.xmin | (uint64_t{after.xmax} << 32);
  if (!__atomic_compare_exchange_n(reinterpret_cast<uint64_t*>(&version(slot)), &expected, wanted, false,
                                   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return false;
  if (is_live(before) != is_live(after)) {
    const uint64_t bit = uint64_t{1} << (slot % kBlockRows);
    uint64_t* live = &block_of(slot).live;
    if (is_live(after))
      __atomic_fetch_or(live, bit, __ATOMIC_ACQ_REL);
    else
      __atomic_fetch_and(live, ~bit, __ATOMIC_ACQ_REL);
  }
  ChunkInfo& chunk = info(slot / layout_->chunk_rows);
  add_to(&chunk.settled, static_cast<int>(is_settled(after)) - static_cast<int>(is_settled(before)));
  add_to(&chunk.ended, static_cast<int>(is_ended(after)) - static_cast<int>(is_ended(before)));
  return true;
}

void Rows::set_xmax(Slot slot, uint32_t xmax) const {
  for (Xids before = xids(version(slot)); !compare_and_set(slot, before, {before.xmin, xmax});)
    before = xids(version(slot));
}

void Rows::set_free(Slot slot) const {
  while (!compare_and_set(slot, xids(version(slot)), {kNobody, kNobody})) {
  }
}

void Rows::begin_change(Slot slot, uint32_t xid) const {
  constexpr uint64_t kOneOpen = uint64_t{1} << 32;
  uint64_t* stamp = &block_of(slot).stamp;
  uint64_t before = __atomic_load_n(stamp, __ATOMIC_ACQUIRE), after;
  do {
    const auto newest = static_cast<uint32_t>(before);
    after = before - newest + later_xid(newest, xid) + kOneOpen;
  } while (!__atomic_compare_exchange_n(stamp, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE));
}

void Rows::finish_changes(Slot slot, uint32_t count) const {
  constexpr uint64_t kOneOpen = uint64_t{1} << 32;
  __atomic_fetch_sub(&block_of(slot).stamp, count * kOneOpen, __ATOMIC_ACQ_REL);
}

// Pages of versions. A writer announces its change in the block first, and reads the page's state after. The process
// that frees the page does it the other way round. So one of the two sees the other.

namespace {

constexpr auto kGone = static_cast<uint8_t>(PageState::kGone);
constexpr auto kReleased = static_cast<uint8_t>(PageState::kReleased);
constexpr auto kPresent = static_cast<uint8_t>(PageState::kPresent);
constexpr auto kLeaving = static_cast<uint8_t>(PageState::kLeaving);

bool turn(uint8_t* page, uint8_t before, uint8_t after) {
  return __atomic_compare_exchange_n(page, &before, after, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

}  // namespace

bool Rows::keep_page(Slot slot) const {
  uint8_t* page = page_at(slot);
  for (;;) {
    const uint8_t state = __atomic_load_n(page, __ATOMIC_SEQ_CST);
    if (state == kPresent) return true;
    if (state != kLeaving) return false;
    if (turn(page, kLeaving, kPresent)) return true;
  }
}

Status Rows::bring_page(Slot slot) const {
  // A released page is left as it is, since others may still read it.
  if (keep_page(slot) || turn(page_at(slot), kReleased, kPresent)) return Status::ok();
  const Slot first = slot / kPageRows * kPageRows;
  if (grow_ != nullptr && !grow_(grow_context_, offset_of_page(first), kPageRows * sizeof(Version))) return no_memory();
  fill_page(first);
  const Slot group = slot / kGroupRows * kGroupRows;
  if (is_in_use(group)) bring_group(group);
  return Status::ok();
}

void Rows::fill_page(Slot first) const {
  for (Slot slot = first; slot < first + kPageRows; ++slot)
    version(slot) = has_row(slot) ? kSettledVersion : kFreeVersion;
  __atomic_store_n(page_at(first), kPresent, __ATOMIC_SEQ_CST);
}

bool Rows::is_in_use(Slot group) const {
  // Slots of chunks that are added later get their pages then.
  const uint64_t chunks = __atomic_load_n(&state_->chunks, __ATOMIC_ACQUIRE);
  if (uint64_t{group} + kGroupRows > chunks * layout_->chunk_rows) return false;
  uint32_t present = 0;
  for (Slot first = group; first < group + kGroupRows; first += kPageRows)
    present += is_away(page_state(first)) ? 0 : 1;
  return present >= kGroupRows / kPageRows / kPartInUse;
}

void Rows::bring_group(Slot group) const {
  // Without memory for all, the pages come one by one.
  if (grow_ != nullptr && !grow_(grow_context_, offset_of_page(group), kGroupRows * sizeof(Version))) return;
  for (Slot first = group; first < group + kGroupRows; first += kPageRows)
    if (!turn(page_at(first), kReleased, kPresent) && page_state(first) == PageState::kGone) fill_page(first);
}

bool Rows::may_leave(Slot first, uint32_t refuses) const {
  for (Slot begin = first; begin < first + kPageRows; begin += kBlockRows) {
    const Block& block = block_of(begin);
    if (__atomic_load_n(&block.stamp, __ATOMIC_SEQ_CST) >> 32 != 0) return false;
    const uint64_t live = __atomic_load_n(&block.live, __ATOMIC_ACQUIRE);
    for (Slot slot = begin; slot < begin + kBlockRows; ++slot) {
      const bool is_live = (live >> (slot % kBlockRows) & 1) != 0;
      if (xids(version(slot)) != Xids{is_live ? kFrozen : kNobody, kNobody}) return false;
      if (is_live && (__atomic_load_n(&version(slot).aux, __ATOMIC_ACQUIRE) & refuses) != 0) return false;
    }
  }
  return true;
}

bool Rows::begin_release(Slot first) const {
  turn(page_at(first), kPresent, kLeaving);
  return !is_away(page_state(first));
}

bool Rows::release_page(Slot first, uint32_t refuses) const {
  uint8_t* page = page_at(first);
  if (page_state(first) != PageState::kLeaving) return false;
  if (may_leave(first, refuses)) return turn(page, kLeaving, kReleased);
  turn(page, kLeaving, kPresent);
  return false;
}

void Rows::drop_pages(Slot first, uint32_t count) const {
  const Slot end = first + count * kPageRows;
  while (first < end) {
    Slot next = first;
    while (next < end && turn(page_at(next), kReleased, kGone)) next += kPageRows;
    if (next != first && shrink_ != nullptr)
      shrink_(grow_context_, offset_of_page(first), (next - first) * sizeof(Version));
    first = next + kPageRows;
  }
}

// Values

Status Rows::mark_null(Slot slot, uint32_t column) const {
  const uint64_t chunk = slot / layout_->chunk_rows;
  uint8_t* mark = memory_ + layout_->marks + chunk * shape_->columns.size() + column;
  if (__atomic_load_n(mark, __ATOMIC_ACQUIRE) == 0) {
    // Two sessions may both do this; existing memory stays unchanged.
    if (grow_ != nullptr && !grow_(grow_context_, offset_of_nulls(chunk, column), layout_->null_bytes))
      return no_memory();
    __atomic_store_n(mark, 1, __ATOMIC_RELEASE);
  }
  null_flags(chunk, column)[slot % layout_->chunk_rows] = 1;
  return Status::ok();
}

/// Says that a row was written, before anybody may see its version. If a new generation has begun meanwhile, whoever
/// began it may have missed the row, so that it belongs to the new one.
void Rows::mark_written(Slot slot) const {
  const uint64_t chunk = slot / layout_->chunk_rows;
  ChunkInfo& info = this->info(chunk);
  uint64_t* block = written_of(chunk) + slot % layout_->chunk_rows / kBlockRows;
  for (uint64_t generation = __atomic_load_n(&info.generation, __ATOMIC_SEQ_CST);;) {
    if (__atomic_load_n(&info.written, __ATOMIC_SEQ_CST) < generation) raise(&info.written, generation);
    // Changed in any case: whoever reads the number from now on also sees the values.
    raise(block, generation);
    const uint64_t now = __atomic_load_n(&info.generation, __ATOMIC_SEQ_CST);
    if (now == generation) return;
    generation = now;
  }
}

uint64_t Rows::generation(uint64_t chunk) const {
  ChunkInfo& info = this->info(chunk);
  const uint64_t present = __atomic_load_n(&info.generation, __ATOMIC_SEQ_CST);
  if (__atomic_load_n(&info.written, __ATOMIC_SEQ_CST) < present) return present;
  return __atomic_add_fetch(&info.generation, 1, __ATOMIC_SEQ_CST);
}

std::vector<uint64_t> Rows::written_blocks(uint64_t chunk) const {
  std::vector<uint64_t> blocks(layout_->chunk_rows / kBlockRows);
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = __atomic_load_n(written_of(chunk) + i, __ATOMIC_SEQ_CST);
  return blocks;
}

Cell Rows::read_view(const uint8_t* value) const {
  const auto& view = *reinterpret_cast<const View*>(value);
  if (view.bytes <= kInlineBytes) return {view.inside, view.bytes, false};
  // If nobody should look at the version, its slot may belong to another version by now.
  if (view.outside.segment * kHeapSegment + view.outside.offset + view.bytes > heap_used()) return {value, 0, false};
  return {heap_segment(view.outside.segment) + view.outside.offset, view.bytes, false};
}

bool Rows::needs_heap(std::span<const Cell> cells) const {
  if (!has_heap()) return false;
  for (size_t i = 0; i < cells.size(); ++i)
    if (shape_->columns[i].form == Form::kView && !cells[i].is_null && cells[i].bytes > kInlineBytes) return true;
  return false;
}

Status Rows::write(Slot slot, std::span<const Cell> cells) const {
  const uint64_t chunk = slot / layout_->chunk_rows, row = slot % layout_->chunk_rows;
  Status status;
  for (uint32_t i = 0; i < cells.size(); ++i) {
    const Column& column = shape_->columns[i];
    uint8_t* value = chunk_at(chunk) + layout_->values[i] + row * column.value_bytes();
    if (column.form == Form::kView) *reinterpret_cast<View*>(value) = View{};  // free_values() reads it
    if (!status.is_ok()) continue;
    if (cells[i].is_null) {
      status = mark_null(slot, i);
      continue;
    }
    if (has_nulls(chunk, i)) null_flags(chunk, i)[row] = 0;
    if (column.form == Form::kFixed) {
      copy_value(value, cells[i].data, column.width);
      continue;
    }
    View view{};
    view.bytes = cells[i].bytes;
    if (view.bytes <= kInlineBytes) {
      if (view.bytes != 0) std::memcpy(view.inside, cells[i].data, view.bytes);
    } else {
      const auto extent = take_heap(view.bytes);
      if (!extent.is_ok()) {
        status = extent.status();
        continue;
      }
      std::memcpy(memory_ + layout_->heap_begin + extent.value(), cells[i].data, view.bytes);
      std::memcpy(view.outside.prefix, cells[i].data, sizeof(view.outside.prefix));
      view.outside.segment = static_cast<uint32_t>(extent.value() / kHeapSegment);
      view.outside.offset = static_cast<uint32_t>(extent.value() % kHeapSegment);
    }
    *reinterpret_cast<View*>(value) = view;
  }
  mark_written(slot);
  if (!status.is_ok()) free_values(slot);
  return status;
}

void Rows::free_values(Slot slot) const {
  if (!has_heap()) return;
  const uint64_t chunk = slot / layout_->chunk_rows, row = slot % layout_->chunk_rows;
  for (uint32_t i = 0; i < shape_->columns.size(); ++i) {
    if (shape_->columns[i].form != Form::kView) continue;
    auto& view = reinterpret_cast<View*>(chunk_at(chunk) + layout_->values[i])[row];
    if (view.bytes > kInlineBytes) give_heap(view.outside.segment * kHeapSegment + view.outside.offset, view.bytes);
    view.bytes = 0;
  }
}

// The heap

Result<uint64_t> Rows::take_heap(uint32_t bytes) const {
  const uint32_t size_class = class_of(bytes);
  const uint64_t size = bytes_of_class(size_class);
  ExtentLists lists = heap_lists();
  if (const auto found = lists.take(size_class); found.has_value()) return *found;
  if (lists.merge_if_worth_it(state_->heap_used))
    if (const auto found = lists.take(size_class); found.has_value()) return *found;
  uint64_t offset = state_->heap_used;
  // An extent lies within one segment.
  if (offset / kHeapSegment != (offset + size - 1) / kHeapSegment) offset = (offset / kHeapSegment + 1) * kHeapSegment;
  if (offset + size > layout_->heap_bytes) {
    lists.merge();
    if (const auto found = lists.take(size_class); found.has_value()) return *found;
    return Status(ErrorCode::kOverBudget, "the heap of a store table is full");
  }
  if (offset + size > state_->heap_grown) {
    constexpr uint64_t kStep = 1 << 20;
    const uint64_t end = std::min(layout_->heap_bytes, (offset + size + kStep - 1) / kStep * kStep);
    const uint64_t begin = layout_->heap_begin + state_->heap_grown;
    if (grow_ != nullptr && !grow_(grow_context_, begin, end - state_->heap_grown)) return no_memory();
    state_->heap_grown = end;
  }
  __atomic_store_n(&state_->heap_used, offset + size, __ATOMIC_RELEASE);
  return offset;
}

void Rows::give_heap(uint64_t offset, uint32_t bytes) const { heap_lists().give(offset, class_of(bytes)); }

// The index

uint64_t Rows::bucket_of(const Cell& key) const {
  return region::multiply_high(region::hash_key(key.data, key.bytes, state_->seed), layout_->bucket_count);
}

void Rows::link(uint64_t bucket, Slot slot) const {
  next(slot) = head(bucket);
  __atomic_store_n(&head(bucket), slot, __ATOMIC_RELEASE);
}

bool Rows::unlink(uint64_t bucket, Slot slot) const {
  for (Slot* link = &head(bucket); *link != kNoSlot; link = &next(*link))
    if (*link == slot) {
      *link = next(slot);
      return true;
    }
  return false;
}

}  // namespace strom::store::rows
