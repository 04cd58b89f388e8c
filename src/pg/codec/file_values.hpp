// Writes values to fields of files that other programs wrote, where the Arrow type differs from the one that this
// extension would choose: numbers of other widths, bytes of a fixed size, durations and intervals in other units. Used
// by field_writer.cpp.
#pragma once

#include "pg/codec/value_writer.hpp"

namespace strom::pg::codec {

using AppendValue = void (*)(const ValueWriter& writer, columnar::ColumnBuilder& to, Datum value);

/// The function that appends values of `type`, which is not a domain, to a column of `file`; nullptr when there is
/// none. A value that does not fit is an ERROR (22003, 22001, 22015). `is_half`: the type is float2.
AppendValue file_value_writer(const columnar::Field& file, Oid type, bool is_half);

}  // namespace strom::pg::codec
