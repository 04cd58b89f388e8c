// json and jsonb to rows of nested columns, the reverse of json_decode.cpp. Used by field_writer.cpp.
#pragma once

#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

/// A ValueWriter::append function for values of json and jsonb (the writer's type). Writes to a field of a nested type
/// by the writer's tree of children. A value that does not have the field's shape is an ERROR that names the column.
void append_json(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);

}  // namespace strom::pg::codec
