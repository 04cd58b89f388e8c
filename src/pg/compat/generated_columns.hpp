// Columns that are computed when they are read, since PostgreSQL 18.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

inline bool has_virtual_columns([[maybe_unused]] const TupleConstr& constraints) {
#if PG_VERSION_NUM >= 180000
  return constraints.has_generated_virtual;
#else
  return false;
#endif
}

/// True if some column is generated, stored or not. `constraints`: of a TupleDesc, nullptr: none.
inline bool has_generated_columns(const TupleConstr* constraints) {
  return constraints != nullptr && (constraints->has_generated_stored || has_virtual_columns(*constraints));
}

}  // namespace strom::pg::compat
