// The rows of children that rows of nested columns refer to. The offsets come from files that anybody may have written,
// and may be writing to now, so each access checks them. Used by all readers of nested columns: the foreign scan,
// tools, tests and the fuzzer.
#pragma once

#include <cstdint>
#include <vector>

#include "base/single_source.hpp"
#include "columnar/batch.hpp"
#include "columnar/text.hpp"

namespace strom::columnar {

/// Rows of a child.
struct ChildRows {
  const ColumnView* child = nullptr;
  int64_t begin = 0, count = 0;
};

namespace nested_detail {

template <class Offset>
bool list_rows(const ColumnView& column, int64_t row, ChildRows* rows) {
  const auto* offsets = static_cast<const Offset*>(column.values) + row;
  const int64_t begin = base::load_once<Offset>(offsets), end = base::load_once<Offset>(offsets + 1);
  if (begin < 0 || end < begin || end > column.children[0].length) return false;
  *rows = {&column.children[0], begin, end - begin};
  return true;
}

template <class Offset>
bool list_view_rows(const ColumnView& column, int64_t row, ChildRows* rows) {
  const int64_t begin = base::load_once<Offset>(static_cast<const Offset*>(column.values) + row);
  const int64_t count = base::load_once<Offset>(reinterpret_cast<const Offset*>(column.data) + row);
  const int64_t length = column.children[0].length;
  if (begin < 0 || count < 0 || begin > length || count > length - begin) return false;
  *rows = {&column.children[0], begin, count};
  return true;
}

template <class End>
int64_t run_of(const ColumnView& ends, int64_t row) {
  int64_t low = 0, high = ends.length;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (base::load_once<End>(static_cast<const End*>(ends.values) + middle) > row)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace nested_detail

/// Elements of row `row` (not null) of a list of any layout, or entries of a kMap. False when they lie outside of the
/// child.
inline bool list_rows(const ColumnView& column, int64_t row, ChildRows* rows) {
  if (column.child_count < 1) return false;
  switch (column.layout) {
    case Layout::kList:
    case Layout::kMap: return nested_detail::list_rows<int32_t>(column, row, rows);
    case Layout::kLargeList: return nested_detail::list_rows<int64_t>(column, row, rows);
    case Layout::kListView: return nested_detail::list_view_rows<int32_t>(column, row, rows);
    case Layout::kLargeListView: return nested_detail::list_view_rows<int64_t>(column, row, rows);
    case Layout::kFixedList:
      *rows = {&column.children[0], row * column.byte_width, column.byte_width};
      return rows->begin <= column.children[0].length - column.byte_width;
    default: return false;
  }
}

/// The value of row `row` of a union, of a kRunEndEncoded, or of a kDictionary whose values are in children. The value
/// is row `child_row` of children[child]. `type_ids` are the field's. False when there is no such row.
inline bool value_row(const ColumnView& column, const std::vector<int32_t>& type_ids, int64_t row, int* child,
                      int64_t* child_row) {
  *child = -1;
  *child_row = row;
  if (column.layout == Layout::kRunEndEncoded) {
    if (column.child_count < 2) return false;
    const ColumnView& ends = column.children[0];
    *child = 1;
    *child_row = ends.layout == Layout::kInt16   ? nested_detail::run_of<int16_t>(ends, row)
                 : ends.layout == Layout::kInt32 ? nested_detail::run_of<int32_t>(ends, row)
                                                 : nested_detail::run_of<int64_t>(ends, row);
    return *child_row < column.children[1].length && *child_row < ends.length;
  }
  if (column.layout == Layout::kDictionary) {
    const uint64_t index = dictionary_index(column, row);
    if (index >= static_cast<uint64_t>(column.dictionary_size)) return false;
    *child_row = static_cast<int64_t>(index);
    for (int i = 0; i < column.child_count; *child_row -= column.children[i++].length) {
      *child = i;
      if (*child_row < column.children[i].length) return true;
    }
    return false;
  }
  const int id = base::load_once<int8_t>(static_cast<const int8_t*>(column.values) + row);
  for (size_t i = 0; i < type_ids.size() && *child < 0; ++i)
    if (type_ids[i] == id) *child = static_cast<int>(i);
  if (*child < 0 || *child >= column.child_count) return false;
  if (column.layout == Layout::kDenseUnion)
    *child_row = base::load_once<int32_t>(reinterpret_cast<const int32_t*>(column.data) + row);
  return *child_row >= 0 && *child_row < column.children[*child].length;
}

}  // namespace strom::columnar
