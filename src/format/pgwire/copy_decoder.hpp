// Decodes the output of PostgreSQL's COPY … TO STDOUT (FORMAT binary) into Arrow columns. Used by pg2arrow. Knows
// nothing of libpq. All input is untrusted. Format: https://www.postgresql.org/docs/current/sql-copy.html (binary
// format), and the types' send functions.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "columnar/labels.hpp"
#include "columnar/builder.hpp"

namespace strom::format::pgwire {

/// How a value's bytes are read. The type of its column is in brackets.
enum class Wire : uint8_t {
  kBool,         // [Bool]
  kInt,          // two's complement of the field's width [Int, UInt, Float]
  kDecimal,      // numeric [Decimal]
  kNumericText,  // numeric, as it is printed [Utf8]
  kNumericReal,  // numeric [Float64]
  kText,         // [Utf8]
  kJsonb,        // version 1 and text [Utf8]
  kBytes,        // [Binary]
  kFixed,        // as many bytes as the field has [FixedSizeBinary]
  kDate,         // [Date32]
  kTime,         // microseconds [Time64 in microseconds]
  kTimestamp,    // [Timestamp in microseconds]
  kInterval,     // [Interval]
  kNetwork,      // inet, cidr [Utf8]
  kGeometry,     // of PostGIS [Binary: ISO WKB]
  kEnum,         // a label, or any text when labels grow [index into a dictionary]
  kArray,        // one dimension [List]
  kRecord,       // [Struct]
};

struct WireColumn {
  Wire wire = Wire::kText;
  uint32_t oid = 0;                            // checked in arrays and records; 0: any
  bool infinity_is_null = false;               // kDate, kTimestamp, kInterval: otherwise an error
  bool out_of_range_is_null = false;           // values that the Arrow type does not have: otherwise an error
  bool may_round = false;                      // kNumericReal: takes the nearest number, otherwise an error
  bool check_utf8 = false;                     // kText, kJsonb, kEnum
  uint32_t srid = 0;                           // kGeometry: of all values
  std::shared_ptr<columnar::Labels> labels{};  // kEnum; they may grow
  std::vector<WireColumn> children{};
  std::shared_ptr<columnar::LabelLookup> lookup{};  // made by the decoder
};

/// Appends rows to `columns`. Each COPY has its own decoder; not thread-safe.
class CopyDecoder {
 public:
  /// `columns` belong to the caller, who may clear them between calls. There are as many as `wires`.
  CopyDecoder(std::vector<WireColumn> wires, std::vector<columnar::ColumnBuilder>* columns);

  /// Takes the next bytes, cut anywhere. Errors, which name row and column: kCorruptFile for malformed bytes,
  /// kNumericOutOfRange and kUnsupported for values that the column cannot hold.
  Status feed(const uint8_t* bytes, int64_t size);
  /// Used instead of feed() for a result of one column whose values the caller takes without a copy. Returns the value
  /// if `bytes` are exactly one row and it is not NULL. The row is counted, and nothing is appended to the column.
  std::optional<std::span<const uint8_t>> take_value(const uint8_t* bytes, int64_t size);
  /// The rows consist of records, each with so many of the columns; a NULL record is NULL in all of them. For more
  /// columns than a row can have.
  void set_records(std::vector<size_t> sizes) { records_ = std::move(sizes); }
  /// The last `count` columns of the rows are keys that are not stored. `changed` is called with their values, whose
  /// bytes are text: before the first row, and before each row whose keys differ from the previous row's.
  using KeyChange = std::function<Status(const std::vector<std::optional<std::string>>&)>;
  void set_key(int count, KeyChange changed);
  /// Called after the last bytes: kCorruptFile when the end is missing.
  Status finish() const;
  /// Rows since the beginning.
  int64_t rows() const { return rows_; }

 private:
  enum class Stage : uint8_t { kHeader, kRows, kEnd };

  Result<int64_t> take(const uint8_t* bytes, int64_t size);
  Result<int64_t> take_header(const uint8_t* bytes, int64_t size);
  Result<int64_t> take_row(const uint8_t* bytes, int64_t size);
  Status check_key(const uint8_t* bytes, const uint8_t* end);
  Result<int64_t> take_plain_row(const uint8_t* bytes, int64_t size);
  Status append_columns(const uint8_t*& at, const uint8_t* end);
  Status append_records(const uint8_t* at);
  Status append_record(const uint8_t* at, const uint8_t* end, size_t first, size_t count);
  std::string place_of(size_t column) const;
  Status corrupt(const std::string& what) const;

  std::vector<WireColumn> wires_;
  std::vector<uint8_t> words_;  // by column: 4 or 8 for whole numbers of so many bytes, the most frequent types
  std::vector<columnar::ColumnBuilder>* columns_;
  std::vector<uint8_t> pending_;  // the part of an incomplete row
  int64_t rows_ = 0;
  Stage stage_ = Stage::kHeader;
  std::vector<size_t> records_;  // empty: rows have columns, not records
  int key_count_ = 0;
  KeyChange key_changed_;
  std::vector<uint8_t> key_;  // of the previous row, in its binary form
};

}  // namespace strom::format::pgwire
