// The one place that turns a row of a text column into bytes. Offsets and views come from files that anybody may have
// written, and may be writing to now, so each access checks them. Used by all loaders of text: the scan operator (also
// on devices), tools, tests and the fuzzer.
#pragma once

#include <cstdint>

#include "base/single_source.hpp"
#include "columnar/batch.hpp"

namespace strom::columnar {

namespace text_detail {

using base::load_once;

template <class Offset>
STROM_BASE_INLINE bool offset_text(const ColumnView& column, int64_t row, const char** ptr, int64_t* len) {
  const auto* offsets = static_cast<const Offset*>(column.values) + row;
  const int64_t begin = load_once<Offset>(offsets);
  const int64_t end = load_once<Offset>(offsets + 1);
  if (begin < 0 || end < begin || end > column.data_size) return false;
  *ptr = column.data + begin;
  *len = end - begin;
  return true;
}

STROM_BASE_INLINE bool view_text(const ColumnView& column, int64_t row, const char** ptr, int64_t* len) {
  constexpr int32_t kInlineBytes = 12;
  const char* view = static_cast<const char*>(column.values) + row * 16;
  const auto length = load_once<int32_t>(view);
  if (length < 0) return false;
  *len = length;
  if (length <= kInlineBytes) {
    *ptr = view + 4;
    return true;
  }
  const auto buffer = load_once<int32_t>(view + 8);
  const auto offset = load_once<int32_t>(view + 12);
  if (buffer < 0 || buffer >= column.variadic_count || offset < 0) return false;
  if (offset > column.variadic_sizes[buffer] - length) return false;
  *ptr = column.variadic[buffer] + offset;
  return true;
}

/// Index of a row into a dictionary. Negative indexes become too large ones.
template <class Index>
STROM_BASE_INLINE uint64_t dictionary_index(const ColumnView& column, int64_t row) {
  return load_once<Index>(static_cast<const Index*>(column.values) + row);
}

STROM_BASE_INLINE bool dictionary_text(const ColumnView& column, uint64_t index, const char** ptr, int64_t* len) {
  if (index >= static_cast<uint64_t>(column.dictionary_size) || column.dictionary == nullptr) return false;
  *ptr = column.dictionary[index].ptr;
  *len = column.dictionary[index].len;
  return true;
}

}  // namespace text_detail

/// Index of row `row` of a kDictionary column into its dictionary. It may be too large.
STROM_BASE_INLINE uint64_t dictionary_index(const ColumnView& column, int64_t row) {
  switch (column.byte_width) {
    case 1: return text_detail::dictionary_index<uint8_t>(column, row);
    case 2: return text_detail::dictionary_index<uint16_t>(column, row);
    case 4: return text_detail::dictionary_index<uint32_t>(column, row);
    default: return text_detail::dictionary_index<uint64_t>(column, row);
  }
}

/// Bytes of row `row` (0 <= row < column.length; not null) of a column of texts, binary values or fixed width, or of
/// a dictionary of those. False when the row's offsets or view lead outside of the column's buffers, and for other
/// layouts.
STROM_BASE_INLINE bool text_at(const ColumnView& column, int64_t row, const char** ptr, int64_t* len) {
  switch (column.layout) {
    case Layout::kUtf8:
    case Layout::kBinary: return text_detail::offset_text<int32_t>(column, row, ptr, len);
    case Layout::kLargeUtf8:
    case Layout::kLargeBinary: return text_detail::offset_text<int64_t>(column, row, ptr, len);
    case Layout::kUtf8View:
    case Layout::kBinaryView: return text_detail::view_text(column, row, ptr, len);
    case Layout::kFixedBinary:
      *ptr = static_cast<const char*>(column.values) + row * column.byte_width;
      *len = column.byte_width;
      return true;
    case Layout::kDictionary: return text_detail::dictionary_text(column, dictionary_index(column, row), ptr, len);
    default: return false;
  }
}

/// False when row `row` is NULL.
STROM_BASE_INLINE bool is_valid(const ColumnView& column, int64_t row) {
  return column.validity == nullptr || ((column.validity[row >> 3] >> (row & 7)) & 1) != 0;
}

}  // namespace strom::columnar
