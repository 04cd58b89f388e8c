// Functions of the form of ValueWriter::append: each appends PostgreSQL values to a column of the matching Arrow type.
// describer.cpp chooses among them; field_writer.cpp uses them as well.
#pragma once

#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

template <class T>
void append_word(const ValueWriter&, columnar::ColumnBuilder& to, Datum value) {
  to.append(static_cast<T>(value));  // floating point as well: the argument has its bits
}

void append_bool(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_text(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_bytes(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_name(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_output(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_names(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_fixed(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_tid(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_date(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_timestamp(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_time(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_interval(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_decimal(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_numeric_real(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_enum(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);

/// Appends arrays. The number of dimensions is the nesting depth of the writer's lists.
void append_array(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);
void append_composite(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);

}  // namespace strom::pg::codec
