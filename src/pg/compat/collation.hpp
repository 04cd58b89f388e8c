// What the server knows about a collation, whose functions differ between PostgreSQL versions. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// True if the collation orders text by its bytes.
inline bool collation_orders_bytes(Oid collation) {
#if PG_VERSION_NUM >= 180000
  return pg_newlocale_from_collation(collation)->collate_is_c;
#else
  return lc_collate_is_c(collation);
#endif
}

}  // namespace strom::pg::compat
