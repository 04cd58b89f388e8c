// How RowWriter appends values of one type. Between column_writer.cpp, which finds it out and appends Datums, and
// register_columns.cpp, which appends columns.
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

/// How values of one type are appended. Functions of this kind may ereport and may throw, and hold nothing with a
/// destructor.
struct ValueWriter {
  /// What append() does, for columns that are appended whole.
  enum class Form : uint8_t {
    kOther,
    kBool,
    kInt16,  // the bits, of floating point, too
    kInt32,
    kInt64,
    kDate32,
    kMicros,   // timestamps
    kDecimal,  // of 128 bits
    kText,     // as it is: the database is UTF-8
    kBytes,
    kFixed,
  };

  /// The value has a place in the column, or it is an ERROR.
  void (*append)(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value) = nullptr;
  Form form = Form::kOther;
  const columnar::Field* field = nullptr;
  const char* column = "";  // for messages
  int64_t* text_bytes = nullptr;
  base::StoredNumericReader numeric{0};
  base::int128 limit = 0;         // of decimals: 10^precision, 0: not to be read the fast way
  int64_t per_unit = 1;           // microseconds
  int64_t* row_number = nullptr;  // of the one that is being appended, for messages; 0: rows have no numbers
  bool infinity_is_null = false, out_of_range_is_null = false, may_round = false;
  FmgrInfo output{};      // of types that are written as their text
  Oid type = InvalidOid;  // of elements, of composites
  int32_t modifier = -1;
  int16 length = -1;  // of elements
  bool by_value = false;
  char align = 'i';
  TupleDesc row = nullptr;
  std::vector<std::pair<Oid, int32_t>> labels;  // sorted
  // Of fields of files that others wrote, see field_writer.cpp.
  std::shared_ptr<const columnar::Field> own_field;     // what `field` points to
  std::vector<int> targets;                             // of composites: the child of the struct for each of `children`
  int dimensions = 0;                                   // of arrays whose lists nest
  columnar::DictionaryBuilder* dictionary = nullptr;    // children[0] writes its values
  std::unique_ptr<columnar::ColumnBuilder> scratch;     // the value that is looked up
  FmgrInfo input{};                                     // of members of json
  Oid input_parameter = InvalidOid;
  const char* refusal = nullptr;                        // why no value can be written
  std::vector<std::unique_ptr<ValueWriter>> children;
};

/// A value that has no place in the column: an ERROR that names row and column.
[[noreturn]] void refuse_value(const ValueWriter& writer, int code, const char* what);

/// Appends `count` rows of a column from row `first` on. Uses and resets the current memory context. As
/// ValueWriter::append.
void append_column(const ValueWriter& writer, columnar::ColumnBuilder& to, const RegisterColumn& from, int64_t first,
                   int64_t count);
void append_nulls(columnar::ColumnBuilder& to, int64_t count);

}  // namespace strom::pg::codec
