// Datum to Arrow columns of any type, for what the server writes: INSERT into Arrow tables, arrow_export(),
// arrow_ipc(). SQL types map to the same Arrow types as in pg2arrow.
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
  bool may_narrow = true;  // a file's field may have narrower numbers than the column
  /// NULL instead of an error: for infinite dates, timestamps and intervals, and for all values that Arrow cannot
  /// represent.
  bool infinity_is_null = false, out_of_range_is_null = false;
};

struct ValueWriter;

/// Rows of a column: from registers of the engine, from pages of a table, or one constant for all rows.
struct RegisterColumn {
  registry::TypeId type = registry::TypeId::kInt4;
  int scale = 0;
  int32_t length = -1;             // n of char(n), or -1
  const void* values = nullptr;    // nullptr: `constant`
  const uint8_t* flags = nullptr;  // flags[i] & 1: row i is NULL; nullptr: no row is NULL
  bool check_text = false;         // texts may be invalid in the server's encoding
  // Not 0: the column comes from pages; this is its attlen (stored_by_value: its attbyval), and `type` is not used.
  // Values passed by value are int32_t, or int64_t when they have 8 bytes; all others are StrViews.
  int16_t stored_length = 0;
  bool stored_by_value = false;
  Datum constant = 0;
  bool is_null = false;  // of the constant
};

/// Labels of enums by the id of the dictionary of the file that has them.
using DictionaryLabels = std::vector<std::pair<int64_t, std::vector<std::string>>>;

/// Finds the dictionary of a field of a file, to which new values are added; nullptr when values cannot be added.
using DictionaryOf = std::function<columnar::DictionaryBuilder*(const columnar::Field& field)>;

/// Rows of Datums into one ColumnBuilder for each column. Main thread only.
class RowWriter {
 public:
  explicit RowWriter(WriteSettings settings);
  ~RowWriter();
  RowWriter(const RowWriter&) = delete;
  RowWriter& operator=(const RowWriter&) = delete;

  /// Adds a column; its values are at index `source` of append()'s arrays. May throw: kUnsupported.
  void add_column(const std::string& name, SqlType type, int source);
  /// Adds a column for a field of an existing file. May throw: kTypeMismatch.
  void add_column(const columnar::Field& field, const std::string& name, SqlType type, int source);
  void add_nulls(const columnar::Field& field);
  /// Called after the last column is added. `dictionary_of` is needed for fields of files.
  void start(const DictionaryOf& dictionary_of = {});

  const std::vector<columnar::Field>& fields() const { return fields_; }
  const DictionaryLabels& dictionaries() const { return dictionaries_; }
  std::vector<columnar::ColumnBuilder>& columns() { return columns_; }
  int64_t rows() const { return rows_; }
  /// Lets errors name the number of the row, counted after `before` earlier rows. Without this call they do not name
  /// it.
  void count_rows_from(int64_t before) { first_row_ = before; }
  /// Bytes of a row without its texts; at least 1 where there are columns.
  int64_t row_bytes() const { return row_bytes_; }
  /// Approximate bytes of all rows.
  int64_t bytes() const { return rows_ * row_bytes_ + text_bytes_; }

  /// Appends a row. May ereport, and may throw; the caller then calls cut() before the next row. Errors name the
  /// column.
  void append(const Datum* values, const bool* nulls);
  /// Appends rows [first, first + count). `columns` has the order of append()'s arrays. Fails like append().
  void append(const RegisterColumn* columns, int64_t first, int64_t count);
  /// Drops all rows after the first `rows`.
  void cut(int64_t rows);

 private:
  friend struct Describer;
  WriteSettings settings_;
  std::vector<columnar::Field> fields_;
  std::vector<std::unique_ptr<ValueWriter>> writers_;  // nullptr: the column is always NULL
  std::vector<int> sources_;
  std::vector<uint8_t> words_;  // width of values that are appended without a call; 0: by a call
  std::vector<columnar::ColumnBuilder> columns_;
  DictionaryLabels dictionaries_;
  std::vector<std::pair<Oid, int64_t>> enums_;  // with the ids of their dictionaries
  MemoryContext scratch_, memory_;              // for single values; for what the writers keep
  int64_t rows_ = 0, row_bytes_ = 0, text_bytes_ = 0, reset_at_ = 0;
  int64_t first_row_ = -1, row_ = 0;  // row_: number of the current row, from 1; 0: rows have no numbers
};

}  // namespace strom::pg::codec
