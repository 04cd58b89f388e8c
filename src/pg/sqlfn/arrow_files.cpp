// The SQL function pgstrom.arrow_files(), see sql/arrow_fdw.sql: the files of an Arrow table, by their metadata.
#include "pg/boundary/boundary.hpp"
#include "pg/files/source.hpp"
#include "pg/sqlfn/arrow_facts.hpp"

extern "C" {
#include "utils/array.h"
}

namespace boundary = strom::pg::boundary;
namespace files = strom::pg::files;
namespace sqlfn = strom::pg::sqlfn;
using boundary::guard;

namespace {

constexpr int kColumns = 10;

// May ereport.
Datum array_of(const char* const* texts, int count) {
  auto* elements = static_cast<Datum*>(palloc(sizeof(Datum) * static_cast<size_t>(count)));
  for (int i = 0; i < count; ++i) elements[i] = CStringGetTextDatum(texts[i]);
  return PointerGetDatum(construct_array(elements, count, TEXTOID, -1, false, TYPALIGN_INT));
}

// May throw.
Datum array_of(const std::vector<std::string>& texts) {
  std::vector<const char*> plain;
  plain.reserve(texts.size());
  for (const std::string& text : texts) plain.push_back(text.c_str());
  return guard([&plain] { return array_of(plain.data(), static_cast<int>(plain.size())); });
}

TimestampTz time_of(int64_t nanoseconds) {
  constexpr int64_t kEpochDays = POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE;
  return nanoseconds / 1000 - kEpochDays * USECS_PER_DAY;
}

// May throw.
void put_file(ReturnSetInfo* result, const sqlfn::FileReader& file) {
  const sqlfn::FileFacts facts = sqlfn::facts_of(file);
  const Datum statistics = array_of(facts.statistics), order = array_of(facts.order);
  const auto& identity = file.identity();
  const int batches = file.batch_count();
  const char *path = file.path().c_str(), *format = file.format(), *codec = facts.codec.c_str();
  const int64_t rows = facts.rows, bytes = identity.size, changed = identity.mtime_ns;
  guard([=] {
    Datum values[kColumns] = {CStringGetTextDatum(path),
                              CStringGetTextDatum(format),
                              Int64GetDatum(rows),
                              Int32GetDatum(batches),
                              Int64GetDatum(bytes),
                              CStringGetTextDatum(codec),
                              statistics,
                              order,
                              TimestampTzGetDatum(time_of(changed)),
                              0};
    bool nulls[kColumns] = {};
    nulls[5] = *codec == '\0';
    nulls[9] = true;
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  });
}

// For a table whose files cannot be read. May throw.
void put_error(ReturnSetInfo* result, const char* message) {
  guard([=] {
    Datum values[kColumns] = {};
    bool nulls[kColumns];
    MemSet(nulls, true, sizeof(nulls));
    values[9] = CStringGetTextDatum(message);
    nulls[9] = false;
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  });
}

}  // namespace

/// pgstrom.arrow_files(regclass) -> setof (path, format, rows, batches, bytes, codec, statistics, sorted_by, changed,
/// error)
STROM_SQL_FUNCTION(strom_arrow_files) {
  const Oid relid = PG_GETARG_OID(0);
  guard([=] {
    sqlfn::require_readable_table(relid);
    InitMaterializedSRF(fcinfo, 0);
    LockRelationOid(relid, AccessShareLock);
  });
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  try {
    const auto source = files::Source::open(relid, {});
    for (const auto& file : source->files()) {
      boundary::check_for_interrupts();
      put_file(result, *file);
    }
  } catch (const boundary::StatusError& error) {
    put_error(result, error.what());
  }
  return Datum{0};
}
