// Physical layouts of columns, named after the Arrow columnar format
// (https://arrow.apache.org/docs/format/Columnar.html), and facts about them. The rows are those of
// registry/arrow_types.def. Used by builders, readers, writers, loaders and their tests.
#pragma once

#include <cstdint>

namespace strom::columnar {

/// Physical layout and meaning of one column.
enum class Layout : uint8_t {
#define STROM_ARROW_TYPE(name, ...) k##name,
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
};

/// Buffers and children of a column besides its validity bitmap.
enum class Form : uint8_t {
  kNone,     // none, nor a bitmap
  kBits,     // bits, least significant first
  kFixed,    // values
  kOffsets,  // offsets, one more than rows; bytes
  kViews,    // views of 16 bytes: inline up to 12 bytes, else (length, prefix, buffer, offset); any number of buffers
  kListOffsets,  // offsets into the child, one more than rows
  kListViews,    // offsets into the child; sizes
  kFixedList,    // byte_width rows of the child for each row
  kStruct,       // a row of each child for each row
  kUnion,  // no bitmap; type ids (int8); if dense, offsets (int32) into the child. Sparse: row i is row i of its child
  kRunEnds,  // no bitmap; children: ends of runs, values
};

enum class Loader : uint8_t { kEngine, kCodec };

/// What kind of values a layout has.
enum class Values : uint8_t {
  kBool,
  kSigned,
  kUnsigned,
  kReal,
  kDecimal,
  kMoment,  // signed: dates, times of the day, points in time
  kSpan,    // signed: lengths of time in one unit
  kText,
  kBytes,
  kOther,
};

enum class TimeUnit : uint8_t { kSecond, kMilli, kMicro, kNano };

inline constexpr int32_t kWidthOfField = -1;

constexpr Form form_of(Layout layout) {
  switch (layout) {
#define STROM_ARROW_TYPE(name, text, arrow, first, second, form, ...) \
  case Layout::k##name: return Form::form;
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
  }
  return Form::kNone;
}

/// Bytes per row in a column's values buffer: 0 for kBool (a bit), for text and lists the width of an offset or of a
/// view; `byte_width` for kFixedBinary; of a type id for unions; 0 for layouts without such a buffer.
constexpr int64_t value_width(Layout layout, int32_t byte_width) {
  int32_t fixed = 0;
  switch (layout) {
#define STROM_ARROW_TYPE(name, text, arrow, first, second, form, width, ...) \
  case Layout::k##name: fixed = width; break;
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
  }
  return fixed == kWidthOfField ? byte_width : fixed;
}

constexpr Values values_of(Layout layout) {
  switch (layout) {
#define STROM_ARROW_TYPE(name, text, arrow, first, second, form, width, values, ...) \
  case Layout::k##name: return Values::values;
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
  }
  return Values::kOther;
}

/// True when the engine has a loader for the layout, in engine/op/scan.
constexpr bool has_engine_loader(Layout layout) {
  switch (layout) {
#define STROM_ARROW_TYPE(name, text, arrow, first, second, form, width, values, sql, sql_text, loader) \
  case Layout::k##name: return Loader::loader == Loader::kEngine;
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
  }
  return false;
}

/// Name as the Arrow specification has it, e.g. "Int32", "LargeUtf8".
constexpr const char* layout_name(Layout layout) {
  switch (layout) {
#define STROM_ARROW_TYPE(name, text, ...) \
  case Layout::k##name: return text;
#include "registry/arrow_types.def"
#undef STROM_ARROW_TYPE
  }
  return "unknown";
}

/// True for decimals, whose fields have a precision and a scale.
constexpr bool is_decimal(Layout layout) { return values_of(layout) == Values::kDecimal; }
/// Digits that a decimal layout holds at most.
constexpr int max_precision(Layout layout) {
  return layout == Layout::kDecimal32 ? 9 : layout == Layout::kDecimal64 ? 18 : layout == Layout::kDecimal256 ? 76 : 38;
}

/// Text or bytes in an int32- or int64-offset layout: the values buffer has one offset more than rows.
constexpr bool has_offsets(Layout layout) { return form_of(layout) == Form::kOffsets; }
/// Text or bytes as views of 16 bytes.
constexpr bool is_view(Layout layout) { return form_of(layout) == Form::kViews; }

/// UTF-8 text of any length.
constexpr bool is_text(Layout layout) { return values_of(layout) == Values::kText; }
/// Bytes of any length.
constexpr bool is_binary(Layout layout) {
  return values_of(layout) == Values::kBytes && (has_offsets(layout) || is_view(layout));
}

/// Texts or bytes of any length: text_at() reads offsets or indexes from the column, and these may be wrong.
constexpr bool refers_to_texts(Layout layout) {
  return has_offsets(layout) || is_view(layout) || layout == Layout::kDictionary;
}

/// True when rows consist of rows of other columns.
constexpr bool is_nested(Layout layout) { return form_of(layout) >= Form::kListOffsets; }
/// True for layouts with offsets into one child, one more than rows.
constexpr bool has_list_offsets(Layout layout) { return form_of(layout) == Form::kListOffsets; }
/// True for layouts with offsets into one child, and sizes.
constexpr bool is_list_view(Layout layout) { return form_of(layout) == Form::kListViews; }
/// Any number of elements of one type.
constexpr bool is_list(Layout layout) {
  return is_list_view(layout) || layout == Layout::kList || layout == Layout::kLargeList ||
         layout == Layout::kFixedList;
}
constexpr bool is_union(Layout layout) { return form_of(layout) == Form::kUnion; }
constexpr bool is_time(Layout layout) { return layout == Layout::kTime32 || layout == Layout::kTime64; }
constexpr bool is_interval(Layout layout) {
  return layout >= Layout::kIntervalMonths && layout <= Layout::kIntervalMonthDayNano;
}
/// True for layouts whose values depend on the field's `unit`.
constexpr bool has_unit(Layout layout) {
  return is_time(layout) || layout == Layout::kTimestamp || layout == Layout::kDuration;
}
/// A value is `value_width()` bytes and nothing else.
constexpr bool has_fixed_width(Layout layout, int32_t byte_width) {
  return form_of(layout) == Form::kFixed && layout != Layout::kDictionary && value_width(layout, byte_width) > 0;
}

constexpr const char* unit_name(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kSecond: return "s";
    case TimeUnit::kMilli: return "ms";
    case TimeUnit::kMicro: return "us";
    case TimeUnit::kNano: return "ns";
  }
  return "?";
}

}  // namespace strom::columnar
