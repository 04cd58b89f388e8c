// json and jsonb as rows of nested columns: the other way round of json_decode.cpp. Used by field_writer.cpp.
#pragma once

#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

/// Of the form of ValueWriter::append: a value of the writer's type json or jsonb, to a field of a nested type, by the
/// tree of the writer's children. A value of another form than the field is an ERROR that names the column.
void append_json(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);

}  // namespace strom::pg::codec
