// Decoder of what PostgreSQL sends for COPY … TO STDOUT (FORMAT binary), into Arrow columns. Used by pg2arrow. Knows
// nothing of libpq; everything that it is given is untrusted.
// Format: https://www.postgresql.org/docs/current/sql-copy.html (binary format), and the types' send functions.
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

/// How a value's bytes are read. The kind of the column that it goes to is in brackets.
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
  bool out_of_range_is_null = false;           // what the Arrow type does not have: otherwise an error
  bool may_round = false;                      // kNumericReal: the nearest number, otherwise an error
  bool check_utf8 = false;                     // kText, kJsonb, kEnum
  uint32_t srid = 0;                           // kGeometry: of all values
  std::shared_ptr<columnar::Labels> labels{};  // kEnum; they may grow
  std::vector<WireColumn> children{};
  std::shared_ptr<columnar::LabelLookup> lookup{};  // made by the decoder
};

/// Appends rows to `columns`. One for each COPY; not thread-safe.
class CopyDecoder {
 public:
  /// `columns` belong to the caller, who may clear them between calls. As many as `wires`.
  CopyDecoder(std::vector<WireColumn> wires, std::vector<columnar::ColumnBuilder>* columns);

  /// The next bytes, cut anywhere. Errors, which name row and column: kCorruptFile for bytes that are no such data,
  /// kNumericOutOfRange and kUnsupported for values that the column cannot hold.
  Status feed(const uint8_t* bytes, int64_t size);
  /// Instead of feed(), for a result of one column whose values the caller takes where they lie: the value, when
  /// `bytes` are just one whole row and it is not NULL. The row is counted, and the column stays as it is.
  std::optional<std::span<const uint8_t>> take_value(const uint8_t* bytes, int64_t size);
  /// What comes are records, each with so many of the columns; NULL for a record is NULL in all of them. For more
  /// columns than a row can have.
  void set_records(std::vector<size_t> sizes) { records_ = std::move(sizes); }
  /// The last `count` columns of what comes are not stored. `changed` is called before a row in which they differ from
  /// the row before, and before the first row; with their values, whose bytes are text.
  using KeyChange = std::function<Status(const std::vector<std::optional<std::string>>&)>;
  void set_key(int count, KeyChange changed);
  /// After the last bytes: kCorruptFile when the end is missing.
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
  std::vector<uint8_t> words_;  // by column: 4 or 8 when it has whole numbers of so many bytes, the most frequent types
  std::vector<columnar::ColumnBuilder>* columns_;
  std::vector<uint8_t> pending_;  // the part of a row that has come so far
  int64_t rows_ = 0;
  Stage stage_ = Stage::kHeader;
  std::vector<size_t> records_;  // empty: columns come as they are
  int key_count_ = 0;
  KeyChange key_changed_;
  std::vector<uint8_t> key_;  // of the row before, as it came
};

}  // namespace strom::format::pgwire
