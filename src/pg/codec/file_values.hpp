// Values for fields of files that others wrote, whose types are not those that values become here: numbers of other
// widths, bytes of a fixed size, durations and intervals of other units. Used by field_writer.cpp.
#pragma once

#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

using AppendValue = void (*)(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);

/// How a value of `type`, which is no domain, is appended to a column of `file`; nullptr: not at all. A value that has
/// no place there is an ERROR (22003, 22001, 22015). `is_half`: the type is float2.
AppendValue file_value_writer(const columnar::Field& file, Oid type, bool is_half);

}  // namespace strom::pg::codec
