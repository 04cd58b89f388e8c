// A task over pages of a PostgreSQL table that lie in a device's memory: what the kernel of engine/op/pages reads and
// writes. Plain data; all pointers are addresses on the device. Made by engine/device/device_pages.cpp. See
// docs/dev/heap.md.
#pragma once

#include <cstdint>

#include "columnar/heap_page.hpp"

namespace strom::engine::block {

enum class PageStep : uint32_t {
  kCheck,   // counts the tuples of each page into `rows`
  kDecode,  // writes the tuples of each page to rows from `first_rows` on
};

inline constexpr uint32_t kBadPage = UINT32_MAX;      // in `rows`: the page is damaged, or not marked as all-visible
inline constexpr uint32_t kSkippedPage = UINT32_MAX;  // in `first_rows`: the page is not decoded
/// Most items of a page. A page with more counts as damaged.
inline constexpr int kMostItems = 2048;

struct PageAttribute {
  columnar::heap::AttributeLayout layout;
  int32_t column;  // of `columns`, or -1
};

struct PageColumn {
  columnar::heap::Storage storage;
  uint8_t missing_flag;  // as in columnar::heap::WantedColumn
  void* values;
  uint8_t* flags;  // a byte for each row
  uint8_t missing[16];
};

struct PageTask {
  PageStep step;
  uint32_t page_size, first_block;
  uint32_t has_checksums;    // 1, or 0
  uint32_t attribute_count;  // up to the last attribute that the scan reads
  const PageAttribute* attributes;
  const PageColumn* columns;
  const uint8_t* pages;
  uint32_t* rows;
  const uint32_t* first_rows;
  uint16_t* numbers;  // item number of each row
};

}  // namespace strom::engine::block
