// What the server knows about a collation, whose functions differ between PostgreSQL versions. May ereport.
#pragma once

#include "pg/boundary/postgres.hpp"

namespace strom::pg::compat {

/// True if the collation orders text by its bytes: C, PostgreSQL's own C.UTF-8, and a C library's locale that is known
/// to do so. False for InvalidOid, which stands for an unknown collation.
bool collation_orders_bytes(Oid collation);

/// True if upper() and lower() are known to map each character to one character, whatever its neighbours are.
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
