// Non-owning views of one record batch in Arrow memory layout. Whoever hands one out (a mapped file, a builder, a
// test) keeps the memory alive.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "columnar/origin.hpp"
#include "columnar/layout.hpp"
#include "registry/types.hpp"

namespace strom::columnar {

class PageBatch;

/// One column of one record batch. Plain data, so that it can be copied to a device as it is.
struct ColumnView {
  Layout layout = Layout::kInt32;
  TimeUnit unit = TimeUnit::kMicro;
  int32_t byte_width = 0;                   // kFixedBinary; elements of kFixedList
  int64_t length = 0;                       // rows
  int64_t null_count = 0;                   // 0 = `validity` need not be looked at
  const uint8_t* validity = nullptr;        // bitmap, 1 = not null; nullptr when there are no nulls
  const void* values = nullptr;             // fixed-width values, bitmap, offsets, views or type ids
  const char* data = nullptr;               // bytes that offsets of texts point into; sizes of list views (of the
                                            // offsets' width); offsets of kDenseUnion
  int64_t data_size = 0;                    // bytes of `data`
  const char* const* variadic = nullptr;    // kUtf8View: data buffers
  const int64_t* variadic_sizes = nullptr;  // their sizes in bytes
  int32_t variadic_count = 0;
  const registry::StrView* dictionary = nullptr;  // kDictionary: texts, already checked
  int64_t dictionary_size = 0;
  const ColumnView* children = nullptr;  // of nested layouts; kDictionary without `dictionary`: its parts, in order
  int32_t child_count = 0;
  bool is_register = false;        // `values` are the engine's registers (registry::Phys), whatever `layout` says
  const uint8_t* flags = nullptr;  // is_register: a byte for each row instead of `validity`: 1 = null, 2 = a value that
                                   // the engine does not hold, 4 = a compressed text; nullptr when there are none
  bool has_packed = false;         // is_register: some flag is 4
  bool is_stored_numeric = false;  // with is_register: `values` are StrViews of numerics as PostgreSQL stores them
                                   // (base/stored_numeric.hpp) instead
  int32_t scale = 0;               // is_stored_numeric: of the register's values, or base::kOwnScale
};

/// Rows of a chunk with the columns that a query refers to, in the order in which it asked for them.
///
/// A chunk may have hidden rows: `selection` is the result of the scan's first filter. Hidden rows have values like all
/// others (their texts lie in their buffers), but the engine neither loads nor counts them. Only batches that a
/// pipeline reads have a selection.
struct BatchView {
  int64_t rows = 0;
  std::vector<ColumnView> columns;
  std::shared_ptr<const void> memory{};  // keeps what the columns point to alive, where nobody else does
  int64_t begin = 0;                     // rows [begin, begin + rows) of the columns; 0 but for chunks that are fed
  std::shared_ptr<const BatchOrigin> origin{};  // nullptr: nothing is to be cached; valid as long as the source
  std::shared_ptr<PageBatch> pages{};           // instead of rows and columns, see page_batch.hpp
  const uint8_t* selection = nullptr;  // bitmap over the columns' rows, 1 = visible; nullptr: all are, at no cost

  /// How many rows are visible.
  int64_t selected_rows() const;
};

/// How many of the bits [begin, begin + count) are 1.
int64_t count_bits(const uint8_t* bits, int64_t begin, int64_t count);

inline int64_t BatchView::selected_rows() const {
  return selection == nullptr ? rows : count_bits(selection, begin, rows);
}

}  // namespace strom::columnar
