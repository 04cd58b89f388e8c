// Facts about physical layouts: widths and names. Used by builders, readers, writers and their tests.
#pragma once

#include <cstdint>

#include "columnar/schema.hpp"

namespace strom::columnar {

/// Bytes per row in a column's values buffer: 0 for kBool (a bit), for text and lists the width of an offset or of a
/// view; `byte_width` for kFixedBinary; of a type id for unions; 0 for layouts without such a buffer.
constexpr int64_t value_width(Layout layout, int32_t byte_width) {
  switch (layout) {
    case Layout::kBool: return 0;
    case Layout::kInt8:
    case Layout::kUInt8:
    case Layout::kSparseUnion:
    case Layout::kDenseUnion: return 1;
    case Layout::kInt16:
    case Layout::kUInt16:
    case Layout::kFloat16: return 2;
    case Layout::kInt32:
    case Layout::kUInt32:
    case Layout::kFloat32:
    case Layout::kDecimal32:
    case Layout::kDate32:
    case Layout::kTime32:
    case Layout::kIntervalMonths:
    case Layout::kUtf8:
    case Layout::kBinary:
    case Layout::kList:
    case Layout::kListView:
    case Layout::kMap: return 4;
    case Layout::kInt64:
    case Layout::kUInt64:
    case Layout::kFloat64:
    case Layout::kDecimal64:
    case Layout::kDate64:
    case Layout::kTimestamp:
    case Layout::kTime64:
    case Layout::kDuration:
    case Layout::kIntervalDayTime:
    case Layout::kLargeUtf8:
    case Layout::kLargeBinary:
    case Layout::kLargeList:
    case Layout::kLargeListView: return 8;
    case Layout::kDecimal128:
    case Layout::kIntervalMonthDayNano:
    case Layout::kUtf8View:
    case Layout::kBinaryView: return 16;
    case Layout::kDecimal256: return 32;
    case Layout::kNull:
    case Layout::kFixedList:
    case Layout::kStruct:
    case Layout::kRunEndEncoded: return 0;  // no such buffer
    case Layout::kFixedBinary:
    case Layout::kDictionary: return byte_width;
  }
  return 0;
}

/// Layouts that the tools, too, write and compute with; the others are only read.
constexpr bool is_basic(Layout layout) { return layout <= Layout::kDictionary; }

/// Decimals, whose field has a precision and a scale.
constexpr bool is_decimal(Layout layout) {
  return layout == Layout::kDecimal32 || layout == Layout::kDecimal64 || layout == Layout::kDecimal128 ||
         layout == Layout::kDecimal256;
}
/// Digits that a decimal layout holds at most.
constexpr int max_precision(Layout layout) {
  return layout == Layout::kDecimal32 ? 9 : layout == Layout::kDecimal64 ? 18 : layout == Layout::kDecimal256 ? 76 : 38;
}

/// Text or bytes in an int32- or int64-offset layout: the values buffer has one offset more than rows.
constexpr bool has_offsets(Layout layout) {
  return layout == Layout::kUtf8 || layout == Layout::kLargeUtf8 || layout == Layout::kBinary ||
         layout == Layout::kLargeBinary;
}
/// Text or bytes as views of 16 bytes.
constexpr bool is_view(Layout layout) { return layout == Layout::kUtf8View || layout == Layout::kBinaryView; }

/// UTF-8 text of any length.
constexpr bool is_text(Layout layout) {
  return layout == Layout::kUtf8 || layout == Layout::kLargeUtf8 || layout == Layout::kUtf8View;
}
/// Bytes of any length.
constexpr bool is_binary(Layout layout) {
  return layout == Layout::kBinary || layout == Layout::kLargeBinary || layout == Layout::kBinaryView;
}

/// Texts or bytes of any length, which text_at() finds by what it reads from the column, and may not find.
constexpr bool refers_to_texts(Layout layout) {
  return has_offsets(layout) || is_view(layout) || layout == Layout::kDictionary;
}

/// Rows consist of rows of other columns.
constexpr bool is_nested(Layout layout) { return layout >= Layout::kList; }
/// Offsets into one child, one more than rows.
constexpr bool has_list_offsets(Layout layout) {
  return layout == Layout::kList || layout == Layout::kLargeList || layout == Layout::kMap;
}
/// Offsets into one child and sizes.
constexpr bool is_list_view(Layout layout) { return layout == Layout::kListView || layout == Layout::kLargeListView; }
/// Any number of elements of one type.
constexpr bool is_list(Layout layout) { return layout >= Layout::kList && layout <= Layout::kFixedList; }
constexpr bool is_union(Layout layout) { return layout == Layout::kSparseUnion || layout == Layout::kDenseUnion; }
constexpr bool is_time(Layout layout) { return layout == Layout::kTime32 || layout == Layout::kTime64; }
constexpr bool is_interval(Layout layout) {
  return layout >= Layout::kIntervalMonths && layout <= Layout::kIntervalMonthDayNano;
}
/// Layouts that tell values apart by `unit`.
constexpr bool has_unit(Layout layout) {
  return is_time(layout) || layout == Layout::kTimestamp || layout == Layout::kDuration;
}
/// A value is `value_width()` bytes and nothing else.
constexpr bool has_fixed_width(Layout layout, int32_t byte_width) {
  return value_width(layout, byte_width) > 0 && !refers_to_texts(layout) && !is_nested(layout);
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

/// Name as the Arrow specification has it, e.g. "Int32", "LargeUtf8".
constexpr const char* layout_name(Layout layout) {
  switch (layout) {
    case Layout::kBool: return "Bool";
    case Layout::kInt8: return "Int8";
    case Layout::kInt16: return "Int16";
    case Layout::kInt32: return "Int32";
    case Layout::kInt64: return "Int64";
    case Layout::kUInt8: return "UInt8";
    case Layout::kUInt16: return "UInt16";
    case Layout::kUInt32: return "UInt32";
    case Layout::kFloat32: return "Float32";
    case Layout::kFloat64: return "Float64";
    case Layout::kDecimal32: return "Decimal32";
    case Layout::kDecimal64: return "Decimal64";
    case Layout::kDecimal128: return "Decimal128";
    case Layout::kDate32: return "Date32";
    case Layout::kDate64: return "Date64";
    case Layout::kTimestamp: return "Timestamp";
    case Layout::kUtf8: return "Utf8";
    case Layout::kLargeUtf8: return "LargeUtf8";
    case Layout::kUtf8View: return "Utf8View";
    case Layout::kFixedBinary: return "FixedSizeBinary";
    case Layout::kDictionary: return "Dictionary";
    case Layout::kUInt64: return "UInt64";
    case Layout::kFloat16: return "Float16";
    case Layout::kDecimal256: return "Decimal256";
    case Layout::kTime32: return "Time32";
    case Layout::kTime64: return "Time64";
    case Layout::kDuration: return "Duration";
    case Layout::kIntervalMonths: return "Interval(YearMonth)";
    case Layout::kIntervalDayTime: return "Interval(DayTime)";
    case Layout::kIntervalMonthDayNano: return "Interval(MonthDayNano)";
    case Layout::kBinary: return "Binary";
    case Layout::kLargeBinary: return "LargeBinary";
    case Layout::kBinaryView: return "BinaryView";
    case Layout::kNull: return "Null";
    case Layout::kList: return "List";
    case Layout::kLargeList: return "LargeList";
    case Layout::kListView: return "ListView";
    case Layout::kLargeListView: return "LargeListView";
    case Layout::kFixedList: return "FixedSizeList";
    case Layout::kMap: return "Map";
    case Layout::kStruct: return "Struct";
    case Layout::kSparseUnion: return "SparseUnion";
    case Layout::kDenseUnion: return "DenseUnion";
    case Layout::kRunEndEncoded: return "RunEndEncoded";
  }
  return "unknown";
}

}  // namespace strom::columnar
