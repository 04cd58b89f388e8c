// Datum to columnar values: for inner sides that come from PostgreSQL subplans, for parameters, and for fallback
// rows that go back into the engine.
#pragma once

#include <string>

#include "columnar/builder.hpp"
#include "pg/boundary/postgres.hpp"
#include "registry/types.hpp"

namespace strom::pg::codec {

/// The field in which values of `type` are collected. Its layout is the register layout of the type if there is such a
/// layout (text as kLargeUtf8, numeric as kDecimal128 of `scale`, timestamps in microseconds, dates in days since
/// 1970).
columnar::Field field_for(registry::TypeId type, int scale, std::string name);

/// Result of append().
enum class Encoded {
  kDone,
  kNotHeld,  // not representable: NaN or too many digits for the field's decimal, infinite dates and timestamps,
             // timestamps after the year 294246, where microseconds since 1970 end
};

/// Appends one value to a column made with field_for(). A value that is kNotHeld is appended as NULL, so that rows stay
/// aligned. May throw (detoasting fails, no memory).
Encoded append(columnar::ColumnBuilder& column, registry::TypeId type, Datum value, bool is_null);

/// The register value of one Datum: phys_size() bytes, or the text itself. kNotHeld as for append(), but infinite dates
/// and timestamps are representable here. May throw.
Encoded register_bytes(registry::TypeId type, int scale, Datum value, std::string* bytes);

}  // namespace strom::pg::codec
