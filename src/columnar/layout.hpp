// Facts about physical layouts: widths and names. Used by builders, readers, writers and their tests.
#pragma once

#include <cstdint>

#include "columnar/schema.hpp"

namespace strom::columnar {

/// Bytes per row in a column's values buffer: 0 for kBool (a bit), for text the width of an offset or of a view;
/// `byte_width` for kFixedBinary.
constexpr int64_t value_width(Layout layout, int32_t byte_width) {
  switch (layout) {
    case Layout::kBool: return 0;
    case Layout::kInt8:
    case Layout::kUInt8: return 1;
    case Layout::kInt16:
    case Layout::kUInt16: return 2;
    case Layout::kInt32:
    case Layout::kUInt32:
    case Layout::kFloat32:
    case Layout::kDecimal32:
    case Layout::kDate32:
    case Layout::kUtf8: return 4;
    case Layout::kInt64:
    case Layout::kFloat64:
    case Layout::kDecimal64:
    case Layout::kDate64:
    case Layout::kTimestamp:
    case Layout::kLargeUtf8: return 8;
    case Layout::kDecimal128:
    case Layout::kUtf8View: return 16;
    case Layout::kFixedBinary:
    case Layout::kDictionary: return byte_width;
  }
  return 0;
}

/// Decimals, whose field has a precision and a scale.
constexpr bool is_decimal(Layout layout) {
  return layout == Layout::kDecimal32 || layout == Layout::kDecimal64 || layout == Layout::kDecimal128;
}
/// Digits that a decimal layout holds at most.
constexpr int max_precision(Layout layout) {
  return layout == Layout::kDecimal32 ? 9 : layout == Layout::kDecimal64 ? 18 : 38;
}

/// Text in an int32- or int64-offset layout: the values buffer has one offset more than rows.
constexpr bool has_offsets(Layout layout) { return layout == Layout::kUtf8 || layout == Layout::kLargeUtf8; }

/// UTF-8 text of any length.
constexpr bool is_text(Layout layout) { return has_offsets(layout) || layout == Layout::kUtf8View; }

/// Texts of any length, which text_at() finds by what it reads from the column, and may not find.
constexpr bool refers_to_texts(Layout layout) {
  return has_offsets(layout) || layout == Layout::kUtf8View || layout == Layout::kDictionary;
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
  }
  return "unknown";
}

}  // namespace strom::columnar
