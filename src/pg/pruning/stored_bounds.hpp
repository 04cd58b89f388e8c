// Bounds of a column's values, as values of PostgreSQL.
#pragma once

#include "columnar/bounds.hpp"
#include "columnar/schema.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::pruning {

/// False when PostgreSQL's type cannot represent the value.
bool is_in_range(const columnar::Field& field, __int128 value);

/// Writes both bounds in the form in which the file stores values. `bytes` has twice the width of a value.
void store_bounds(const columnar::Field& field, const columnar::Bounds& bounds, char* bytes);

/// A date or timestamp, `days` later. Infinite if PostgreSQL cannot represent it: PostgreSQL's functions would raise an
/// error.
Datum days_away(Oid type, Datum value, int days);

}  // namespace strom::pg::pruning
