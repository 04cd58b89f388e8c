// Datum to Arrow columns of any type, for what the server writes: INSERT into Arrow tables, arrow_export(),
// arrow_ipc(). Types become what they become in pg2arrow.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "columnar/builder.hpp"
#include "columnar/dictionary_builder.hpp"
#include "format/pgwire/builtin_types.hpp"
#include "pg/boundary/postgres.hpp"
#include "pg/codec/type_map.hpp"
#include "registry/types.hpp"

namespace strom::pg::codec {

struct WriteSettings {
  format::pgwire::NumericChoice numeric;
  bool numeric_needs_precision = false;  // a numeric without precision is an error
  bool enum_as_dictionary = true;
  bool may_narrow = true;  // fields of files may have numbers of fewer bits than the column's
  /// NULL instead of an error: for infinite dates, timestamps and intervals, and for all that Arrow does not have.
  bool infinity_is_null = false, out_of_range_is_null = false;
};

struct ValueWriter;

/// Rows of a column as the engine has them in its registers, or as they stand on the pages of a table, or the same
/// value in each.
struct RegisterColumn {
  registry::TypeId type = registry::TypeId::kInt4;
  int scale = 0;
  int32_t length = -1;             // n of char(n), -1 = none
  const void* values = nullptr;    // nullptr: `constant`
  const uint8_t* flags = nullptr;  // flags[i] & 1: row i is NULL; nullptr: none is
  bool check_text = false;         // texts may be invalid
  // Not 0: attlen (and attbyval) of a column of pages; `type` is not looked at. Values of fixed size that are passed by
  // value are int32_t, or int64_t when they have 8 bytes; the others are StrViews.
  int16_t stored_length = 0;
  bool stored_by_value = false;
  Datum constant = 0;
  bool is_null = false;  // the constant
};

/// Labels of an enum, which are a dictionary of the file.
using DictionaryLabels = std::vector<std::pair<int64_t, std::vector<std::string>>>;

/// The dictionary of a field of a file, to which values are added; nullptr: they cannot be.
using DictionaryOf = std::function<columnar::DictionaryBuilder*(const columnar::Field& field)>;

/// Rows of Datums into one ColumnBuilder for each column. Main thread only.
class RowWriter {
 public:
  explicit RowWriter(WriteSettings settings);
  ~RowWriter();
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  /// A column, of values with index `source` in append()'s arrays. May throw: kUnsupported.
  void add_column(const std::string& name, SqlType type, int source);
  /// A column of a file that exists; without a source, its values are NULL. May throw: kTypeMismatch.
  void add_column(const columnar::Field& field, const std::string& name, SqlType type, int source);
  void add_nulls(const columnar::Field& field);
  /// After the last column. `dictionary_of`: for fields of files.
  void start(const DictionaryOf& dictionary_of = {});

  const std::vector<columnar::Field>& fields() const { return fields_; }
  const DictionaryLabels& dictionaries() const { return dictionaries_; }
  std::vector<columnar::ColumnBuilder>& columns() { return columns_; }
  int64_t rows() const { return rows_; }
  /// Rows that came before those here, so that errors name a row; otherwise they do not.
  void count_rows_from(int64_t before) { first_row_ = before; }
  /// What a row takes without its texts; at least 1 where there are columns.
  int64_t row_bytes() const { return row_bytes_; }
  /// About what the rows take.
  int64_t bytes() const { return rows_ * row_bytes_ + text_bytes_; }

  /// Appends a row. May ereport, and may throw; then cut() is to be called before the next one. Errors name the column.
  void append(const Datum* values, const bool* nulls);
  /// Appends rows [first, first + count) of columns, which stand where append() has their values. As append().
  void append(const RegisterColumn* columns, int64_t first, int64_t count);
  /// Only the first `rows` rows stay.
  void cut(int64_t rows);

 private:
  friend struct Describer;
  WriteSettings settings_;
  std::vector<columnar::Field> fields_;
  std::vector<std::unique_ptr<ValueWriter>> writers_;  // nullptr: NULL
  std::vector<int> sources_;
  std::vector<uint8_t> words_;  // bytes of values that are appended as they are, without a call; 0: not so
  std::vector<columnar::ColumnBuilder> columns_;
  DictionaryLabels dictionaries_;
  std::vector<std::pair<Oid, int64_t>> enums_;  // and their dictionaries
  MemoryContext scratch_, memory_;              // of values; of what writers keep
  int64_t rows_ = 0, row_bytes_ = 0, text_bytes_ = 0, reset_at_ = 0;
  int64_t first_row_ = -1, row_ = 0;  // row_: that is being appended, from 1; 0: rows have no numbers
};

}  // namespace strom::pg::codec
