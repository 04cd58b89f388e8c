// Schema of columnar data as it lies in memory or in an Arrow file: the physical column layouts that loaders
// understand, named after the Arrow columnar format (https://arrow.apache.org/docs/format/Columnar.html).
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace strom::columnar {

/// Physical layout and meaning of one column. Each value has exactly one loader in engine/op/scan.
enum class Layout : uint8_t {
  kBool,  // bitmap, least significant bit first
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kUInt8,
  kUInt16,
  kUInt32,
  kFloat32,
  kFloat64,
  kDecimal32,    // little-endian two's complement, 4 bytes
  kDecimal64,    // 8 bytes
  kDecimal128,   // little-endian two's complement, 16 bytes
  kDate32,       // days since 1970-01-01
  kDate64,       // milliseconds since 1970-01-01
  kTimestamp,    // int64 in `unit` since 1970-01-01 (UTC when `timezone` is set)
  kUtf8,         // int32 offsets
  kLargeUtf8,    // int64 offsets
  kUtf8View,     // 16-byte views: inline up to 12 bytes, else (length, prefix, buffer, offset)
  kFixedBinary,  // byte_width bytes each
  kDictionary,   // of views, not of fields: indexes of byte_width bytes into ColumnView::dictionary or ::children
  kUInt64,
  kFloat16,
  kDecimal256,            // little-endian two's complement, 32 bytes
  kTime32,                // int32 in `unit` since midnight, seconds or milliseconds
  kTime64,                // int64 in `unit` since midnight, microseconds or nanoseconds
  kDuration,              // int64 in `unit`
  kIntervalMonths,        // int32
  kIntervalDayTime,       // days and milliseconds, int32 each
  kIntervalMonthDayNano,  // months and days (int32), nanoseconds (int64)
  kBinary,                // int32 offsets
  kLargeBinary,           // int64 offsets
  kBinaryView,            // as kUtf8View
  kNull,                  // no buffers, every row is NULL
  // Nested: rows refer to rows of ColumnView::children.
  kList,           // int32 offsets
  kLargeList,      // int64 offsets
  kListView,       // int32 offsets, sizes
  kLargeListView,  // int64 offsets, sizes
  kFixedList,      // byte_width elements each
  kMap,            // int32 offsets into one child of layout kStruct: key, value
  kStruct,
  kSparseUnion,    // type ids (int8); row i is row i of the child
  kDenseUnion,     // type ids (int8), offsets (int32) into the child
  kRunEndEncoded,  // children: ends of runs (integers, ascending), values
};

enum class TimeUnit : uint8_t { kSecond, kMilli, kMicro, kNano };

using KeyValues = std::vector<std::pair<std::string, std::string>>;

/// A column, or a part of a nested one.
struct Field {
  std::string name;
  Layout layout = Layout::kInt32;
  bool nullable = true;
  int32_t precision = 0;             // decimals
  int32_t scale = 0;                 // decimals
  int32_t byte_width = 0;            // kFixedBinary; elements of kFixedList
  TimeUnit unit = TimeUnit::kMicro;  // of times, timestamps and durations
  std::string timezone;              // kTimestamp; not empty = timestamptz
  bool dictionary = false;           // stored as indexes into a dictionary of values of `layout`
  std::vector<Field> children;       // of nested layouts
  std::vector<int32_t> type_ids;     // of unions: the type id of each child
  KeyValues metadata;
  /// Not empty: the file's column has a feature that cannot be read (its name, e.g. "dictionary encoding",
  /// "type Struct"). `layout` is then meaningless; reading the column is ErrorCode::kUnsupported.
  std::string unsupported;
};

struct Schema {
  std::vector<Field> fields;
  KeyValues metadata;
};

}  // namespace strom::columnar
