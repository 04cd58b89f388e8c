// How RowWriter appends values of one type. column_writer.cpp makes the writers and appends Datums;
// register_columns.cpp appends whole columns.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/stored_numeric.hpp"
#include "columnar/builder.hpp"
#include "columnar/dictionary_builder.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/codec/column_writer.hpp"

namespace strom::pg::codec {

inline constexpr int32_t kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
inline constexpr int64_t kEpochMicros = kEpochDays * USECS_PER_DAY;

/// How values of one type are appended. Its functions may ereport and may throw; they hold nothing with a destructor.
struct ValueWriter {
  /// The effect of append() in a form that register_columns.cpp can apply to whole columns.
  enum class Form : uint8_t {
    kOther,
    kBool,
    kInt16,  // also floating point, as bits
    kInt32,
    kInt64,
    kDate32,
    kMicros,   // timestamps
    kDecimal,  // of 128 bits
    kText,     // unchanged: the database is UTF-8
    kBytes,
    kFixed,
  };

  /// Appends a value, or raises an ERROR if the column cannot represent it.
  void (*append)(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value) = nullptr;
  Form form = Form::kOther;
  const columnar::Field* field = nullptr;
  const char* column = "";  // for messages
  int64_t* text_bytes = nullptr;
  base::StoredNumericReader numeric{0};
  base::int128 limit = 0;         // decimals: 10^precision; 0: no fast path
  int64_t per_unit = 1;           // microseconds in a unit of the field
  int64_t* row_number = nullptr;  // current row, for messages; 0: rows have no numbers
  bool infinity_is_null = false, out_of_range_is_null = false, may_round = false;
  FmgrInfo output{};      // for types that are written as text
  Oid type = InvalidOid;  // elements or composite
  int32_t modifier = -1;
  int16 length = -1;  // elements
  bool by_value = false;
  char align = 'i';
  TupleDesc row = nullptr;
  std::vector<std::pair<Oid, int32_t>> labels;  // sorted
  // Only for fields of files that other programs wrote, see field_writer.cpp:
  std::shared_ptr<const columnar::Field> own_field;   // what `field` points to
  std::vector<int> targets;                           // composites: the struct's child for each of `children`
  int dimensions = 0;                                 // arrays made of nested lists
  columnar::DictionaryBuilder* dictionary = nullptr;  // children[0] writes its values
  std::unique_ptr<columnar::ColumnBuilder> scratch;   // holds the value to look up
  FmgrInfo input{};                                   // for members of json
  Oid input_parameter = InvalidOid;
  const char* refusal = nullptr;  // why no value can be written; nullptr: values can
  std::vector<std::unique_ptr<ValueWriter>> children;
};

/// Raises an ERROR, which names row and column, about a value that the column cannot represent.
[[noreturn]] void refuse_value(const ValueWriter& writer, int code, const char* what);

/// Appends `count` rows of a column, beginning with row `first`. Uses and resets the current memory context. Fails like
/// ValueWriter::append.
void append_column(const ValueWriter& writer, columnar::ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                   int64_t count);
void append_nulls(columnar::ColumnBuilder& to, int64_t count);

}  // namespace strom::pg::codec
