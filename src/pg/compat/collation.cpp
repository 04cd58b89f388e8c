// How a collation orders text: as the server says, or as the C library does if the server relies on it.
#include "pg/compat/collation.hpp"

#include <cstdlib>
#include <cstring>

#include <gnu/libc-version.h>
#include <strings.h>

extern "C" {
#include "catalog/pg_database.h"
}

namespace strom::pg::compat {

namespace {

bool server_orders_bytes(Oid collation) {
#if PG_VERSION_NUM >= 180000
  return pg_newlocale_from_collation(collation)->collate_is_c;
#else
  return lc_collate_is_c(collation);
#endif
}

// The C library's name of the collation's locale, palloc'd; nullptr if the C library does not order it.
char* name_in_c_library(Oid collation) {
  const bool is_database = collation == DEFAULT_COLLATION_OID;
  const int cache = is_database ? DATABASEOID : COLLOID;
  HeapTuple tuple = SearchSysCache1(cache, ObjectIdGetDatum(is_database ? MyDatabaseId : collation));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for collation %u", collation);
  const char provider = is_database ? reinterpret_cast<Form_pg_database>(GETSTRUCT(tuple))->datlocprovider
                                    : reinterpret_cast<Form_pg_collation>(GETSTRUCT(tuple))->collprovider;
  char* name = nullptr;
  if (provider == COLLPROVIDER_LIBC) {
    bool is_null;
    const Datum found = SysCacheGetAttr(
        cache, tuple, is_database ? Anum_pg_database_datcollate : Anum_pg_collation_collcollate, &is_null);
    if (!is_null) name = TextDatumGetCString(found);
  }
  ReleaseSysCache(tuple);
  return name;
}

// Since 2.35 glibc has a C.UTF-8 of its own, where strcoll() is strcmp(); bytes of UTF-8 order like code points. Older
// distributions have other locales of that name.
bool library_has_plain_utf8() {
  constexpr long kMajor = 2, kMinor = 35;
  char* rest;
  const long major = strtol(gnu_get_libc_version(), &rest, 10);
  return major > kMajor || (major == kMajor && *rest == '.' && strtol(rest + 1, nullptr, 10) >= kMinor);
}

}  // namespace

bool collation_orders_bytes(Oid collation) {
  if (!OidIsValid(collation)) return false;  // two collations are in conflict
  if (server_orders_bytes(collation)) return true;
  if (GetDatabaseEncoding() != PG_UTF8 || !library_has_plain_utf8()) return false;
  const char* name = name_in_c_library(collation);
  return name != nullptr && (strcasecmp(name, "C.UTF-8") == 0 || strcasecmp(name, "C.UTF8") == 0);
}

}  // namespace strom::pg::compat
