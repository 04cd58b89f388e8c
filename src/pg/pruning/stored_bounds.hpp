// Bounds of a column's values, as values of PostgreSQL.
#pragma once

#include "columnar/bounds.hpp"
#include "columnar/schema.hpp"
#include "pg/boundary/postgres.hpp"

namespace strom::pg::pruning {

/// False when PostgreSQL has no such value.
bool is_in_range(const columnar::Field& field, __int128 value);

/// Both bounds as the file would store them, into `bytes` of twice the values' width.
void store_bounds(const columnar::Field& field, const columnar::Bounds& bounds, char* bytes);

/// A date or timestamp so many days later. Infinite where PostgreSQL has no such value: its functions raise errors of
/// what is out of range.
Datum days_away(Oid type, Datum value, int days);

}  // namespace strom::pg::pruning
