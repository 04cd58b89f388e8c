// SQL functions that show what is installed.
#include <string>
#include <utility>
#include <vector>

#include "pg/boundary/boundary.hpp"

namespace boundary = strom::pg::boundary;

namespace {

using Row = std::pair<const char*, std::string>;

std::vector<Row> version_rows() {
  return {{"pg_strom", STROM_VERSION}, {"PostgreSQL (built for)", PG_VERSION}, {"compiler", STROM_COMPILER}};
}

}  // namespace

/// pgstrom.version_info() -> setof (component, version)
STROM_SQL_FUNCTION(strom_version_info) {
  boundary::guard([fcinfo] { InitMaterializedSRF(fcinfo, 0); });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  for (const auto& [component, version] : version_rows()) {
    const char* texts[] = {component, version.c_str()};
    boundary::guard([&texts, result] {
      Datum values[] = {CStringGetTextDatum(texts[0]), CStringGetTextDatum(texts[1])};
      bool nulls[] = {false, false};
      tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    });
  }
  return Datum{0};
}
