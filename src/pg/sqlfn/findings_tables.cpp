// The findings of pgstrom.doctor() about the tables of this database: whether the planner knows the sizes of Arrow
// tables, whether the column cache can hold heap tables, and whether record batches can be skipped.
#include "pg/boundary/boundary.hpp"
#include "pg/files/source.hpp"
#include "pg/sqlfn/arrow_facts.hpp"
#include "pg/sqlfn/findings.hpp"

extern "C" {
#include "executor/spi.h"
}

namespace strom::pg::sqlfn {

namespace {

using boundary::guard;

struct Named {
  Oid relid;
  const char* name;
};

// The tables that a query returns, in the caller's memory context. May ereport.
List* find(const char* query) {
  MemoryContext caller = CurrentMemoryContext;
  List* found = NIL;
  SPI_connect();
  if (SPI_execute(query, true, 0) != SPI_OK_SELECT) elog(ERROR, "could not look for tables");
  for (uint64 i = 0; i < SPI_processed; ++i) {
    bool is_null;
    HeapTuple row = SPI_tuptable->vals[i];
    MemoryContext spi = MemoryContextSwitchTo(caller);
    auto* one = static_cast<Named*>(palloc(sizeof(Named)));
    one->relid = DatumGetObjectId(SPI_getbinval(row, SPI_tuptable->tupdesc, 1, &is_null));
    one->name = pstrdup(SPI_getvalue(row, SPI_tuptable->tupdesc, 2));
    found = lappend(found, one);
    MemoryContextSwitchTo(spi);
  }
  SPI_finish();
  return found;
}

/// "a, b, c"; of many tables the first ones and the number of the others.
std::string names_of(const List* tables, bool in_command) {
  constexpr int kMost = 5;
  std::string names;
  for (int i = 0; i < std::min(list_length(tables), kMost); ++i)
    names += (i == 0 ? "" : ", ") + std::string(static_cast<const Named*>(list_nth(tables, i))->name);
  const int more = list_length(tables) - kMost;
  return more <= 0 || in_command ? names : names + ", and " + std::to_string(more) + " more";
}

/// `wrong` describes the problem with the tables, if there are any.
Finding finding_of(const char* check, const List* tables, const char* fine, const std::string& wrong,
                   const std::string& remedy) {
  if (tables == NIL) return {check, Health::kOk, fine, ""};
  return {check, Health::kNote, wrong + ": " + names_of(tables, false) + ".", remedy};
}

constexpr char kArrowTables[] =
    "SELECT c.oid, c.oid::pg_catalog.regclass::pg_catalog.text FROM pg_catalog.pg_class c "
    "JOIN pg_catalog.pg_foreign_table t ON t.ftrelid = c.oid JOIN pg_catalog.pg_foreign_server s ON s.oid = t.ftserver "
    "JOIN pg_catalog.pg_foreign_data_wrapper w ON w.oid = s.srvfdw JOIN pg_catalog.pg_proc p ON p.oid = w.fdwhandler "
    "WHERE p.prosrc = 'strom_arrow_fdw_handler' AND pg_catalog.has_table_privilege(c.oid, 'SELECT') ";

void check_analysed(std::vector<Finding>* findings) {
  const std::string query = std::string(kArrowTables) + "AND c.reltuples < 0 ORDER BY 2";
  const List* tables = guard([&query] { return find(query.c_str()); });
  findings->push_back(finding_of("Arrow statistics", tables, "The planner has statistics of all Arrow tables.",
                                 "Arrow tables that were never analysed, which autovacuum does not do",
                                 "ANALYZE " + names_of(tables, true) + ";"));
}

void check_visibility(std::vector<Finding>* findings) {
  // Small tables are read fast anyway.
  static constexpr char kQuery[] =
      "SELECT c.oid, c.oid::pg_catalog.regclass::pg_catalog.text FROM pg_catalog.pg_class c, LATERAL (SELECT "
      "pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::int AS pages OFFSET 0) s "
      "WHERE c.relkind IN ('r', 'm') AND c.relpersistence = 'p' AND c.oid >= 16384 AND s.pages >= 1000 "
      "AND c.relallvisible < s.pages * 0.9 ORDER BY s.pages DESC, 2";
  const List* tables = guard([] { return find(kQuery); });
  findings->push_back(finding_of("visibility", tables, "Pages of large tables are all-visible.",
                                 "Tables of which a tenth of the pages or more is not all-visible, so that the column "
                                 "cache does not have them",
                                 "VACUUM " + names_of(tables, true) + ";"));
}

// For tables with several record batches. Another check reports tables that cannot be read.
bool skips_nothing(Oid relid) {
  constexpr size_t kMostFiles = 20;
  try {
    const auto source = files::Source::open(relid, {});
    const auto& all = source->files();
    if (source->chunks().size() < 2) return false;
    return !can_skip_batches({all.data(), std::min(all.size(), kMostFiles)});
  } catch (const boundary::StatusError&) {
    return false;
  }
}

void check_skipping(std::vector<Finding>* findings) {
  const std::string query = std::string(kArrowTables) + "ORDER BY c.reltuples DESC, 2 LIMIT 100";
  List* tables = guard([&query] { return find(query.c_str()); });
  List* bad = NIL;
  for (int i = 0; i < list_length(tables); ++i) {
    auto* table = static_cast<Named*>(list_nth(tables, i));
    const Oid relid = table->relid;
    guard([relid] { LockRelationOid(relid, AccessShareLock); });
    if (skips_nothing(relid)) bad = guard([bad, table] { return lappend(bad, table); });
  }
  findings->push_back(finding_of("skipping", bad, "Statistics can rule out record batches of all Arrow tables.",
                                 "Arrow tables whose record batches no condition can skip, because they have no "
                                 "statistics or those of all batches are alike",
                                 "arrowstat --sort-by=COLUMN FILE   # a column that conditions are on"));
}

}  // namespace

void check_tables(std::vector<Finding>* findings) {
  check_analysed(findings);
  check_visibility(findings);
  check_skipping(findings);
}

}  // namespace strom::pg::sqlfn
