// SQL functions that show and empty the column cache, as declared in sql/column_cache.sql.
#include "pg/boundary/boundary.hpp"
#include "pg/compat/heap.hpp"
#include "pg/cache/shared_columns.hpp"

namespace boundary = strom::pg::boundary;
namespace compat = strom::pg::compat;
using strom::pg::cache::SharedColumns;

namespace {

// May ereport.
void put_row(ReturnSetInfo* result, const SharedColumns::Usage& usage) {
  // For an Arrow table, `file` holds the table's OID.
  const Oid table = OidIsValid(usage.file.tablespace) ? compat::table_of_file(usage.file) : usage.file.file;
  const char* attribute = OidIsValid(table) ? get_attname(table, usage.attribute, true) : nullptr;
  if (attribute == nullptr) return;  // dropped or rewritten meanwhile
  NameData name;
  namestrcpy(&name, attribute);
  Datum values[] = {ObjectIdGetDatum(table), NameGetDatum(&name), Int64GetDatum(usage.groups),
                    Int64GetDatum(usage.rows), Int64GetDatum(usage.bytes)};
  bool nulls[5] = {};
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

/// pgstrom.column_cache_info() -> setof (relation, attribute, groups, rows, bytes)
STROM_SQL_FUNCTION(strom_column_cache_info) {
  boundary::guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  SharedColumns* shared = SharedColumns::attach();
  if (shared == nullptr) return Datum{0};
  for (const SharedColumns::Usage& usage : shared->usage())
    if (usage.file.database == MyDatabaseId) boundary::guard([&usage, result] { put_row(result, usage); });
  return Datum{0};
}

/// pgstrom.column_cache_reset()
STROM_SQL_FUNCTION(strom_column_cache_reset) {
  if (SharedColumns* shared = SharedColumns::attach()) shared->reset();
  return Datum{0};
}
