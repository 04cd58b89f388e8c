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

}  // namespace strom::pg::compat
