// Decodes pages of a PostgreSQL table to columns in register layout, for pages that are marked as all-visible. It does
// what format/heap/tuple.cpp does on the host, with a thread for each tuple. The bytes come from a file, so nothing in
// them is trusted. Single source.
#pragma once

#include "engine/block/pages.hpp"
#include "engine/platform/platform.hpp"

namespace strom::engine::op {

using block::PageAttribute;
using block::PageColumn;
using block::PageStep;
using block::PageTask;

/// Memory shared by one page's threads.
struct PageScratch {
  uint8_t is_tuple[block::kMostItems];
  int32_t positions[block::kMostItems + 16];  // P::compact() may write 16 more
};

namespace page {

inline constexpr uint32_t kChecksum = 8, kFlags = 10, kLower = 12, kUpper = 14, kSpecial = 16, kSizeAndVersion = 18;
inline constexpr uint32_t kVersion = 4, kKnownFlags = 7, kIsAllVisible = 4;
/// The checksum (src/include/storage/checksum_impl.h) sums so many columns of words, by FNV-1a with a shift.
inline constexpr int kSums = 32;
inline constexpr uint32_t kPrime = 16777619;

STROM_INLINE uint32_t half_word(const uint8_t* page, uint32_t offset) {
  return columnar::heap::load_bytes<uint16_t>(page + offset);
}

/// Number of items of the page; -1: its header is damaged, or does not say that all is visible.
STROM_INLINE int count_items(const uint8_t* page, uint32_t page_size) {
  const uint32_t flags = half_word(page, kFlags), lower = half_word(page, kLower), upper = half_word(page, kUpper);
  const uint32_t special = half_word(page, kSpecial);
  const bool is_sound = lower >= columnar::heap::kItemsOffset && lower <= upper && upper <= special &&
                        special <= page_size && special % 8 == 0 && (flags & ~kKnownFlags) == 0 &&
                        half_word(page, kSizeAndVersion) == (page_size | kVersion);
  if (!is_sound || (flags & kIsAllVisible) == 0) return -1;
  const auto items = static_cast<int>((lower - columnar::heap::kItemsOffset) / 4);
  return items <= block::kMostItems ? items : -1;
}

STROM_INLINE uint32_t first_sum(int column) {
  constexpr uint32_t kFirst[kSums] = {
      0x5B1F36E9, 0xB8525960, 0x02AB50AA, 0x1DE66D2A, 0x79FF467A, 0x9BB9F8A3, 0x217E7CD2, 0x83E13D2C,
      0xF8D4474F, 0xE39EB970, 0x42C6AE16, 0x993216FA, 0x7B093B5D, 0x98DAFF3C, 0xF718902A, 0x0B1C9CDB,
      0xE58F764B, 0x187636BC, 0x5D7B3BB1, 0xE73DE7DE, 0x92BEC979, 0xCCA6C0B2, 0x304A0979, 0x85AA43D4,
      0x783125BB, 0x6CA8EAA2, 0xE407EAC6, 0x4B5CFC3E, 0x9FBF8C76, 0x15CA20BE, 0xF2CA9FD3, 0x959BD756};
  return kFirst[column];
}

STROM_INLINE uint32_t add_to_sum(uint32_t sum, uint32_t word) {
  const uint32_t mixed = sum ^ word;
  return mixed * kPrime ^ (mixed >> 17);
}

/// Sum of one column of words and of two more words that are 0. The checksum's own word counts as 0.
STROM_INLINE uint32_t sum_column(const uint8_t* page, uint32_t page_size, int column) {
  uint32_t sum = first_sum(column);
  for (uint32_t offset = static_cast<uint32_t>(column) * 4; offset < page_size; offset += kSums * 4) {
    auto word = columnar::heap::load_bytes<uint32_t>(page + offset);
    if (offset == kChecksum) word &= 0xFFFF0000;
    sum = add_to_sum(sum, word);
  }
  return add_to_sum(add_to_sum(sum, 0), 0);
}

template <class P>
STROM_INLINE bool has_right_checksum(const P& p, const uint8_t* page, const PageTask& task, uint32_t block,
                                     int32_t* sums) {
  p.for_each(kSums, [&](int i) { sums[i] = static_cast<int32_t>(sum_column(page, task.page_size, i)); });
  p.sync();
  uint32_t sum = block;
  for (int i = 0; i < kSums; ++i) sum ^= static_cast<uint32_t>(sums[i]);
  p.sync();
  return half_word(page, kChecksum) == sum % 65535 + 1;
}

STROM_INLINE void store_bytes(const PageColumn& column, int64_t row, const uint8_t* bytes) {
  const int width = columnar::heap::storage_width(column.storage);
  uint8_t* to = static_cast<uint8_t*>(column.values) + row * width;
  for (int i = 0; i < width; ++i) to[i] = bytes == nullptr ? 0 : bytes[i];
}

STROM_INLINE void store_missing(const PageColumn& column, int64_t row, uint8_t flag) {
  store_bytes(column, row, flag != 0 ? nullptr : column.missing);
  column.flags[row] = flag;
}

STROM_INLINE void store_fixed(const PageColumn& column, int64_t row, const uint8_t* bytes) {
  columnar::heap::with_fixed(column.storage, [&](auto convert) {
    static_cast<decltype(convert(bytes))*>(column.values)[row] = convert(bytes);
  });
  column.flags[row] = 0;
}

/// Compressed values are left to the host: nothing here can inflate.
STROM_INLINE void store_varlena(const PageColumn& column, int64_t row, const columnar::heap::Varlena& value) {
  if (value.payload == nullptr || value.packed) return store_missing(column, row, columnar::heap::kValueOfHost);
  static_cast<registry::StrView*>(column.values)[row] = {reinterpret_cast<const char*>(value.payload),
                                                         static_cast<int64_t>(value.size)};
  column.flags[row] = 0;
}

/// False when the tuple contradicts the format. `row` is used with kStores only.
template <bool kStores>
STROM_INLINE bool walk(const PageTask& task, const uint8_t* tuple, uint32_t size, int64_t row) {
  const columnar::heap::TupleHeader header = columnar::heap::read_header(tuple);
  if (!header.is_inside(size)) return false;
  const uint8_t* const bitmap = tuple + columnar::heap::kBitmapOffset;
  if (header.has_nulls && columnar::heap::kBitmapOffset + (header.attributes + 7) / 8 > header.data) return false;
  const uint8_t* at = tuple + header.data;
  const uint8_t* const end = tuple + size;
  for (uint32_t a = 0; a < task.attribute_count; ++a) {
    const PageAttribute attribute = task.attributes[a];
    const PageColumn* column = !kStores || attribute.column < 0 ? nullptr : task.columns + attribute.column;
    if (a >= header.attributes) {
      if (column != nullptr) store_missing(*column, row, column->missing_flag);
    } else if (header.has_nulls && (bitmap[a >> 3] >> (a & 7) & 1) == 0) {
      if (column != nullptr) store_missing(*column, row, columnar::heap::kNullValue);
    } else if (attribute.layout.length > 0) {
      at = columnar::heap::aligned_up(at, attribute.layout.alignment);
      if (end - at < attribute.layout.length) return false;
      if (column != nullptr) store_fixed(*column, row, at);
      at += attribute.layout.length;
    } else {
      columnar::heap::Varlena value;
      if (!columnar::heap::read_varlena(&at, end, attribute.layout.alignment, &value)) return false;
      if (column != nullptr) store_varlena(*column, row, value);
      at += value.total;
    }
  }
  return true;
}

}  // namespace page

/// Writes the positions of the page's tuples among its items, from 0; returns their number.
template <class P>
STROM_INLINE int find_tuples(const P& p, const uint8_t* bytes, int items, PageScratch& scratch) {
  p.for_each(items, [&](int i) {
    scratch.is_tuple[i] = columnar::heap::read_item(bytes, static_cast<uint32_t>(i) + 1).is_tuple() ? 1 : 0;
  });
  p.sync();
  return p.compact(scratch.is_tuple, items, scratch.positions);
}

template <class P>
STROM_KERNEL void check_page(const P& p, const PageTask& task, uint32_t number, PageScratch& scratch) {
  const uint8_t* bytes = task.pages + uint64_t{number} * task.page_size;
  const int items = page::count_items(bytes, task.page_size);
  bool is_bad = items < 0;
  if (!is_bad && task.has_checksums != 0)
    is_bad = !page::has_right_checksum(p, bytes, task, task.first_block + number, scratch.positions);
  int tuples = 0;
  if (!is_bad) {
    tuples = find_tuples(p, bytes, items, scratch);
    p.sync();
    unsigned wrong = 0;
    p.for_each(tuples, [&](int i) {
      const auto item = columnar::heap::read_item(bytes, static_cast<uint32_t>(scratch.positions[i]) + 1);
      wrong |= !item.is_inside(task.page_size) || !page::walk<false>(task, bytes + item.offset(), item.size(), 0);
    });
    is_bad = p.any(wrong != 0);
  }
  p.leader([&] { task.rows[number] = is_bad ? block::kBadPage : static_cast<uint32_t>(tuples); });
}

/// Decodes a page that check_page() has found sound.
template <class P>
STROM_KERNEL void decode_page(const P& p, const PageTask& task, uint32_t number, PageScratch& scratch) {
  const uint32_t first_row = task.first_rows[number];
  if (first_row == block::kSkippedPage) return;
  const uint8_t* bytes = task.pages + uint64_t{number} * task.page_size;
  const int tuples = find_tuples(p, bytes, page::count_items(bytes, task.page_size), scratch);
  p.sync();
  p.for_each(tuples, [&](int i) {
    const auto offset_number = static_cast<uint32_t>(scratch.positions[i]) + 1;
    const auto item = columnar::heap::read_item(bytes, offset_number);
    const int64_t row = int64_t{first_row} + i;
    task.numbers[row] = static_cast<uint16_t>(offset_number);
    (void)page::walk<true>(task, bytes + item.offset(), item.size(), row);
  });
}

template <class P>
STROM_INLINE void run_page(const P& p, const PageTask& task, uint32_t number, PageScratch& scratch) {
  if (task.step == PageStep::kCheck)
    check_page(p, task, number, scratch);
  else
    decode_page(p, task, number, scratch);
}

}  // namespace strom::engine::op
