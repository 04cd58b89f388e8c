// The function pg_column_toast_chunk_id(), since PostgreSQL 17.
#pragma once

#include <utils/fmgroids.h>

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

inline bool is_toast_chunk_id([[maybe_unused]] Oid function) {
#ifdef F_PG_COLUMN_TOAST_CHUNK_ID
  return function == F_PG_COLUMN_TOAST_CHUNK_ID;
#else
  return false;
#endif
}

}  // namespace strom::pg::compat
