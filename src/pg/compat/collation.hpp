// What the server knows about a collation, whose functions differ between PostgreSQL versions. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// True if the collation orders text by its bytes: C, PostgreSQL's own C.UTF-8, and that of a C library which is known
/// to do so. False for InvalidOid: values whose collation is not known.
bool collation_orders_bytes(Oid collation);

/// True if upper() and lower() map each character by itself, whatever stands beside it, to one character. Of all others
/// it is not known.
inline bool collation_maps_characters(Oid collation) {
#if PG_VERSION_NUM >= 180000
  const pg_locale_t locale = pg_newlocale_from_collation(collation);
  return locale->ctype_is_c || locale->provider == COLLPROVIDER_LIBC;
#else
  if (lc_ctype_is_c(collation)) return true;
  const pg_locale_t locale = pg_newlocale_from_collation(collation);  // NULL: the database's, by libc
  return locale == nullptr || locale->provider == COLLPROVIDER_LIBC;
#endif
}

}  // namespace strom::pg::compat
