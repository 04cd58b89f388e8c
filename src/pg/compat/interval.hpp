// Intervals that are infinite, since PostgreSQL 17.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

inline bool is_infinite([[maybe_unused]] const Interval& interval) {
#if PG_VERSION_NUM >= 170000
  return INTERVAL_NOT_FINITE(&interval);
#else
  return false;
#endif
}

}  // namespace strom::pg::compat
