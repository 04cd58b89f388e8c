// Decodes rows in the binary form of MySQL's and MariaDB's prepared statements into Arrow columns. Used by mysql2arrow.
// Knows nothing of the client library. All input is untrusted. Format:
// https://mariadb.com/kb/en/resultset-row/#binary-resultset-row
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.hpp"
#include "columnar/labels.hpp"
#include "columnar/builder.hpp"

namespace strom::format::mysqlwire {

/// How a value's bytes are read. The type of its column is in brackets.
enum class Wire : uint8_t {
  kFixed,     // little-endian, of the field's width [Int, UInt, Float]
  kTinyBool,  // one byte, 0 or 1 [Bool]
  kBit,       // big-endian, up to eight bytes [UInt64]
  kBitBool,   // one byte [Bool]
  kDecimal,   // text [Decimal]
  kText,      // [Utf8]
  kBytes,     // [Binary]
  kUuid,      // text [FixedSizeBinary(16)]
  kDate,      // [Date32]
  kDateTime,  // [Timestamp]
  kDateText,  // date or timestamp, as the server prints it [Utf8]
  kTime,      // [Time]
  kDuration,  // time [Interval]
  kTimeText,  // time, as the server prints it [Utf8]
  kLabel,     // text [index into a dictionary]
  kGeometry,  // SRID and WKB [Binary: the WKB]
  kVector,    // 32-bit floating-point numbers [List of Float32]
};

/// Dates that do not exist, such as 0000-00-00 and 2024-02-00.
enum class ZeroDates : uint8_t { kError, kNull };

struct WireColumn {
  Wire wire = Wire::kText;
  bool is_sized = false;  // the value's length precedes it; otherwise it has `width` bytes, or is a date or time
  int width = 0;
  int decimals = 0;       // kDateText, kTimeText
  bool has_time = false;  // kDateText
  ZeroDates zero_dates = ZeroDates::kError;
  uint32_t srid = 0;  // kGeometry: of all values
  std::shared_ptr<columnar::Labels> labels{};
  std::shared_ptr<columnar::LabelLookup> lookup{};  // made by the decoder
};

/// Appends rows to `columns`. Each result has its own decoder; not thread-safe.
class RowDecoder {
 public:
  /// `columns` belong to the caller, who may clear them between calls. There are as many as `wires`.
  RowDecoder(std::vector<WireColumn> wires, std::vector<columnar::ColumnBuilder>* columns);

  /// Appends one row. Errors, which name row and column: kCorruptFile for malformed bytes, kNumericOutOfRange,
  /// kUnsupported and kInvalidParameter for values that the column cannot hold. No call may follow an error.
  Status append(const uint8_t* bytes, int64_t size);
  /// Rows since the beginning.
  int64_t rows() const { return rows_; }

 private:
  std::vector<WireColumn> wires_;
  std::vector<columnar::ColumnBuilder>* columns_;
  int64_t rows_ = 0;
};

}  // namespace strom::format::mysqlwire
