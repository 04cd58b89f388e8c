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
  kFixedBinary,  // byte_width bytes each; SQL char(n)
  kDictionary,   // of views, not of fields: indexes of byte_width bytes into ColumnView::dictionary
};

enum class TimeUnit : uint8_t { kSecond, kMilli, kMicro, kNano };

using KeyValues = std::vector<std::pair<std::string, std::string>>;

struct Field {
  std::string name;
  Layout layout = Layout::kInt32;
  bool nullable = true;
  int32_t precision = 0;             // decimals
  int32_t scale = 0;                 // decimals
  int32_t byte_width = 0;            // kFixedBinary
  TimeUnit unit = TimeUnit::kMicro;  // kTimestamp
  std::string timezone;              // kTimestamp; not empty = timestamptz
  bool dictionary = false;           // stored as indexes into a dictionary of values of `layout`
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
