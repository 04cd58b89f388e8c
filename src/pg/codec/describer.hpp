// Finds out which Arrow type a SQL type becomes, and how its values are appended. Used by column_writer.cpp, which has
// rows of such values. describer.cpp serves new files, field_writer.cpp serves fields of files that other programs
// wrote.
#pragma once

#include <memory>
#include <string>

#include "pg/codec/column_writer.hpp"
#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

/// Everything here may throw.
struct Describer {
  RowWriter& owner;
  const char* column;  // for messages

  struct Described {
    columnar::Field field;
    std::unique_ptr<ValueWriter> writer;
    bool is_text = false;  // written as text, because Arrow has no better type
  };

  /// The Arrow type of `type` in files that this extension makes.
  Described describe(const std::string& name, SqlType type);
  /// A writer of values of `type` to field `file` of an existing file; nullptr when the values do not fit. `ours` gets
  /// the result of describe(), except its writer.
  std::unique_ptr<ValueWriter> describe_for(const columnar::Field& file, SqlType type, Described* ours);
  /// Binds a writer to its field, once the field's address is final. Writers for existing files point to their own
  /// fields instead.
  static void bind(ValueWriter& writer, const columnar::Field& field, const DictionaryOf& dictionary_of);

 private:
  std::unique_ptr<ValueWriter> new_writer() const;
  void as_text(Oid type, Described& out);
  void by_output(Oid type, ValueWriter& writer);
  void by_input(Oid type, ValueWriter& writer);
  void describe_plain(SqlType type, Described& out);
  void describe_enum(Oid type, Described& out);
  void describe_array(SqlType element, Described& out);
  void describe_composite(Oid type, Described& out);
  TupleDesc row_of(Oid composite);
  static void set_element(ValueWriter& writer, Oid element);
  void set_function(int wire, Oid type, const columnar::Field& field, ValueWriter& writer);

  bool fit(ValueWriter& writer, const columnar::Field& file, const columnar::Field& ours, SqlType type);
  bool fit_plain(ValueWriter& writer, const columnar::Field& file, const columnar::Field& ours, SqlType base);
  bool fit_values(ValueWriter& writer, const columnar::Field& values, SqlType type);
  bool fit_list(ValueWriter& writer, const columnar::Field& file, SqlType base);
  bool fit_composite(ValueWriter& writer, const columnar::Field& file, SqlType base);
  bool fit_json(ValueWriter& writer, const columnar::Field& file);
  void refuse(ValueWriter& writer, const columnar::Field& file);
};

}  // namespace strom::pg::codec
